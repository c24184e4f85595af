#include "sim/network.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sim {

pipe_ptr network::connect(std::size_t client, std::function<void(std::uint64_t, answers)> back) {
  auto p = std::make_shared<pipe>();
  p->client = client;
  p->back = std::move(back);
  return p;
}

duration network::latency(std::size_t client) {
  const weather& w = over[client];
  if (world_.now() < w.slow) return dice_.skewed(1ms, w.slowness);
  if (dice_.chance(5)) return dice_.between(2ms, 60ms);
  return dice_.between(100us, 900us);
}

bool network::push_is_lost(std::size_t client) {
  if (world_.now() < over[client].deaf) return true;
  return dice_.chance(5);
}

void network::send(const pipe_ptr& p, call_ptr c) {
  if (world_.now() < over[p->client].lossy && dice_.chance(150)) return;  // a request is lost
  p->under_way.push_back(c->serial);
  p->last_arrival = std::max(p->last_arrival, world_.now() + latency(p->client));
  world_.at(p->last_arrival, [this, p, c = std::move(c)]() mutable { arrive(p, std::move(c)); });
}

std::vector<std::uint64_t> network::cut(const pipe_ptr& p, bool lingers) {
  p->open = false;
  p->back = nullptr;
  if (lingers) {
    p->lingers_until = world_.now() + dice_.skewed(1ms, 6s);
    return {};
  }
  p->emptied = true;
  p->unread.clear();
  return {p->under_way.begin(), p->under_way.end()};
}

void network::arrive(const pipe_ptr& p, call_ptr c) {
  if (p->emptied) return;
  if (!p->open && world_.now() < p->lingers_until) {
    world_.at(p->lingers_until, [this, p, c = std::move(c)]() mutable { arrive(p, std::move(c)); });
    return;
  }
  if (!server_.up) return;
  if (server_.paused || !p->unread.empty()) {
    if (p->unread.empty()) waiting_.push_back(p);
    p->unread.push_back(std::move(c));
    return;
  }
  execute(p, *c);
}

void network::execute(const pipe_ptr& p, const call& c) {
  p->under_way.pop_front();
  answers a = server_.execute(c);
  // A retransmission: the same request once more, before anybody has seen an answer.
  if (world_.now() < over[p->client].repeating && dice_.chance(300)) a = server_.execute(c);
  if (!p->open) return;
  if (world_.now() < over[p->client].lossy && dice_.chance(150)) return;  // an answer is lost
  world_.in(latency(p->client), [p, serial = c.serial, a = std::make_unique<answers>(std::move(a))]() mutable {
    if (p->open && p->back) p->back(serial, std::move(*a));
  });
}

void network::resume_server() {
  server_.paused = false;
  auto all = std::exchange(waiting_, {});
  // In which order a server finds its sockets ready is anybody's guess.
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[dice_.below(i)]);
  for (const auto& p : all) read_all(p);
}

void network::drop_unread() {
  server_.paused = false;
  for (const auto& p : std::exchange(waiting_, {})) p->unread.clear();
}

void network::read_all(const pipe_ptr& p) {
  while (!p->unread.empty()) {
    const call_ptr c = std::move(p->unread.front());
    p->unread.pop_front();
    if (server_.up) execute(p, *c);
  }
}

}  // namespace tyer::sim
