// How long what is listed will last, as far as etcd tells.
#include "engines/etcd/frame.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

std::shared_ptr<frame::listing> frame::start_listing(const call_ptr<tyer::engine::page>& c) {
  return std::make_shared<listing>(listing{.call = c});
}

void frame::ask_time_left(const std::shared_ptr<listing>& x) {
  if (x->holders_only) std::erase_if(x->all, [](const found& f) { return f.e.what != fate::holding; });
  for (const auto& f : x->all) {
    x->seconds_left[f.lease] = -1;
    if (x->brief) break;
  }
  x->awaited = x->seconds_left.size();
  if (x->awaited == 0) return finish_page(x);
  for (auto& [lease, seconds] : x->seconds_left) {
    pb::LeaseTimeToLiveRequest r;
    r.set_id(lease);
    link_.call<pb::LeaseTimeToLiveRequest, pb::LeaseTimeToLiveResponse>(
        method::lease_time_to_live, std::move(r), x->call->deadline,
        [this, x, to = &seconds](const failure* f, pb::LeaseTimeToLiveResponse& answer) {
          if (f == nullptr) *to = answer.ttl();
          if (--x->awaited == 0) finish_page(x);
        });
  }
}

// etcd tells whole seconds that are over: at most one more is left.
void frame::finish_page(const std::shared_ptr<listing>& x) {
  if (x->call->over()) return;
  tyer::engine::page p;
  p.cursor = x->cursor;
  for (auto& f : x->all) {
    const auto at = x->seconds_left.find(f.lease);
    if (at != x->seconds_left.end() && at->second >= 0) {
      f.e.left = std::min<milliseconds>(f.e.left, std::chrono::seconds{at->second + 1});
    }
    p.entries.push_back(std::move(f.e));
  }
  calls().answer<tyer::engine::page>(*x->call, std::move(p));
}

}  // namespace tyer::etcd
