// The engine of Tyer's own layout, as a whole: what it can, and what the frame asks of it.
#include "engines/etcd/locks/engine.hpp"

#include "engine/table.hpp"
#include "engines/etcd/go/make.hpp"

#include <algorithm>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t keep_batch = 100;  // one read each in a transaction of at most 128 operations

}  // namespace

etcd_engine::etcd_engine(const config& c, const tyer::engine::environment& e)
    : frame(c, e, "etcd://", keys{e.prefix}.beginning_with("").from), keys_(e.prefix), numbers_(e.ids->next()) {
  watches_.on_progress = [this](std::uint64_t stream, const pb::ResponseHeader& h) {
    fresh_.on_progress(stream, h.member_id(), h.revision());
  };
}

tyer::engine::capabilities etcd_engine::can() const noexcept {
  return {.queue = true,
          .shared = true,
          .permits = true,
          .push = true,
          .token = true,
          .convert = true,
          .lock_delay = false,
          .watch = true,
          .ttl_min = 1ms,  // a hold's end is its client's doing; only after a crash it is the lease's, 2 s at the least
          .keep_batch = keep_batch};
}

void etcd_engine::set_back(std::int64_t revision) {
  numbers_.draw_anew(around().ids->next());
  for (auto& [key, w] : key_watches_) w.last.reset();
  for (auto& [who, m] : mine_) {
    is_known_as_of(m, revision);
    m.line.clear();
  }
}

void etcd_engine::look_for_turns() {
  looks_.end_all();
  for (const auto& [who, m] : mine_) {
    if (m.upgrading) look_after(who, {});
  }
  lookouts_.arm_all(now());
}

void etcd_engine::watch_lasting(const id& who) {
  if (const auto at = mine_.find(who); at != mine_.end()) watch_own(at->second);
}

std::set<std::int64_t> etcd_engine::leases_of_holds() const {
  std::set<std::int64_t> all;
  for (const auto& [who, m] : mine_) {
    if (!m.waits && !m.handed_over) all.insert(m.lease);
  }
  return all;
}

}  // namespace tyer::etcd

TYER_EXPORT tyer::engine::made tyer_engine_etcd(tyer::core::uri& address, const tyer::engine::environment& e) {
  if (const auto protocol = address.take("protocol")) {
    if (*protocol == "go") return tyer::etcd::go::make(address, e);
    return {nullptr, {tyer::errc::invalid_uri, "?protocol= must be go, or left out"}};
  }
  if (auto f = tyer::etcd::keys::check_prefix(e.prefix)) return {nullptr, std::move(f)};
  auto read = tyer::etcd::read(address);
  if (read.error) return {nullptr, std::move(read.error)};
  return {std::make_unique<tyer::etcd::etcd_engine>(read.value, e), {}};
}
