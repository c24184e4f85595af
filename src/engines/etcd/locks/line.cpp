#include "engines/etcd/locks/line.hpp"

#include <algorithm>

namespace tyer::etcd {

pb::Line line_behind_next(const ledger& l, bool more) {
  pb::Line line;
  line.set_goes_on(more);
  const auto queue = l.queue();
  for (std::size_t i = 1; i < queue.size(); ++i) {
    const seat& s = *queue[i];
    if (s.how() != mode::exclusive) {
      line.set_goes_on(true);
      break;
    }
    auto& p = *line.add_next();
    p.set_at(std::string{s.at.view()});
    p.set_created(s.created);
    p.set_modified(s.modified);
    p.set_lease(s.lease);
    p.set_value(write_value(s.record));
  }
  return line;
}

std::optional<ledger> hold_and_next(const keys& names, const std::string& name, const own_hold& own, pb::Line& line,
                                    std::int64_t revision) {
  if (line.next().empty()) return std::nullopt;
  pb::RangeResponse both;
  const auto add = [&](const id& at, std::int64_t created, std::int64_t modified, std::int64_t lease,
                       std::string value) {
    auto& kv = *both.add_kvs();
    kv.set_key(names.seat(name, at));
    kv.set_create_revision(created);
    kv.set_mod_revision(modified);
    kv.set_lease(lease);
    kv.set_value(std::move(value));
  };
  pb::Record hold;
  hold.set_state(pb::Record::HOLDING);
  hold.set_id(std::string{own.who.view()});
  add(own.at, own.created, own.modified, own.lease, write_value(hold));
  auto& next = *line.mutable_next(0);
  add(id::from(next.at()), next.created(), next.modified(), next.lease(), std::move(*next.mutable_value()));
  line.mutable_next()->DeleteSubrange(0, 1);
  auto l = ledger::from(names, both, revision);
  auto* const read = std::get_if<ledger>(&l);
  return read != nullptr ? std::optional{std::move(*read)} : std::nullopt;
}

void tell_line(ledger& l, const pb::Line& line) {
  if (l.floor() != 0 || l.floor_is_dirty()) return;
  const auto next = std::ranges::find_if(
      l.seats(), [](const seat& s) { return s.dirty && !s.removed && s.record.state() == pb::Record::HANDED_OVER; });
  if (next != l.seats().end()) next->record.set_line(line.SerializeAsString());
}

}  // namespace tyer::etcd
