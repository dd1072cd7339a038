#include "tests/support/link_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "common/clock.h"

namespace tidemark {
namespace {

constexpr size_t kPreface = 24;     // "PRI * HTTP/2.0…SM…"
constexpr size_t kFrameHead = 9;    // length 3, type 1, flags 1, stream 4
constexpr size_t kMessageHead = 5;  // compressed 1, length 4
constexpr size_t kMaxFrame = 16384;
constexpr uint8_t kData = 0, kHeaders = 1, kRstStream = 3, kContinuation = 9;
constexpr uint8_t kEndStream = 1;

uint32_t Number(const std::string& bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

std::string DataFrame(uint32_t stream, const std::string& payload, uint8_t flags) {
  const auto length = static_cast<uint32_t>(payload.size());
  std::string frame;
  for (const int shift : {16, 8, 0}) frame += static_cast<char>(length >> shift);
  frame += static_cast<char>(kData);
  frame += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(stream >> shift);
  return frame + payload;
}

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

bool WriteAll(int fd, std::string& bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    bytes.erase(0, static_cast<size_t>(n));
  }
  return true;
}

void NoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool HasOrder(const LinkMessage& message, v1::Order::OrderCase what) {
  if (message.from_scheduler == nullptr) return false;
  const auto& orders = message.from_scheduler->orders();
  return std::any_of(orders.begin(), orders.end(),
                     [what](const v1::Order& order) { return order.order_case() == what; });
}

}  // namespace

LinkMatch IsTrigger() {
  return [](const LinkMessage& message) { return HasOrder(message, v1::Order::kTrigger); };
}

LinkMatch IsAcknowledged() {
  return [](const LinkMessage& message) { return HasOrder(message, v1::Order::kAcknowledged); };
}

LinkMatch IsReport(v1::RunReport::EventCase event) {
  return [event](const LinkMessage& message) {
    if (message.from_executor == nullptr) return false;
    const auto& reports = message.from_executor->reports();
    return std::any_of(reports.begin(), reports.end(), [event](const v1::RunReport& report) {
      return report.event_case() == event;
    });
  };
}

LinkProxy::LinkProxy(const std::string& address) {
  Retarget(address);
  sockaddr_in local = Loopback(0);
  socklen_t size = sizeof local;
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&local), size) != 0 ||
      listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&local), &size) != 0 ||
      pipe2(stop_, O_CLOEXEC) != 0) {
    std::abort();
  }
  address_ = "127.0.0.1:" + std::to_string(ntohs(local.sin_port));
  thread_ = std::thread([this] { Run(); });
}

LinkProxy::~LinkProxy() {
  close(stop_[1]);
  thread_.join();
  const MutexLock lock(&mutex_);
  for (const Link& link : links_) {
    close(link.executor);
    close(link.scheduler);
  }
  close(stop_[0]);
  close(listener_);
}

void LinkProxy::HoldNext(LinkMatch match) {
  const MutexLock lock(&mutex_);
  hold_ = std::move(match);
}

bool LinkProxy::Holding() {
  const MutexLock lock(&mutex_);
  return std::any_of(links_.begin(), links_.end(), [](const Link& link) {
    return !link.cut && (link.up.holding || link.down.holding);
  });
}

void LinkProxy::Release() {
  const MutexLock lock(&mutex_);
  for (Link& link : links_) {
    for (Pipe* pipe : {&link.up, &link.down}) {
      pipe->out += pipe->held;
      pipe->held.clear();
      pipe->holding = false;
    }
  }
}

void LinkProxy::DropHeld() {
  const MutexLock lock(&mutex_);
  for (Link& link : links_) link.cut = link.cut || link.up.holding || link.down.holding;
}

void LinkProxy::CutAt(LinkMatch match) {
  const MutexLock lock(&mutex_);
  cut_ = std::move(match);
}

int LinkProxy::cuts() {
  const MutexLock lock(&mutex_);
  return cuts_;
}

void LinkProxy::Cut() {
  const MutexLock lock(&mutex_);
  for (Link& link : links_) link.cut = true;
}

void LinkProxy::Refuse(bool refuse) {
  const MutexLock lock(&mutex_);
  refuse_ = refuse;
  for (Link& link : links_) link.cut = link.cut || refuse;
}

void LinkProxy::Set(const std::string& executor, LinkState state) {
  const MutexLock lock(&mutex_);
  rules_[executor].state = state;
}

void LinkProxy::Delay(const std::string& executor, absl::Duration delay) {
  const MutexLock lock(&mutex_);
  rules_[executor].delay = delay;
}

void LinkProxy::Retarget(const std::string& address) {
  const MutexLock lock(&mutex_);
  target_port_ = std::atoi(address.substr(address.rfind(':') + 1).c_str());
}

LinkProxy::Rule LinkProxy::RuleOf(const Link& link) const {
  auto rule = rules_.find(link.name);
  if (rule == rules_.end()) rule = rules_.find("");
  return rule == rules_.end() ? Rule() : rule->second;
}

void LinkProxy::Accept() {
  Link link;
  link.executor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (link.executor < 0) return;
  const sockaddr_in target = Loopback(target_port_);
  link.scheduler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (refuse_ ||
      connect(link.scheduler, reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0) {
    close(link.executor);
    close(link.scheduler);
    return;
  }
  NoDelay(link.executor);
  NoDelay(link.scheduler);
  links_.push_back(std::move(link));
}

void LinkProxy::Judge(const std::string& message, Link& link, Pipe& pipe) {
  v1::ExecutorMessage from_executor;
  v1::SchedulerMessage from_scheduler;
  LinkMessage parsed;
  const std::string body = message.substr(kMessageHead);
  if (pipe.from_executor && from_executor.ParseFromString(body)) {
    parsed.from_executor = &from_executor;
    if (from_executor.has_hello()) link.name = from_executor.hello().executor_id();
  }
  if (!pipe.from_executor && from_scheduler.ParseFromString(body)) {
    parsed.from_scheduler = &from_scheduler;
  }
  if (cut_ && cut_(parsed)) {
    link.cut = true;
    ++cuts_;
  } else if (hold_ && hold_(parsed)) {
    pipe.holding = true;
    hold_ = nullptr;
  }
}

void LinkProxy::TakeData(uint32_t stream, const std::string& payload, Link& link, Pipe& pipe) {
  std::string& partial = pipe.partial[stream];
  partial += payload;
  while (!link.cut && partial.size() >= kMessageHead) {
    const size_t size = kMessageHead + Number(partial, 1, 4);
    if (partial.size() < size) return;
    Judge(partial.substr(0, size), link, pipe);
    for (size_t at = 0; at < size; at += kMaxFrame) {
      (pipe.holding ? pipe.held : pipe.out) +=
          DataFrame(stream, partial.substr(at, std::min(kMaxFrame, size - at)), 0);
    }
    partial.erase(0, size);
  }
}

void LinkProxy::TakeFrames(Link& link, Pipe& pipe) {
  if (pipe.from_executor && !link.preface) {
    if (pipe.in.size() < kPreface) return;
    pipe.out += pipe.in.substr(0, kPreface);
    pipe.in.erase(0, kPreface);
    link.preface = true;
  }
  while (!link.cut && pipe.in.size() >= kFrameHead) {
    const size_t size = kFrameHead + Number(pipe.in, 0, 3);
    if (pipe.in.size() < size) return;
    const std::string frame = pipe.in.substr(0, size);
    pipe.in.erase(0, size);
    const auto type = static_cast<uint8_t>(frame[3]);
    const uint32_t stream = Number(frame, 5, 4) & 0x7fffffff;
    if (type == kData) {
      TakeData(stream, frame.substr(kFrameHead), link, pipe);
      if ((static_cast<uint8_t>(frame[4]) & kEndStream) == 0) continue;
      (pipe.holding ? pipe.held : pipe.out) += DataFrame(stream, "", kEndStream);
      continue;
    }
    // What belongs to the session keeps its order; the rest is about the connection.
    const bool in_order = type == kHeaders || type == kRstStream || type == kContinuation;
    (pipe.holding && in_order ? pipe.held : pipe.out) += frame;
  }
}

bool LinkProxy::Read(int fd, Link& link, Pipe& pipe) {
  char buffer[65536];
  const ssize_t got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  pipe.in.append(buffer, static_cast<size_t>(got));
  TakeFrames(link, pipe);
  return true;
}

void LinkProxy::Serve(Link& link) {
  if (RuleOf(link).state == LinkState::kSilent) return;
  if (!link.ended && !Read(link.executor, link, link.up)) link.ended = true;
  if (!link.ended && !Read(link.scheduler, link, link.down)) link.ended = true;
  const Rule rule = RuleOf(link);  // only now it may be known whose it is
  if (rule.state == LinkState::kRefused) link.cut = true;
  if (link.cut || rule.state == LinkState::kSilent) return;
  const absl::Duration now = SystemClock().Monotonic();
  Ripen(link.up, rule.delay, now);
  Ripen(link.down, rule.delay, now);
  if (!WriteAll(link.scheduler, link.up.ready)) link.ended = true;
  if (!WriteAll(link.executor, link.down.ready)) link.ended = true;
  const bool late = !link.up.late.empty() || !link.down.late.empty();
  if (link.ended && !link.up.holding && !link.down.holding && !late) link.cut = true;
}

void LinkProxy::Ripen(Pipe& pipe, absl::Duration delay, absl::Duration now) {
  if (!pipe.out.empty()) pipe.late.emplace_back(now + delay, std::exchange(pipe.out, {}));
  while (!pipe.late.empty() && pipe.late.front().first <= now) {
    pipe.ready += pipe.late.front().second;
    pipe.late.pop_front();
  }
}

void LinkProxy::Run() {
  for (;;) {
    std::vector<pollfd> fds = {{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    {
      const MutexLock lock(&mutex_);
      for (const Link& link : links_) {
        // Would be readable for ever.
        if (link.ended || RuleOf(link).state == LinkState::kSilent) continue;
        fds.push_back({link.executor, POLLIN, 0});
        fds.push_back({link.scheduler, POLLIN, 0});
      }
    }
    // Wakes now and then: the test may have released or cut something meanwhile.
    poll(fds.data(), fds.size(), 10);
    if (fds[0].revents != 0) return;
    const MutexLock lock(&mutex_);
    if (fds[1].revents != 0) Accept();
    for (auto link = links_.begin(); link != links_.end();) {
      if (!link->cut) Serve(*link);
      if (!link->cut) {
        ++link;
        continue;
      }
      close(link->executor);
      close(link->scheduler);
      link = links_.erase(link);
    }
  }
}

}  // namespace tidemark
