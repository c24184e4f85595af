#include "etcd/bare.hpp"

#include "core/id.hpp"
#include "core/uri.hpp"
#include "engines/etcd/client/link.hpp"
#include "engines/etcd/keys.hpp"
#include "engines/etcd/ledger.hpp"
#include "engines/etcd/locks/transactions.hpp"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <deque>
#include <optional>
#include <stdexcept>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
namespace etcd = tyer::etcd;
namespace pb = tyer::etcd::pb;

// One name, locked and unlocked in turn.
struct cycle {
  etcd::key_range room;
  std::string name, key;
  std::optional<grpc::ClientContext> context;
  pb::TxnResponse answer;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<pb::TxnResponse>> reader;
  bool held = false;
};

class bare {
 public:
  bare(const std::string& uri, int deep) {
    const auto parsed = tyer::core::parse_uri(uri);
    if (parsed.error) throw std::runtime_error(parsed.error.words);
    const auto& to = parsed.value.hosts.front();
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ =
        grpc::CreateCustomChannel(to.host + ':' + std::to_string(to.port), grpc::InsecureChannelCredentials(), own);
    stub_.emplace(channel_);
    grant_lease();
    make_value();
    for (int i = 0; i < deep; ++i) {
      auto& c = cycles_.emplace_back();
      c.name = "bench/" + std::to_string(i);
      c.room = keys_.room(c.name);
      c.key = keys_.seat(c.name, ids_.next());
    }
  }

  ~bare() {
    queue_.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; queue_.Next(&tag, &ok);) {}
  }

  std::deque<cycle>& cycles() { return cycles_; }

  void lock(cycle& c) {
    auto t = etcd::take_if_free(c.room, {c.key, value_, lease_});
    etcd::read_oldest(*t.add_failure()->mutable_request_range(), c.room, etcd::some);
    send(c, t);
  }
  void unlock(cycle& c) {
    const auto revision = c.answer.header().revision();
    send(c, etcd::give_back_if_alone(keys_, c.name, c.key, revision, revision));
  }

  // The next that was answered, as it was wanted.
  cycle& next() {
    void* tag = nullptr;
    bool ok = false;
    if (!queue_.Next(&tag, &ok) || !ok) throw std::runtime_error("the queue ended");
    auto& c = *static_cast<cycle*>(tag);
    if (!c.status.ok()) throw std::runtime_error("unexpected answer: " + c.status.error_message());
    if (!c.answer.succeeded()) throw std::runtime_error("somebody else was there");
    c.held = !c.held;
    return c;
  }

 private:
  void send(cycle& c, const pb::TxnRequest& t) {
    c.context.emplace();
    c.context->set_deadline(std::chrono::system_clock::now() + 10s);
    c.answer.Clear();
    c.reader = stub_->PrepareUnaryCall(&*c.context, etcd::method::txn, t, &queue_);
    c.reader->StartCall();
    c.reader->Finish(&c.answer, &c.status, &c);
  }

  void grant_lease() {
    grpc::TemplatedGenericStub<pb::LeaseGrantRequest, pb::LeaseGrantResponse> stub{channel_};
    grpc::ClientContext context;
    pb::LeaseGrantRequest r;
    r.set_ttl(60);
    pb::LeaseGrantResponse answer;
    grpc::Status status;
    auto reader = stub.PrepareUnaryCall(&context, etcd::method::lease_grant, r, &queue_);
    reader->StartCall();
    reader->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    if (!queue_.Next(&tag, &ok) || !status.ok()) throw std::runtime_error("no lease: " + status.error_message());
    lease_ = answer.id();
  }

  // As the engine would write it.
  void make_value() {
    etcd::ledger::wish w;
    w.r.what = {ids_.next(), "bench", tyer::engine::mode::exclusive};
    w.r.ttl = 10s;
    w.r.waiter_ttl = 3s;
    w.r.owner = "host pid 1 bench cycles.cpp:1";
    w.hold_lease = lease_;
    w.hold_lease_ttl = 10s;
    w.place_lease_ttl = 3s;
    etcd::ledger blank;
    blank.acquire(w);
    auto record = blank.seats().back().record;
    record.set_part(0);
    value_ = etcd::write_value(record);
  }

  etcd::keys keys_{"bare:"};
  tyer::core::random_ids ids_;
  std::shared_ptr<grpc::Channel> channel_;
  std::optional<grpc::TemplatedGenericStub<pb::TxnRequest, pb::TxnResponse>> stub_;
  grpc::CompletionQueue queue_;
  std::int64_t lease_ = 0;
  std::string value_;
  std::deque<cycle> cycles_;
};

}  // namespace

double bare_pipelined(const std::string& uri, int deep, milliseconds run) {
  bare b{uri, deep};
  std::uint64_t cycles = 0;
  const auto begin = clock::now();
  for (auto& c : b.cycles()) b.lock(c);
  for (int under_way = deep; under_way > 0;) {
    auto& c = b.next();
    if (c.held) {
      b.unlock(c);
      continue;
    }
    ++cycles;
    clock::now() - begin < run ? b.lock(c) : void(--under_way);
  }
  return static_cast<double>(cycles) / std::chrono::duration<double>(clock::now() - begin).count();
}

std::vector<double> bare_sequential(const std::string& uri, milliseconds run) {
  bare b{uri, 1};
  auto& c = b.cycles().front();
  std::vector<double> usec;
  for (const auto begin = clock::now(); clock::now() - begin < run;) {
    const auto t = clock::now();
    b.lock(c);
    b.next();
    b.unlock(c);
    b.next();
    usec.push_back(std::chrono::duration<double, std::micro>(clock::now() - t).count());
  }
  return usec;
}

}  // namespace bench
