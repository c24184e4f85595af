// show and list, for people. Programs in Go are shown too, by the lease of their session.
#include "engines/etcd/go/engine.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tyer::etcd::go {

namespace {

constexpr std::uint32_t keys_per_page = 100;                  // and so at most as many names, each a read of its own
constexpr milliseconds unknown_left{std::chrono::hours{24}};  // until its lease tells

std::string owner_of(const place& p) {
  if (p.record) return p.record->owner();
  return "key " + p.key;
}

tyer::engine::entry described(const std::string& name, const place& p, bool waits) {
  auto left = unknown_left;
  if (p.record) left = milliseconds{static_cast<std::int64_t>(waits ? p.record->lease_ms() : p.record->ttl_ms())};
  return {p.who, name, waits ? fate::waiting : fate::holding, mode::exclusive, left, waits ? 0 : p.part(), owner_of(p)};
}

}  // namespace

void go_engine::do_show(std::string_view name, const call_ptr<tyer::engine::page>& c) {
  show_names(start_listing(c), {std::string{name}});
}

// Nothing at a key says whether it waits: that is so of all but the first. While a look is under way that is not known.
bool go_engine::of_holders(const std::string& name, const pb::Event& e) {
  const auto at = first_.find(name);
  if (at == first_.end() || at->second.key.empty()) return true;
  if (at->second.key != e.kv().key()) return false;
  if (e.type() == pb::Event::DELETE) at->second.key.clear();
  return true;
}

void go_engine::do_look(std::string_view name, bool waiters, const call_ptr<tyer::engine::page>& c) {
  auto x = start_listing(c);
  x->holders_only = !waiters;
  x->brief = true;
  std::erase_if(first_, [this](const auto& other) { return !is_observed(other.first); });
  auto& f = first_[std::string{name}];
  x->look = ++f.look;
  f.key.clear();
  show_names(x, {std::string{name}});
}

// A page is the names of some keys, whole: who holds and who waits is seen only from all keys of a name.
void go_engine::do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                        const call_ptr<tyer::engine::page>& c) {
  auto x = start_listing(c);
  auto range = layout_.beginning_with(prefix);
  if (cursor > range.from) range.from = std::string{cursor};
  pb::RangeRequest r;
  read_all(r, range);
  r.set_limit(std::clamp(limit, 1u, keys_per_page));
  link_.call<pb::RangeRequest, pb::RangeResponse>(method::range, std::move(r), x->call->deadline,
                                                  [this, x](const failure* f, pb::RangeResponse& answer) {
                                                    if (f != nullptr) return calls().fail(*x->call, *f);
                                                    take_page(x, answer);
                                                  });
}

void go_engine::take_page(const std::shared_ptr<listing>& x, const pb::RangeResponse& answer) {
  std::set<std::string> names;
  for (const auto& kv : answer.kvs()) {
    if (auto name = layout_.name_of(kv.key()); name && kv.lease() != 0) names.insert(*std::move(name));
  }
  if (answer.more()) x->cursor = answer.kvs(answer.kvs_size() - 1).key() + '\0';
  show_names(x, names);
}

void go_engine::show_names(const std::shared_ptr<listing>& x, const std::set<std::string>& names) {
  if (names.empty()) return ask_time_left(x);
  pb::TxnRequest t;
  for (const auto& name : names) read_all(*t.add_success()->mutable_request_range(), layout_.room(name));
  link_.call<pb::TxnRequest, pb::TxnResponse>(
      method::txn, std::move(t), x->call->deadline, [this, x, names](const failure* f, pb::TxnResponse& answer) {
        if (f != nullptr) return calls().fail(*x->call, *f);
        int i = 0;
        for (const auto& name : names) {
          const auto read = go::read(layout_, name, answer.responses(i++).response_range());
          const auto* all = std::get_if<0>(&read);
          if (all == nullptr) continue;  // of no lock
          const auto found = first_.find(name);
          if (found != first_.end() && found->second.look == x->look && !all->empty())
            found->second.key = all->front().key;
          for (const place& p : *all) x->all.push_back({described(name, p, &p != all->data()), p.lease});
        }
        ask_time_left(x);
      });
}

}  // namespace tyer::etcd::go
