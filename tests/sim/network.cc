// The network between executors and scheduler: in order, with delays, cuts that nobody notices at
// first, and bytes that arrive after their sender died.
#include <utility>

#include "scheduler/rpc/executor_codec.h"
#include "tests/sim/simulation.h"

namespace tidemark::sim {

void Simulation::Dial(SimExecutor& executor) {
  queue_.After(absl::Milliseconds(200 + 2000 * random_.Uniform()), [this, &executor] {
    if (!executor.alive() || executor.linked()) return;
    if (!scheduler_->alive() || queue_.now() < unreachable_until_[executor.id()]) {
      return Dial(executor);
    }
    Link& link = links_[executor.id()];
    link = Link();
    link.stream = ++last_stream_;
    executor.LinkOpened();
  });
}

void Simulation::ToScheduler(SimExecutor& executor, const v1::ExecutorMessage& message) {
  Link& link = links_[executor.id()];
  const absl::Duration arrives =
      std::max(link.last_to_scheduler, queue_.now() + absl::Milliseconds(20) * random_.Uniform());
  link.last_to_scheduler = arrives;
  // What was sent before a cut or a death may still arrive: only the cut itself stops it.
  queue_.At(arrives, [this, name = executor.id(), stream = link.stream, message] {
    const Link& link = links_[name];
    if (link.cut && link.stream == stream) return;
    scheduler_->Receive(stream, FromProto(message));
  });
}

void Simulation::ToExecutor(const Outbound& message) {
  for (const auto& executor : executors_) {
    Link& link = links_[executor->id()];
    if (link.stream != message.stream || link.stream == 0) continue;
    v1::SchedulerMessage wire;
    AddTo(message, wire);
    if (std::holds_alternative<TriggerOrder>(message.body)) Focus();
    const absl::Duration arrives =
        std::max(link.last_to_executor, queue_.now() + absl::Milliseconds(20) * random_.Uniform());
    link.last_to_executor = arrives;
    queue_.At(arrives, [this, to = executor.get(), stream = link.stream, wire] {
      const Link& link = links_[to->id()];
      if (link.cut || link.stream != stream) return;
      to->Receive(wire);
    });
  }
}

void Simulation::CloseStream(StreamId stream) {
  if (stream == 0) return;
  for (const auto& executor : executors_) {
    if (links_[executor->id()].stream == stream) return Break(executor->id());
  }
}

void Simulation::Break(const std::string& name) {
  Link& link = links_[name];
  const StreamId stream = std::exchange(link.stream, 0);
  if (stream == 0) return;
  queue_.After(absl::Milliseconds(20), [this, stream] { scheduler_->Closed(stream); });
  for (const auto& executor : executors_) {
    if (executor->id() != name) continue;
    queue_.After(absl::Milliseconds(20), [this, to = executor.get()] {
      if (links_[to->id()].stream == 0) to->LinkClosed();
    });
  }
}

}  // namespace tidemark::sim
