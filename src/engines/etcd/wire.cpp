#include "engines/etcd/wire.hpp"

#include "engines/etcd/credentials.hpp"
#include "engines/etcd/handover.hpp"

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <climits>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace tyer::etcd::wire {

class channel {
 public:
  explicit channel(std::shared_ptr<grpc::Channel> c) : inside(std::move(c)) {}
  const std::shared_ptr<grpc::Channel> inside;
};

namespace {

gpr_timespec from_now(std::chrono::nanoseconds d) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(std::max<std::int64_t>(d.count(), 0), GPR_TIMESPAN));
}

status of(const grpc::Status& s) { return {static_cast<code>(s.error_code()), s.error_message()}; }

grpc::ByteBuffer to_buffer(const std::string& bytes) {
  const grpc::Slice slice{bytes};
  return {&slice, 1};
}

std::string to_bytes(const grpc::ByteBuffer& buffer) {
  std::string all;
  std::vector<grpc::Slice> slices;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return all;
  all.reserve(buffer.Length());
  for (const auto& s : slices) all.append(reinterpret_cast<const char*>(s.begin()), s.size());
  return all;
}

// gRPC's threads that bring answers end with the last channel that uses them; but the last to let go of a channel may be
// one of those threads, and it cannot end itself. So one channel, which leads nowhere, is used once and never let go.
void keep_grpc_alive() {
  struct nothing {
    grpc::ClientContext context;
    grpc::ByteBuffer request = to_buffer({}), response;
  };
  [[gnu::used]] static const auto* forever = [] {  // used: so that it is not lost from sight, as a leak would be
    auto* to_nowhere = new std::shared_ptr<grpc::Channel>{grpc::CreateCustomChannel({}, nullptr, {})};
    auto n = std::make_shared<nothing>();
    grpc::GenericStub stub{*to_nowhere};
    stub.UnaryCall(&n->context, "/nothing", {}, &n->request, &n->response, [n](const grpc::Status&) {});
    return to_nowhere;
  }();
}

class unary final : public under_way {
 public:
  explicit unary(std::function<void(status, std::string)> back) : back_(std::move(back)) {}

  void cancel() override { context_.TryCancel(); }

  static std::shared_ptr<unary> start(const order& o, const std::string& request, std::chrono::nanoseconds within,
                                      std::function<void(status, std::string)> back) {
    auto u = std::make_shared<unary>(std::move(back));
    if (!o.token.empty()) u->context_.AddMetadata("token", o.token);
    u->context_.set_deadline(from_now(within));
    u->request_ = to_buffer(request);
    u->channel_ = o.to;
    grpc::GenericStub stub{o.to->inside};
    handover::give(u.get());
    stub.UnaryCall(&u->context_, o.method, {}, &u->request_, &u->response_, [u](const grpc::Status& s) {
      handover::take(u.get());
      auto tell = std::exchange(u->back_, nullptr);
      tell(of(s), s.ok() ? to_bytes(u->response_) : std::string{});
    });
    return u;
  }

 private:
  grpc::ClientContext context_;
  grpc::ByteBuffer request_, response_;
  std::shared_ptr<channel> channel_;
  std::function<void(status, std::string)> back_;
};

// It keeps itself alive until gRPC has finished with it.
class both_ways final : public stream, grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  both_ways(const order& o, std::function<void(std::string)> message, std::function<void(status)> end)
      : order_(o), stub_(o.to->inside), message_(std::move(message)), end_(std::move(end)) {
    if (!o.token.empty()) context_.AddMetadata("token", o.token);
  }

  void begin(std::shared_ptr<both_ways> self) {
    self_ = std::move(self);
    stub_.PrepareBidiStreamingCall(&context_, order_.method, {}, this);
    AddHold();  // writes are started from outside the reactor
    StartRead(&received_);
    handover::give(this);
    StartCall();
  }

  void send(const std::string& bytes) override {
    const std::lock_guard lock{mutex_};
    if (ended_) return;
    waiting_.push_back(to_buffer(bytes));
    if (waiting_.size() == 1) StartWrite(&waiting_.front());
  }

  void cancel() override {
    context_.TryCancel();
    let_go();
  }

 private:
  void OnReadDone(bool ok) override {
    handover::take(this);
    if (!ok) return let_go();
    message_(to_bytes(received_));
    StartRead(&received_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return let_go();
    const std::lock_guard lock{mutex_};
    waiting_.pop_front();
    if (!ended_ && !waiting_.empty()) StartWrite(&waiting_.front());
  }

  void OnDone(const grpc::Status& s) override {
    handover::take(this);
    const auto self = std::move(self_);
    end_(of(s));
    message_ = nullptr;
    end_ = nullptr;
  }

  void let_go() {
    {
      const std::lock_guard lock{mutex_};
      if (std::exchange(ended_, true)) return;
    }
    RemoveHold();
  }

  const order order_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  std::function<void(std::string)> message_;
  std::function<void(status)> end_;
  grpc::ByteBuffer received_;
  std::shared_ptr<both_ways> self_;

  std::mutex mutex_;
  std::deque<grpc::ByteBuffer> waiting_;  // the first is being written
  bool ended_ = false;
};

}  // namespace

std::shared_ptr<channel> connect(const core::endpoint& to, const config& c, std::chrono::milliseconds attempt) {
  keep_grpc_alive();
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // two clients of a process do not share a fate
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  // So long one attempt may take, and not the least pause, as its name says.
  const auto longest = std::clamp<std::int64_t>(attempt.count(), 500, 60'000);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, static_cast<int>(longest));
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);  // etcd allows no more than one in 5 s
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  args.SetMaxReceiveMessageSize(INT_MAX);
  const bool six = to.host.find(':') != to.host.npos && to.host.front() != '[';
  return std::make_shared<channel>(grpc::CreateCustomChannel(
      (six ? '[' + to.host + ']' : to.host) + ':' + std::to_string(to.port), credentials(c), args));
}

bool is_connecting(const channel& c) { return c.inside->GetState(false) == GRPC_CHANNEL_CONNECTING; }

std::shared_ptr<under_way> call(const order& o, const std::string& request, std::chrono::nanoseconds within,
                                std::function<void(status, std::string)> back) {
  return unary::start(o, request, within, std::move(back));
}

std::shared_ptr<stream> start(const order& o, std::function<void(std::string)> on_message,
                              std::function<void(status)> on_end) {
  auto s = std::make_shared<both_ways>(o, std::move(on_message), std::move(on_end));
  s->begin(s);
  return s;
}

void after(std::chrono::nanoseconds d, std::function<void()> f) {
  struct timer {
    grpc::Alarm alarm;
    std::function<void()> ring;
  };
  auto t = std::make_shared<timer>();
  t->ring = std::move(f);
  auto& alarm = t->alarm;
  handover::give(t.get());
  alarm.Set(from_now(d), [t](bool) mutable {
    const auto rung = std::move(t);  // the alarm keeps this function for as long as it lives: it must not keep itself
    handover::take(rung.get());
    std::exchange(rung->ring, nullptr)();
  });
}

}  // namespace tyer::etcd::wire
