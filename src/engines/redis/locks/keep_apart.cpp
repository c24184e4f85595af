#include "engines/redis/locks/keep_apart.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

namespace tyer::redis {

namespace {

using engine::failure;
using engine::fate;
using engine::outcome;
using engine::target;

struct gathering {
  engine::kept all;
  keep_reply back;
  std::size_t awaited = 0;
  bool any = false;
  engine::time_point sent = engine::time_point::max();
  failure wrong;
  engine::time_point wrong_sent;

  void take(std::span<const std::uint32_t> places, outcome<engine::kept>&& part) {
    if (const auto* f = std::get_if<failure>(&part.result)) {
      // Prefer `unknown` over `not_sent`: some of it may have been carried out.
      if (wrong_sent == engine::time_point{} || f->kind == engine::why::unknown) wrong = *f;
      wrong_sent = part.sent;
    } else {
      sent = std::min(sent, part.sent);
      const auto& said = std::get<engine::kept>(part.result);
      all.ttl = any ? std::min(all.ttl, said.ttl) : said.ttl;
      any = true;
      for (std::size_t i = 0; i < places.size() && i < said.fates.size(); ++i) all.fates[places[i]] = said.fates[i];
    }
    if (--awaited > 0) return;
    if (any)
      back({sent, std::move(all)});
    else
      back({wrong_sent, std::move(wrong)});
  }
};

}  // namespace

void keep_apart(std::span<const target> targets, keep_reply back,
                const std::function<void(std::span<const target>, keep_reply)>& keep) {
  const auto same = [&](std::uint32_t a, std::uint32_t b) { return targets[a].name == targets[b].name; };
  std::vector<std::uint32_t> order(targets.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return targets[a].name < targets[b].name; });
  if (order.empty() || same(order.front(), order.back())) return keep(targets, std::move(back));

  const auto g = std::make_shared<gathering>();
  g->all.fates.assign(targets.size(), fate::unknown);
  g->back = std::move(back);
  for (std::size_t i = 1; i <= order.size(); ++i) g->awaited += i == order.size() || !same(order[i - 1], order[i]);
  std::vector<target> of_one_name;
  for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
    of_one_name.clear();
    while (to < order.size() && same(order[from], order[to])) of_one_name.push_back(targets[order[to++]]);
    keep(of_one_name, [g, places = std::vector(order.begin() + static_cast<std::ptrdiff_t>(from),
                                               order.begin() + static_cast<std::ptrdiff_t>(to))](
                          outcome<engine::kept>&& part) { g->take(places, std::move(part)); });
  }
}

}  // namespace tyer::redis
