#include "proxy/request.hpp"

#include "proxy/sha1.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace fault {

namespace {

constexpr std::size_t id_bytes = 16;
constexpr std::size_t ids_max = 1 << 16;

std::string upper(std::string_view word) {
  std::string text{word};
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

}  // namespace

kind kind_named(std::string_view name) {
  const auto found = std::find(kind_names.begin(), kind_names.end(), name);
  return found == kind_names.end() ? kind::other : static_cast<kind>(found - kind_names.begin());
}

void request_reader::add_rules(std::string_view lines) {
  std::istringstream input{std::string{lines}};
  for (std::string by, what, name; input >> by >> what >> name;) {
    const kind k = kind_named(name);
    if (k == kind::other || (by != "sha" && by != "text")) throw std::runtime_error{"not a rule: " + by + " " + what};
    if (by == "sha") {
      by_sha_[what] = k;
    } else {
      by_text_.emplace_back(what, k);
    }
  }
}

request request_reader::read(const std::vector<std::string_view>& words) {
  if (words.empty()) return {};
  const std::string command = upper(words[0]);
  const kind what = kind_of(command, words);
  ++counts_[static_cast<std::size_t>(what)];
  return {what, !command.ends_with("SUBSCRIBE")};
}

kind request_reader::kind_of(const std::string& command, const std::vector<std::string_view>& words) {
  kind what = kind::other;
  if (command == "EVALSHA" && words.size() > 1) {
    const auto found = by_sha_.find(std::string{words[1]});
    if (found != by_sha_.end()) what = found->second;
  } else if (command == "EVAL" && words.size() > 1) {
    what = learn(words[1]);
  } else if (command == "SCRIPT" && words.size() > 2 && upper(words[1]) == "LOAD") {
    learn(words[2]);
  }
  return what == kind::acquire && seen_before(words) ? kind::claim : what;
}

kind request_reader::learn(std::string_view script) {
  const auto [entry, is_new] = by_sha_.try_emplace(sha1_hex(script), kind::other);
  if (!is_new) return entry->second;
  for (const auto& [piece, what] : by_text_) {
    if (script.find(piece) != std::string_view::npos) return entry->second = what;
  }
  return kind::other;
}

bool request_reader::seen_before(const std::vector<std::string_view>& words) {
  std::size_t keys = 0;
  if (words.size() > 2) std::from_chars(words[2].data(), words[2].data() + words[2].size(), keys);
  if (words.size() <= 3 + keys) return false;
  const std::string id{words[3 + keys].substr(0, id_bytes)};
  const bool seen = older_ids_.contains(id) || !ids_.insert(id).second;
  if (ids_.size() > ids_max) {
    older_ids_ = std::move(ids_);
    ids_.clear();
  }
  return seen;
}

}  // namespace fault
