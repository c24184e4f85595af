#include "engines/etcd/link.hpp"

#include "engines/etcd/advice.hpp"

#include <algorithm>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto probe_pause_max = 500ms;
constexpr auto probe_patience = 2s;

}  // namespace

failure explain(const wire::status& s) {
  const auto words = "etcd: " + (s.words.empty() ? std::string{"no reason given"} : s.words);
  switch (s.is) {
    case wire::code::permission_denied:
    case wire::code::unauthenticated: return no(why::refused, errc::refused, words);
    case wire::code::invalid_argument:
    case wire::code::failed_precondition:
    case wire::code::not_found:
    case wire::code::unimplemented:
    case wire::code::out_of_range: return no(why::refused, errc::refused, words);
    case wire::code::resource_exhausted: return no(why::over_limit, errc::over_limit, words);
    default: return no(why::unknown, errc::unknown, words);
  }
}

bool is_old_token(const wire::status& s) {
  return s.is == wire::code::unauthenticated ||
         (s.is == wire::code::invalid_argument && (s.words.find("auth store is old") != std::string::npos ||
                                                   s.words.find("user name is empty") != std::string::npos));
}

link::link(const config& c, const engine::environment& e, std::shared_ptr<inbox> box, std::string probe_key)
    : config_(c), environment_(e), box_(std::move(box)), probe_key_(std::move(probe_key)) {
  for (const auto& s : c.servers) channels_.push_back(wire::connect(s, c));
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
  for (const auto& [when, call] : in_flight_) call->cancel();
}

void link::disconnect() {
  const std::lock_guard lock{fire_mutex_};
  up_ = false;
  fire_channel_.reset();
  channels_.clear();
}

void link::tick(time_point now) {
  while (!in_flight_.empty() && in_flight_.begin()->first <= now) {
    in_flight_.begin()->second->cancel();  // it comes back by that
    in_flight_.erase(in_flight_.begin());
  }
  if (!closed_ && !probing_ && probe_at_ <= now) probe();
}

void link::probe() {
  probing_ = true;
  pb::RangeRequest r;
  r.set_key(probe_key_);
  const auto patience = std::min<lease_clock::duration>(probe_patience, environment_.request_timeout);
  call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), environment_.clock->now() + patience,
      [this](const failure* wrong, pb::RangeResponse& answer) { probed(wrong, answer); }, when::always);
}

void link::probed(const failure* wrong, const pb::RangeResponse& answer) {
  probing_ = false;
  if (closed_) return;
  if (wrong == nullptr) {
    saw(answer.header());
    return introduce(answer);
  }
  if (probe_pause_ == 0ms || wrong->kind != said_) listener_->on_down(*wrong);  // said once, but a new reason is news
  said_ = wrong->kind;
  // The old one waits before it connects again, by the wall clock: set back, it makes that hours.
  channels_[at_] = wire::connect(config_.servers[at_], config_);
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

void link::trouble(const wire::status& s, std::size_t with) {
  const bool unreachable =
      s.is == wire::code::unavailable || s.is == wire::code::deadline_exceeded || s.is == wire::code::cancelled;
  if (!up_ || closed_ || !unreachable || with != at_) return;
  up_ = false;
  at_ = (at_ + 1) % channels_.size();
  set_token({});
  probe_at_ = environment_.clock->now();
  probe_pause_ = 20ms;
  listener_->on_down(explained(s));
}

failure link::explained(const wire::status& s) const {
  auto f = explain(s);
  f.words = with_advice(std::move(f.words), config_);
  return f;
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
      [this](const failure* wrong, pb::AuthenticateResponse& a) { logged_in(wrong, a); }, when::always);
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
void link::shoot(const char* path, const Request& request, std::chrono::milliseconds within,
                 std::function<void(const Response*)> back) {
  wire::order o{nullptr, path, {}};
  {
    const std::lock_guard lock{fire_mutex_};
    o.to = fire_channel_;
    o.token = fire_token_;
  }
  if (!o.to) return;
  wire::call(o, request.SerializeAsString(), within,
             [back = std::move(back)](const wire::status& s, const std::string& bytes) {
               Response r;
               back(s.ok() && r.ParseFromString(bytes) ? &r : nullptr);
             });
}

void link::fire(const std::string& key, std::int64_t modified, std::chrono::milliseconds within,
                std::function<void(bool)> back) {
  pb::TxnRequest t;
  auto& c = *t.add_compare();
  c.set_key(key);
  c.set_target(pb::Compare::MOD);
  c.set_mod_revision(modified);
  t.add_success()->mutable_request_delete_range()->set_key(key);
  shoot<pb::TxnRequest, pb::TxnResponse>(method::txn, t, within, [back = std::move(back)](const pb::TxnResponse* r) {
    back(r != nullptr && r->succeeded());
  });
}

void link::find(const std::string& key, std::chrono::milliseconds within,
                std::function<void(std::optional<std::int64_t>)> back) {
  pb::RangeRequest r;
  r.set_key(key);
  shoot<pb::RangeRequest, pb::RangeResponse>(method::range, r, within,
                                             [back = std::move(back)](const pb::RangeResponse* a) {
                                               if (a == nullptr) return back(std::nullopt);
                                               back(a->kvs_size() > 0 ? a->kvs(0).mod_revision() : 0);
                                             });
}

}  // namespace tyer::etcd
