#include "engines/zookeeper/diagnosis.hpp"

#include "engines/kit/version.hpp"

#include <algorithm>

namespace tyer::zookeeper {

namespace {

using engine::finding;
using kit::version;

std::string_view line_after(std::string_view text, std::string_view start) {
  const auto at = text.find(start);
  if (at == text.npos) return {};
  const auto rest = text.substr(at + start.size());
  return rest.substr(0, rest.find('\n'));
}

constexpr version with_containers{3, 5, 3}, sound_8{3, 8, 5}, sound_9{3, 9, 3};

// ZOOKEEPER-4785, ZOOKEEPER-4394: what was confirmed may be missing after a crash.
bool may_lose_writes(const version& v) { return v < sound_8 || (v >= version{3, 9, 0} && v < sound_9); }

void examine_one(const said& one, std::vector<finding>& all) {
  const auto text = line_after(one.words, "Zookeeper version: ");
  if (text.empty()) {
    const bool answers = !one.words.empty();
    all.push_back({one.server + (answers ? " does not say what it is" : " does not answer"),
                   answers ? "let 4lw.commands.whitelist have srvr, so that it can be looked at"
                           : "see whether it runs, and whether a majority of the servers does",
                   answers ? 0 : 2});
    return;
  }
  const auto v = kit::read_version(text);
  const auto name = one.server + " is ZooKeeper " + shown(v);
  if (v < with_containers) {
    all.push_back({name + ", which has no containers", "upgrade to 3.8.5, 3.9.3 or later", 3});
  } else if (may_lose_writes(v)) {
    all.push_back({name + ": what it has confirmed may be missing after a crash (ZOOKEEPER-4785, ZOOKEEPER-4394)",
                   "upgrade to 3.8.5, 3.9.3 or later", 2});
  }
}

}  // namespace

std::string version_in(std::string_view words) {
  const auto text = line_after(words, "Zookeeper version: ");
  return text.empty() ? "" : shown(kit::read_version(text));
}

std::vector<finding> examine(const std::vector<said>& all) {
  std::vector<finding> found;
  for (const auto& one : all) examine_one(one, found);
  const auto alone =
      std::ranges::count_if(all, [](const said& one) { return line_after(one.words, "Mode: ") == "standalone"; });
  if (alone > 0 && all.size() > 1) {
    found.push_back({"the URI names several servers, and one of them knows of no other",
                     "name the servers of one ensemble only: else a lock has a holder at each of them", 3});
  } else if (alone > 0) {
    found.push_back({"one server alone: while it is away, nobody can lock", "three servers go on without any one", 0});
  }
  return found;
}

}  // namespace tyer::zookeeper
