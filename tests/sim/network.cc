// The network between executors and nodes: one stream for each pair, in order, with delays, cuts
// that nobody notices at first, and bytes that arrive after their sender died.
#include <algorithm>
#include <utility>

#include "scheduler/rpc/executor_codec.h"
#include "tests/sim/simulation.h"

namespace tidemark::sim {

SimNode& Simulation::NodeOf(const std::string& name) {
  return **std::find_if(nodes_.begin(), nodes_.end(),
                        [&](const auto& node) { return node->name() == name; });
}

void Simulation::Dial(SimExecutor& executor, exec::LinkId id, const std::string& name) {
  const absl::Duration takes = absl::Milliseconds(5 + 100 * random_.Uniform());
  queue_.After(takes, [this, &executor, id, name, process = executor.Process()] {
    if (!executor.alive() || executor.Process() != process) return;
    SimNode& node = NodeOf(name);
    if (!node.alive() || node.suspended() ||
        queue_.now() < unreachable_until_[{executor.id(), name}]) {
      return executor.LinkClosed(id);
    }
    Link& link = links_[++last_stream_];
    link.executor = &executor;
    link.process = process;
    link.id = id;
    link.node = &node;
    executor.LinkOpened(id);
  });
}

StreamId Simulation::StreamOf(const SimExecutor& executor, exec::LinkId id) const {
  for (const auto& [stream, link] : links_) {
    if (!link.closed && link.executor == &executor && link.id == id) return stream;
  }
  return 0;
}

void Simulation::ToNode(SimExecutor& executor, exec::LinkId id,
                        const v1::ExecutorMessage& message) {
  const auto it = links_.find(StreamOf(executor, id));
  if (it == links_.end()) return;
  absl::Duration& last = it->second.last_to_node;
  last = std::max(last, queue_.now() + absl::Milliseconds(20) * random_.Uniform());
  // What was sent before a cut or a death may still arrive: only the cut itself stops it.
  queue_.At(last, [this, stream = it->first, message] {
    const auto it = links_.find(stream);
    if (it == links_.end() || it->second.cut) return;
    it->second.node->Receive(stream, FromProto(message));
  });
}

void Simulation::ToExecutor(SimNode& node, const Outbound& message) {
  const auto it = links_.find(message.stream);
  if (it == links_.end() || it->second.closed) return;
  v1::SchedulerMessage wire;
  AddTo(message, wire);
  if (wire.has_welcome()) {
    it->second.welcomed = true;
    wire.mutable_welcome()->set_node_id(node.name());
    for (const std::string& name : node.nodes()) wire.mutable_welcome()->add_nodes(name);
  }
  if (std::holds_alternative<TriggerOrder>(message.body)) Focus();
  Deliver(it->first, std::move(wire));
}

void Simulation::Deliver(StreamId stream, v1::SchedulerMessage wire) {
  absl::Duration& last = links_.at(stream).last_to_executor;
  last = std::max(last, queue_.now() + absl::Milliseconds(20) * random_.Uniform());
  queue_.At(last, [this, stream, wire = std::move(wire)] {
    const auto it = links_.find(stream);
    if (it == links_.end() || it->second.cut || it->second.closed) return;
    const Link& link = it->second;
    if (link.executor->alive() && link.executor->Process() == link.process) {
      NoteEpochs(link.process, wire);
      link.executor->Receive(link.id, wire);
    }
  });
}

// What the process is told of owners, and which of its triggers came from former ones.
void Simulation::NoteEpochs(const std::string& process, const v1::SchedulerMessage& wire) {
  Told& told = told_[process];
  if (wire.has_welcome()) told.timeline = std::max(told.timeline, wire.welcome().timeline());
  const auto is_news = [&](uint32_t shard, const v1::Epoch& epoch) {
    const std::pair<uint32_t, uint64_t> value{epoch.timeline(), epoch.number()};
    if (value.first < told.timeline || value < told.epochs[shard]) return false;
    told.epochs[shard] = value;
    return true;
  };
  for (const v1::Order& order : wire.orders()) {
    if (order.has_cancel()) is_news(order.cancel().shard(), order.cancel().epoch());
    if (!order.has_trigger()) continue;
    const v1::Trigger& trigger = order.trigger();
    const std::pair attempt(trigger.attempt().run_id(), trigger.attempt().attempt());
    if (is_news(trigger.shard(), trigger.epoch())) {
      told.stale.erase(attempt);
    } else if (told.stale.insert(attempt).second) {
      ++report_.stale_triggers;
    }
  }
}

// The live nodes changed: every executor that is welcomed hears of it.
void Simulation::TellNodes(const SimNode& node) {
  v1::SchedulerMessage wire;
  for (const std::string& name : node.nodes()) wire.mutable_nodes()->add_addresses(name);
  for (const auto& [stream, link] : links_) {
    if (link.node == &node && link.welcomed && !link.closed) Deliver(stream, wire);
  }
}

// Both sides learn of it, the executor's sooner than a node that is suspended.
void Simulation::Break(StreamId stream) {
  const auto it = links_.find(stream);
  if (it == links_.end() || std::exchange(it->second.closed, true)) return;
  queue_.After(absl::Milliseconds(20), [this, stream] {
    const auto it = links_.find(stream);
    const Link link = it->second;
    links_.erase(it);
    link.node->Closed(stream);
    if (link.executor->alive() && link.executor->Process() == link.process) {
      link.executor->LinkClosed(link.id);
    }
  });
}

void Simulation::BreakIf(const std::function<bool(const Link&)>& which) {
  std::vector<StreamId> streams;
  for (const auto& [stream, link] : links_) {
    if (which(link)) streams.push_back(stream);
  }
  for (const StreamId stream : streams) Break(stream);
}

}  // namespace tidemark::sim
