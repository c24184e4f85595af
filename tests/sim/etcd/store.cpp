#include "sim/etcd/store.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace tyer::sim::etcd {

namespace {

constexpr int operations_max = 128;

bool within(const std::string& key, const std::string& from, const std::string& to) {
  return to.empty() ? key == from : key >= from && key < to;
}

std::int64_t target_of(const pb::Compare& c, const pb::KeyValue& kv) {
  if (c.target() == pb::Compare::CREATE) return kv.create_revision();
  if (c.target() == pb::Compare::MOD) return kv.mod_revision();
  throw std::logic_error("the fake etcd compares nothing but revisions");
}

bool compare(const pb::Compare& c, const pb::KeyValue& kv) {
  const auto is = target_of(c, kv);
  const auto asked = c.target() == pb::Compare::CREATE ? c.create_revision() : c.mod_revision();
  switch (c.result()) {
    case pb::Compare::EQUAL: return is == asked;
    case pb::Compare::LESS: return is < asked;
    case pb::Compare::GREATER: return is > asked;
    default: return is != asked;
  }
}

}  // namespace

pb::ResponseHeader store::header() const {
  pb::ResponseHeader h;
  h.set_cluster_id(1);
  h.set_member_id(1);
  h.set_revision(revision_);
  return h;
}

wire::status store::range(const pb::RangeRequest& r, pb::RangeResponse& out) const {
  *out.mutable_header() = header();
  std::vector<const pb::KeyValue*> found;
  for (const auto& [key, kv] : keys_) {
    if (!within(key, r.key(), r.range_end())) continue;
    if (r.max_create_revision() != 0 && kv.create_revision() > r.max_create_revision()) continue;
    found.push_back(&kv);
  }
  if (r.sort_target() == pb::RangeRequest::CREATE && lie_ != lie::sorts_nothing) {
    std::ranges::stable_sort(found, {}, [](const auto* kv) { return kv->create_revision(); });
  }
  if (r.sort_order() == pb::RangeRequest::DESCEND) std::ranges::reverse(found);
  out.set_count(static_cast<std::int64_t>(found.size()));
  if (r.limit() != 0 && found.size() > static_cast<std::size_t>(r.limit())) {
    found.resize(static_cast<std::size_t>(r.limit()));
    out.set_more(true);
  }
  if (r.count_only()) found.clear();
  for (const auto* kv : found) *out.add_kvs() = *kv;
  return {};
}

// --- transactions ---

bool store::holds_true(const pb::Compare& c) const {
  bool some = false;
  for (const auto& [key, kv] : keys_) {
    if (!within(key, c.key(), c.range_end())) continue;
    some = true;
    if (!compare(c, kv)) return false;
  }
  return some || compare(c, {});  // a key that is not there has only zeros
}

bool store::succeeds(const pb::TxnRequest& t) const {
  const bool deletes = std::ranges::any_of(t.success(), [](const auto& op) { return op.has_request_delete_range(); });
  const bool blind = lie_ == lie::compares_nothing || (lie_ == lie::deletes_whatever_is_new && deletes);
  return blind || std::ranges::all_of(t.compare(), [this](const auto& c) { return holds_true(c); });
}

// Of what it will do, as it is now: etcd compares everything before it writes anything.
wire::status store::check(const pb::TxnRequest& t) const {
  if (t.compare_size() > operations_max || t.success_size() > operations_max || t.failure_size() > operations_max) {
    return {wire::code::invalid_argument, "etcdserver: too many operations in txn request"};
  }
  std::set<std::string> written;
  for (const auto& op : succeeds(t) ? t.success() : t.failure()) {
    if (op.has_request_txn()) {
      if (auto wrong = check(op.request_txn()); !wrong.ok()) return wrong;
      continue;
    }
    const auto& key = op.has_request_put() ? op.request_put().key() : op.request_delete_range().key();
    if (!op.has_request_range() && !written.insert(key).second) {
      return {wire::code::invalid_argument, "etcdserver: duplicate key given in txn request"};
    }
    if (op.has_request_put() && op.request_put().lease() != 0 && !leases_.contains(op.request_put().lease())) {
      return {wire::code::not_found, "etcdserver: requested lease not found"};
    }
  }
  return {};
}

wire::status store::transact(const pb::TxnRequest& t, pb::TxnResponse& out) {
  if (auto wrong = check(t); !wrong.ok()) {
    *out.mutable_header() = header();
    return wrong;
  }
  const auto before = on_write ? keys_ : decltype(keys_){};
  const auto next = revision_ + 1;
  auto status = transact(t, out, next);
  *out.mutable_header() = header();
  if (revision_ == next) wrote(before);
  return status;
}

// One inside another is of the same revision.
wire::status store::transact(const pb::TxnRequest& t, pb::TxnResponse& out, std::int64_t next) {
  const bool yes = succeeds(t);
  out.set_succeeded(yes);
  for (const auto& op : yes ? t.success() : t.failure()) {
    auto& answer = *out.add_responses();
    if (op.has_request_range()) {
      range(op.request_range(), *answer.mutable_response_range());
    } else if (op.has_request_txn()) {
      transact(op.request_txn(), *answer.mutable_response_txn(), next);
    } else if (op.has_request_put()) {
      put(op.request_put(), next);
      answer.mutable_response_put();
    } else {
      const auto& d = op.request_delete_range();
      answer.mutable_response_delete_range()->set_deleted(remove(d.key(), d.range_end(), next));
    }
  }
  return {};
}

void store::put(const pb::PutRequest& p, std::int64_t revision) {
  auto& kv = keys_[p.key()];
  kv.set_key(p.key());
  if (kv.create_revision() == 0) kv.set_create_revision(revision);
  kv.set_mod_revision(revision);
  kv.set_value(p.value());
  kv.set_lease(p.lease());
  auto& e = history_.emplace_back();
  e.set_type(pb::Event::PUT);
  *e.mutable_kv() = kv;
  revision_ = revision;
}

std::int64_t store::remove(const std::string& from, const std::string& to, std::int64_t revision) {
  const auto deleted = std::erase_if(keys_, [&](const auto& item) {
    if (!within(item.first, from, to)) return false;
    auto& e = history_.emplace_back();
    e.set_type(pb::Event::DELETE);
    e.mutable_kv()->set_key(item.first);
    e.mutable_kv()->set_mod_revision(revision);
    return true;
  });
  if (deleted > 0) revision_ = revision;
  return static_cast<std::int64_t>(deleted);
}

void store::wrote(const std::map<std::string, pb::KeyValue>& before) {
  if (on_write) on_write(before);
}

std::vector<pb::Event> store::since(std::int64_t revision) const {
  if (lie_ == lie::tells_no_watcher) return {};
  auto first = history_.end();
  while (first != history_.begin() && std::prev(first)->kv().mod_revision() >= revision) --first;
  return {first, history_.end()};
}

// --- leases ---

pb::LeaseGrantResponse store::grant(std::int64_t seconds) {
  leases_[++last_lease_] = {seconds, world_.now() + std::chrono::seconds{seconds}};
  pb::LeaseGrantResponse r;
  r.set_id(last_lease_);
  r.set_ttl(seconds);
  return r;
}

// One whose time is over is gone for whoever would keep it, even while its keys are still there.
pb::LeaseKeepAliveResponse store::keep_alive(std::int64_t id) {
  pb::LeaseKeepAliveResponse r;
  r.set_id(id);
  const auto at = leases_.find(id);
  if (at == leases_.end() || at->second.ends <= world_.now()) return r;
  if (lie_ != lie::says_kept_and_keeps_not) {
    at->second.ends = world_.now() + std::chrono::seconds{at->second.seconds};
  }
  r.set_ttl(at->second.seconds);
  return r;
}

pb::LeaseTimeToLiveResponse store::time_to_live(std::int64_t id) const {
  pb::LeaseTimeToLiveResponse r;
  r.set_id(id);
  r.set_ttl(-1);
  if (const auto at = leases_.find(id); at != leases_.end()) {
    r.set_ttl(std::chrono::duration_cast<std::chrono::seconds>(at->second.ends - world_.now()).count());
    r.set_granted_ttl(at->second.seconds);
  }
  return r;
}

void store::revoke(std::int64_t id) {
  if (leases_.erase(id) == 0) return;
  const auto before = keys_;
  const auto next = revision_ + 1;
  for (const auto& [key, kv] : before) {
    if (kv.lease() == id) remove(key, {}, next);
  }
  if (revision_ == next) wrote(before);
}

void store::end_leases() {
  if (lie_ == lie::leases_never_end) return;
  std::vector<std::int64_t> over;
  for (const auto& [id, l] : leases_) {
    if (l.ends <= world_.now()) over.push_back(id);
  }
  for (const auto id : over) revoke(id);
}

void store::renew_leases() {
  for (auto& [id, l] : leases_) l.ends = world_.now() + std::chrono::seconds{l.seconds};
}

void store::save() { saved_ = copy{keys_, leases_, revision_}; }

bool store::restore() {
  if (!saved_) return false;
  keys_ = saved_->keys;
  leases_ = saved_->leases;
  revision_ = saved_->revision;
  compacted_ = std::min(compacted_, revision_);
  std::erase_if(history_, [this](const pb::Event& e) { return e.kv().mod_revision() > revision_; });
  renew_leases();
  return true;
}

void store::restarted() {
  renew_leases();
  if (lie_ == lie::revisions_run_backwards) revision_ -= std::min<std::int64_t>(revision_ - 10, 300);
}

}  // namespace tyer::sim::etcd
