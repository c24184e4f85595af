#include "engines/etcd/locks/lookouts.hpp"

#include <algorithm>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto put_off_max = 2s;

}  // namespace

void lookouts::join(const std::string& name, std::int64_t created, const id& who, time_point at) {
  const auto of = lines_.try_emplace(name).first;
  auto& line = of->second;
  try {
    line.waiting.emplace(created, who);
    if (line.waiting.size() == 1) arm(of->first, line, at);
  } catch (...) {
    line.waiting.erase({created, who});
    if (line.waiting.empty()) lines_.erase(of);
    throw;
  }
}

void lookouts::leave(const std::string& name, std::int64_t created, const id& who, time_point next_at) {
  const auto of = lines_.find(name);
  if (of == lines_.end()) return;
  auto& line = of->second;
  const auto at = line.waiting.find({created, who});
  if (at == line.waiting.end()) return;
  const bool was_first = at == line.waiting.begin();
  line.waiting.erase(at);
  if (line.waiting.empty()) {
    rest(line);
    lines_.erase(of);
  } else if (was_first) {
    put_off(of->first, line, next_at);
  }
}

void lookouts::put_off(const std::string& name, line& l, time_point at) {
  if (!l.armed) return arm(name, l, at);
  at = std::min(at, l.by);
  if (at > (*l.armed)->first) set(name, l, at);
}

void lookouts::arm(const std::string& name, time_point at) {
  if (const auto of = lines_.find(name); of != lines_.end()) arm(of->first, of->second, at);
}

void lookouts::arm_all(time_point at) {
  for (auto& [name, line] : lines_) arm(name, line, at);
}

void lookouts::arm(const std::string& name, line& l, time_point at) {
  if (l.armed && (*l.armed)->first <= at) return;
  if (!l.armed) l.by = at + put_off_max;
  set(name, l, at);
}

void lookouts::set(const std::string& name, line& l, time_point at) {
  const auto armed = times_.emplace(at, &name);
  rest(l);
  l.armed = armed;
}

void lookouts::rest(line& l) {
  if (l.armed) times_.erase(*l.armed);
  l.armed.reset();
}

std::optional<lookouts::id> lookouts::take_due(time_point now) {
  if (next() > now) return std::nullopt;
  auto& line = lines_.at(*times_.begin()->second);
  rest(line);
  return line.waiting.begin()->second;
}

}  // namespace tyer::etcd
