#include "engines/etcd/link.hpp"

#include "engines/etcd/credentials.hpp"

#include <algorithm>
#include <climits>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto probe_pause_max = 500ms;
constexpr auto probe_patience = 2s;

// gRPC's threads that bring answers end with the last channel that uses them; but the last to let go of a channel may be
// one of those threads, and it cannot end itself. So one channel, which leads nowhere, is used once and never let go.
void keep_grpc_alive() {
  struct call {
    grpc::ClientContext context;
    pb::StatusRequest request;
    pb::StatusResponse response;
  };
  [[maybe_unused]] static const auto* forever = [] {
    auto* channel = new std::shared_ptr<grpc::Channel>{grpc::CreateCustomChannel({}, nullptr, {})};
    auto c = std::make_shared<call>();
    grpc::TemplatedGenericStub<pb::StatusRequest, pb::StatusResponse> stub{*channel};
    stub.UnaryCall(&c->context, method::status, {}, &c->request, &c->response, [c](const grpc::Status&) {});
    return channel;
  }();
}

std::shared_ptr<grpc::Channel> connect(const core::endpoint& to, const config& c) {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // two clients of a process do not share a fate
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 500);  // also how long one attempt may take
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);  // etcd allows no more than one in 5 s
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  args.SetMaxReceiveMessageSize(INT_MAX);
  const bool six = to.host.find(':') != to.host.npos && to.host.front() != '[';
  return grpc::CreateCustomChannel((six ? '[' + to.host + ']' : to.host) + ':' + std::to_string(to.port),
                                   credentials(c), args);
}

}  // namespace

failure explain(const grpc::Status& s) {
  const auto words = "etcd: " + (s.error_message().empty() ? std::string{"no reason given"} : s.error_message());
  switch (s.error_code()) {
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED: return no(why::refused, errc::refused, words);
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::OUT_OF_RANGE: return no(why::refused, errc::refused, words);
    case grpc::StatusCode::RESOURCE_EXHAUSTED: return no(why::over_limit, errc::over_limit, words);
    default: return no(why::unknown, errc::unknown, words);
  }
}

bool is_old_token(const grpc::Status& s) {
  return s.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
         (s.error_code() == grpc::StatusCode::INVALID_ARGUMENT &&
          (s.error_message().find("auth store is old") != std::string::npos ||
           s.error_message().find("user name is empty") != std::string::npos));
}

link::link(const config& c, const engine::environment& e, std::shared_ptr<inbox> box, std::string probe_key)
    : config_(c), environment_(e), box_(std::move(box)), probe_key_(std::move(probe_key)) {
  keep_grpc_alive();
  for (const auto& s : c.servers) channels_.push_back(connect(s, c));
  fire_channel_ = channels_[at_];
}

link::~link() { *alive_ = false; }

void link::open(listener& l) {
  listener_ = &l;
  probe_at_ = environment_.clock->now();
}

void link::close() {
  closed_ = true;
  probe_at_ = time_point::max();
  for (auto* context : in_flight_) context->TryCancel();
}

void link::disconnect() {
  const std::lock_guard lock{fire_mutex_};
  up_ = false;
  fire_channel_.reset();
  channels_.clear();
}

void link::tick(time_point now) {
  if (!closed_ && !probing_ && probe_at_ <= now) probe();
}

void link::probe() {
  probing_ = true;
  pb::RangeRequest r;
  r.set_key(probe_key_);
  const auto patience = std::min<lease_clock::duration>(probe_patience, environment_.request_timeout);
  call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), environment_.clock->now() + patience,
      [this](const failure* wrong, pb::RangeResponse& answer) { probed(wrong, answer); });
}

void link::probed(const failure* wrong, const pb::RangeResponse& answer) {
  probing_ = false;
  if (closed_) return;
  if (wrong == nullptr) {
    saw(answer.header());
    return introduce(answer);
  }
  if (probe_pause_ == 0ms) listener_->on_down(*wrong);  // said once
  at_ = (at_ + 1) % channels_.size();
  set_token({});
  probe_pause_ = std::min<std::chrono::milliseconds>(probe_pause_ * 2 + 20ms, probe_pause_max);
  probe_at_ = environment_.clock->now() + probe_pause_;
}

// The version is for people; without it the server is up all the same.
void link::introduce(const pb::RangeResponse& answer) {
  up_ = true;
  probe_at_ = time_point::max();
  probe_pause_ = 0ms;
  engine::server_facts facts{
      std::to_string(answer.header().cluster_id()) + '/' + std::to_string(answer.header().member_id()), {}};
  call<pb::StatusRequest, pb::StatusResponse>(method::status, {},
                                              environment_.clock->now() + environment_.request_timeout,
                                              [this, facts](const failure* wrong, pb::StatusResponse& status) mutable {
                                                if (closed_ || !up_) return;
                                                if (wrong == nullptr) facts.version = status.version();
                                                listener_->on_up(facts);
                                              });
}

void link::trouble(const grpc::Status& s, std::size_t with) {
  const bool unreachable = s.error_code() == grpc::StatusCode::UNAVAILABLE ||
                           s.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
                           s.error_code() == grpc::StatusCode::CANCELLED;
  if (!up_ || closed_ || !unreachable || with != at_) return;
  up_ = false;
  at_ = (at_ + 1) % channels_.size();
  set_token({});
  probe_at_ = environment_.clock->now();
  probe_pause_ = 20ms;
  listener_->on_down(explain(s));
}

// --- login ---

void link::with_token(std::function<void(const failure*)> go_on) {
  waiting_for_token_.push_back(std::move(go_on));
  if (waiting_for_token_.size() > 1) return;
  pb::AuthenticateRequest r;
  r.set_name(config_.user);
  r.set_password(config_.password);
  call<pb::AuthenticateRequest, pb::AuthenticateResponse>(
      method::authenticate, std::move(r), environment_.clock->now() + environment_.request_timeout,
      [this](const failure* wrong, pb::AuthenticateResponse& a) { logged_in(wrong, a); });
}

void link::logged_in(const failure* wrong, pb::AuthenticateResponse& a) {
  failure why_not;
  if (wrong != nullptr) {
    why_not = *wrong;
    // Nothing of the request that waited for the login was sent.
    if (why_not.kind == why::unknown) why_not.kind = why::not_sent;
  }
  set_token(wrong == nullptr ? a.token() : std::string{});
  for (auto& go_on : std::exchange(waiting_for_token_, {})) go_on(wrong != nullptr ? &why_not : nullptr);
}

void link::set_token(std::string token) {
  token_ = std::move(token);
  if (closed_) return;
  const std::lock_guard lock{fire_mutex_};
  fire_token_ = token_;
  fire_channel_ = channels_[at_];
}

// --- from other threads ---

template <class Request, class Response>
void link::shoot(const char* path, Request request, std::chrono::milliseconds within,
                 std::function<void(const grpc::Status&, const Response&)> back) {
  struct shot {
    grpc::ClientContext context;
    Request request;
    Response response;
  };
  auto s = std::make_shared<shot>();
  s->request = std::move(request);
  s->context.set_deadline(from_now(within));
  std::shared_ptr<grpc::Channel> channel;
  {
    const std::lock_guard lock{fire_mutex_};
    channel = fire_channel_;
    if (!channel) return;
    if (!fire_token_.empty()) s->context.AddMetadata("token", fire_token_);
  }
  grpc::TemplatedGenericStub<Request, Response> stub{channel};
  stub.UnaryCall(&s->context, path, {}, &s->request, &s->response,
                 [s, channel, back = std::move(back)](const grpc::Status& status) { back(status, s->response); });
}

void link::fire(const std::string& key, std::int64_t modified, std::chrono::milliseconds within,
                std::function<void(bool)> back) {
  pb::TxnRequest t;
  auto& c = *t.add_compare();
  c.set_key(key);
  c.set_target(pb::Compare::MOD);
  c.set_mod_revision(modified);
  t.add_success()->mutable_request_delete_range()->set_key(key);
  shoot<pb::TxnRequest, pb::TxnResponse>(
      method::txn, std::move(t), within,
      [back = std::move(back)](const grpc::Status& s, const pb::TxnResponse& r) { back(s.ok() && r.succeeded()); });
}

void link::find(const std::string& key, std::chrono::milliseconds within, std::function<void(std::int64_t)> back) {
  pb::RangeRequest r;
  r.set_key(key);
  shoot<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), within, [back = std::move(back)](const grpc::Status& s, const pb::RangeResponse& a) {
        back(s.ok() && a.kvs_size() > 0 ? a.kvs(0).mod_revision() : 0);
      });
}

}  // namespace tyer::etcd
