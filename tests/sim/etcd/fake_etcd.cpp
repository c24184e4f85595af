#include "sim/etcd/fake_etcd.hpp"

#include "sim/etcd/fake_stream.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tyer::sim::etcd {

namespace {

thread_local fake_etcd* current = nullptr;

// etcd itself gives up a request that it could not do for so long.
constexpr auto given_up_after = 7s;

template <class Request>
Request parsed(const std::string& bytes) {
  Request r;
  if (!r.ParseFromString(bytes)) throw std::logic_error("the engine sent what cannot be read");
  return r;
}

}  // namespace

fake_etcd::fake_etcd(world& w, store& s) : time(w), data(s), before_(std::exchange(current, this)) {
  decide = [](const exchange&) { return journey{500us, 500us}; };
  look_at_leases();
}

fake_etcd::~fake_etcd() {
  *alive_ = false;
  current = before_;
  for (auto& forget : at_the_end_) forget();
}

fake_etcd& fake_etcd::here() {
  if (current == nullptr) throw std::logic_error("no fake etcd was made on this thread");
  return *current;
}

void fake_etcd::look_at_leases() {
  time.in(500ms, [this, alive = alive_] {
    if (!*alive) return;
    data.end_leases();
    tell_watchers();
    look_at_leases();
  });
}

// --- the servers ---

void fake_etcd::at_server(std::size_t server, moment deadline, task t) {
  if (!up_[server]) return;
  if (!paused_) return t();
  waiting_.push_back({deadline + given_up_after, std::move(t)});
}

void fake_etcd::pause() { paused_ = true; }

void fake_etcd::resume() {
  paused_ = false;
  for (auto& w : std::exchange(waiting_, {})) {
    if (w.until > time.now()) w.what();
  }
}

void fake_etcd::set_up(std::size_t server, bool up) {
  up_[server] = up;
  if (up) return;
  for (auto& weak : streams_) {
    if (const auto s = weak.lock(); s && s->server() == server) s->end({wire::code::unavailable, "fake: went down"});
  }
}

void fake_etcd::set_back() {
  if (!data.restore()) return;
  ++lives;
  waiting_.clear();
  for (auto& weak : std::vector{streams_}) {
    if (const auto s = weak.lock()) s->end({wire::code::unavailable, "fake: went down"});
  }
}

void fake_etcd::cut(std::size_t client) {
  for (auto& weak : std::vector{streams_}) {
    if (const auto s = weak.lock(); s && s->client() == client) s->end({wire::code::unavailable, "fake: cut"});
  }
}

void fake_etcd::stall(std::size_t client, moment until) { stalled_[client] = std::max(stalled_[client], until); }

void fake_etcd::join(const std::shared_ptr<stream_end>& s) {
  std::erase_if(streams_, [](const auto& weak) { return weak.expired(); });
  streams_.push_back(s);
}

// --- who somebody is ---

wire::status fake_etcd::check(std::string_view method, const std::string& token) const {
  if (password.empty() || method == "Authenticate" || method == "LeaseKeepAlive") return {};
  if (token.empty()) return {wire::code::invalid_argument, "etcdserver: user name is empty"};
  if (token == std::to_string(tokens_)) return {};
  return {wire::code::unauthenticated, "etcdserver: invalid auth token"};
}

wire::status fake_etcd::log_in(std::size_t server, const std::string& request, std::string& response) {
  ++logins;
  if (password.empty()) return {wire::code::failed_precondition, "etcdserver: authentication is not enabled"};
  if (parsed<pb::AuthenticateRequest>(request).password() != password) {
    return {wire::code::invalid_argument, "etcdserver: authentication failed, invalid user ID or password"};
  }
  pb::AuthenticateResponse r;
  r.mutable_header()->set_cluster_id(clusters[server]);
  r.set_token(std::to_string(tokens_));
  response = r.SerializeAsString();
  return {};
}

wire::status fake_etcd::execute(std::size_t server, std::string_view method, const std::string& request,
                                std::string& response) {
  wire::status s;
  if (learners[server] && method != "Status") {
    return {wire::code::failed_precondition, "etcdserver: rpc not supported for learner"};
  }
  if (method == "Range") {
    pb::RangeResponse r;
    s = data.range(parsed<pb::RangeRequest>(request), r);
    r.mutable_header()->set_cluster_id(clusters[server]);
    response = r.SerializeAsString();
  } else if (method == "Txn") {
    pb::TxnResponse r;
    s = data.transact(parsed<pb::TxnRequest>(request), r);
    response = r.SerializeAsString();
    tell_watchers();
  } else if (method == "LeaseGrant") {
    response = data.grant(parsed<pb::LeaseGrantRequest>(request).ttl()).SerializeAsString();
  } else if (method == "LeaseRevoke") {
    data.revoke(parsed<pb::LeaseRevokeRequest>(request).id());
    tell_watchers();
  } else if (method == "LeaseTimeToLive") {
    response = data.time_to_live(parsed<pb::LeaseTimeToLiveRequest>(request).id()).SerializeAsString();
  } else if (method == "Status") {
    pb::StatusResponse r;
    *r.mutable_header() = data.header();
    r.mutable_header()->set_cluster_id(clusters[server]);
    r.mutable_header()->set_member_id(server + 1);
    if (versions[server].empty()) return {wire::code::permission_denied, "etcdserver: permission denied"};
    r.set_version(versions[server]);
    response = r.SerializeAsString();
  } else if (method == "Authenticate") {
    s = log_in(server, request, response);
  } else {
    throw std::logic_error("the fake etcd does not know " + std::string{method});
  }
  return s;
}

void fake_etcd::tell_watchers() {
  for (auto& weak : std::vector{streams_}) {
    if (const auto s = weak.lock()) s->tell();
  }
}

}  // namespace tyer::sim::etcd
