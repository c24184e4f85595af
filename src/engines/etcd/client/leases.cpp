#include "engines/etcd/client/leases.hpp"

#include <algorithm>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr milliseconds shortest = 2s;  // one and a half of etcd's usual election time-outs
constexpr std::size_t own_lengths_max = 16;
constexpr std::size_t leases_max = 32;  // more than twice as long each time, 16 reach beyond any ttl
constexpr std::size_t kept_max = 1000;  // of other clients too

}  // namespace

milliseconds rounded(milliseconds ttl) {
  return std::max<milliseconds>(shortest, std::chrono::ceil<std::chrono::seconds>(ttl));
}

leases::~leases() {
  if (stream_) stream_->cancel();
}

void leases::use(milliseconds ttl, time_point deadline, ready back, const std::set<std::int64_t>& avoid) {
  ttl = rounded(ttl);
  if (const lease* l = find(ttl, avoid)) return back(nullptr, l->id);
  auto& waiting = being_granted_[ttl];
  waiting.push_back(std::move(back));
  if (waiting.size() > 1) return;
  pb::LeaseGrantRequest r;
  r.set_ttl(std::chrono::duration_cast<std::chrono::seconds>(ttl).count());
  const auto sent = environment_.clock->now();
  try {
    link_.call<pb::LeaseGrantRequest, pb::LeaseGrantResponse>(
        method::lease_grant, std::move(r), deadline,
        [this, ttl, sent](const failure* f, pb::LeaseGrantResponse& a) { granted(ttl, sent, f, a); });
  } catch (...) {
    being_granted_.erase(ttl);  // nobody asks for it: the next tries again
    throw;
  }
}

void leases::start_anew() {
  const auto wrong = no(why::not_sent, errc::unavailable, "there was not enough memory to hear of its lease");
  for (auto& [ttl, waiting] : std::exchange(being_granted_, {})) {
    for (auto& w : waiting) w(&wrong, 0);
  }
}

// The one of that length. When there are enough, one that is a little longer will do: the keys' own deadlines are counted elsewhere,
// and only whoever dies stays for so long.
leases::lease* leases::find(milliseconds ttl, const std::set<std::int64_t>& avoid) {
  // With half of it over and nobody keeping it, it may be gone before it is used.
  std::erase_if(leases_,
                [this, now = environment_.clock->now()](const lease& l) { return kept_at(l.id) <= now - l.ttl / 2; });
  lease* best = nullptr;
  for (lease& l : leases_) {
    if (avoid.contains(l.id)) continue;
    if (l.asked == ttl) return &l;
    if (l.ttl >= ttl && l.ttl <= 2 * ttl && (best == nullptr || l.ttl < best->ttl)) best = &l;
  }
  return leases_.size() >= own_lengths_max ? best : nullptr;
}

void leases::granted(milliseconds ttl, time_point sent, const failure* f, const pb::LeaseGrantResponse& a) {
  failure wrong;
  if (f != nullptr) {
    wrong = *f;
    if (wrong.kind == why::unknown) wrong.kind = why::not_sent;  // what the lease was for has not been sent
  } else if (a.id() == 0) {
    wrong = no(why::refused, errc::refused, "etcd: " + a.error());
  } else {
    const milliseconds length = std::max<milliseconds>(ttl, std::chrono::seconds{a.ttl()});
    if (leases_.size() >= leases_max) {
      leases_.erase(std::ranges::min_element(leases_, {}, [this](const lease& l) { return kept_at(l.id); }));
    }
    leases_.push_back({a.id(), ttl, length});
    confirmed(a.id(), sent);
  }
  auto waiting = std::move(being_granted_[ttl]);
  being_granted_.erase(ttl);
  for (auto& w : waiting) w(wrong.code ? &wrong : nullptr, a.id());
}

time_point leases::kept_at(std::int64_t id) const {
  const auto at = kept_.find(id);
  return at != kept_.end() ? at->second : time_point::min();
}

void leases::confirmed(std::int64_t id, time_point sent) {
  auto& last = kept_.try_emplace(id, sent).first->second;
  last = std::max(last, sent);
  if (kept_.size() > kept_max) kept_.erase(std::ranges::min_element(kept_, {}, [](const auto& k) { return k.second; }));
}

void leases::forget(std::int64_t id) {
  kept_.erase(id);
  std::erase_if(leases_, [&](const lease& l) { return l.id == id; });
}

// --- keeping them alive ---

void leases::renew(std::int64_t id, time_point since, milliseconds ttl, renewed back) {
  if (!stream_) start_stream();
  if (!stream_) {
    return link_.later([back = std::move(back), wrong = link_.why_down()] { back(&wrong, false, time_point::min()); });
  }
  const auto same = [&](const asked& a) { return a.id == id && a.sent >= since; };
  if (const auto at = std::ranges::find_if(asked_, same); at != asked_.end()) {
    link_.hurry(at->expected, link_.patience(ttl));
    at->who.push_back(std::move(back));
    return;
  }
  asked_.push_back({id, environment_.clock->now(), link_.expect(link_.patience(ttl)), {}});
  asked_.back().who.push_back(std::move(back));
  pb::LeaseKeepAliveRequest r;
  r.set_id(id);
  stream_->send(std::move(r));
}

void leases::make_last(std::int64_t id, milliseconds ttl, milliseconds for_so_long) {
  const auto since = environment_.clock->now() + for_so_long - may_be_earlier(for_so_long) - ttl;
  if (kept_at(id) < since) renew(id, since, ttl, [](const failure*, bool, time_point) {});
}

void leases::answered(const pb::LeaseKeepAliveResponse& a) {
  const auto at = std::ranges::find(asked_, a.id(), &asked::id);
  if (at == asked_.end()) return;
  auto first = std::move(*at);
  asked_.erase(at);
  link_.arrived(first.expected);
  link_.took(first.sent);
  const bool alive = a.ttl() > 0;
  alive ? confirmed(a.id(), first.sent) : forget(a.id());
  for (auto& w : first.who) w(nullptr, alive, first.sent);
}

void leases::start_stream() {
  if (!link_.is_up()) return;
  const auto number = ++stream_number_;
  const auto stay = link_.stay();
  stream_ = link_.start<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>(
      method::lease_keep_alive,
      [this, number](pb::LeaseKeepAliveResponse&& a) {
        if (number == stream_number_) answered(a);
      },
      [this, number, stay](const wire::status& s) {
        if (number != stream_number_) return;
        end_stream();
        if (is_old_token(s)) link_.log_in_anew();
        link_.trouble(s, stay);
      });
}

// Whoever waits for an answer is told that it is not known.
void leases::end_stream() {
  ++stream_number_;
  if (stream_) stream_->cancel();
  stream_.reset();
  const auto wrong = no(why::unknown, errc::outcome_unknown, "the server broke off while it was asked to keep a lease");
  for (auto& a : std::exchange(asked_, {})) {
    link_.arrived(a.expected);
    for (auto& w : a.who) w(&wrong, false, a.sent);
  }
}

void leases::close(const std::set<std::int64_t>& in_use) {
  end_stream();
  for (const lease& l : leases_) {
    if (in_use.contains(l.id)) continue;
    pb::LeaseRevokeRequest r;
    r.set_id(l.id);
    link_.call<pb::LeaseRevokeRequest, pb::LeaseRevokeResponse>(
        method::lease_revoke, std::move(r), environment_.clock->now() + environment_.request_timeout,
        [](const failure*, pb::LeaseRevokeResponse&) {});
  }
  leases_.clear();
}

}  // namespace tyer::etcd
