#include "engines/etcd/client/sweeper.hpp"

#include "engines/etcd/client/link.hpp"

#include <utility>

namespace tyer::etcd {

namespace {

void look_for(pb::TxnRequest& t, const std::string& key) { t.add_failure()->mutable_request_range()->set_key(key); }

// One that is only looked for is compared with what it cannot be.
pb::TxnRequest one_by_one(const std::vector<sweeper::one>& all) {
  pb::TxnRequest t;
  for (const auto& o : all) {
    auto& step = *t.add_success()->mutable_request_txn();
    auto& c = *step.add_compare();
    c.set_key(o.key);
    c.set_target(pb::Compare::MOD);
    c.set_mod_revision(o.modified != 0 ? o.modified : -1);
    step.add_success()->mutable_request_delete_range()->set_key(o.key);
    look_for(step, o.key);
  }
  return t;
}

std::vector<sweeper::verdict> read(std::vector<sweeper::one> all, const pb::TxnResponse& answer) {
  std::vector<sweeper::verdict> verdicts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& step = answer.responses(static_cast<int>(i)).response_txn();
    pb::KeyValue there;
    if (!step.succeeded() && step.responses_size() > 0 && step.responses(0).response_range().kvs_size() > 0) {
      there = step.responses(0).response_range().kvs(0);
    }
    verdicts.push_back({std::move(all[i]), std::move(there)});
  }
  return verdicts;
}

}  // namespace

void sweeper::aim(std::shared_ptr<wire::channel> c, std::string token) {
  const std::lock_guard lock{mutex_};
  to_.swap(c);  // the old one is let go of without the mutex
  token_ = std::move(token);
}

bool sweeper::aimed() const {
  const std::lock_guard lock{mutex_};
  return to_ != nullptr;
}

void sweeper::sweep(std::vector<one> all, std::chrono::milliseconds within, told back) {
  wire::order o{nullptr, method::txn, {}, wire::told::anywhere};
  {
    const std::lock_guard lock{mutex_};
    o.to = to_;
    o.token = token_;
  }
  if (!o.to) return back({wire::code::unavailable, "nobody can be reached", false}, {});
  const auto request = one_by_one(all).SerializeAsString();
  wire::call(o, request, within,
             [all = std::move(all), back = std::move(back)](wire::status s, const std::string& bytes) mutable {
               pb::TxnResponse answer;
               const auto expected = static_cast<int>(all.size());
               if (s.ok() && (!answer.ParseFromString(bytes) || answer.responses_size() != expected)) {
                 s = {wire::code::unavailable, "the answer cannot be read"};
               }
               back(s, s.ok() ? read(std::move(all), answer) : std::vector<verdict>{});
             });
}

}  // namespace tyer::etcd
