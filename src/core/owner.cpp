#include "core/owner.hpp"

#include "core/site.hpp"

#include <algorithm>
#include <charconv>

namespace tyer::core {

namespace {

constexpr std::size_t label_bytes_max = 128;
constexpr std::string_view before_pid = " pid ", before_since = " @";
constexpr std::string_view no_site = ":0";  // the caller gave no source location

template <class T>
std::optional<T> number(std::string_view text) noexcept {
  T n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

std::string_view first_line(std::string_view text) noexcept { return text.substr(0, text.find('\n')); }

// Takes the time off the end of a line, if there is one.
std::optional<wall_time> take_since(std::string_view& line) noexcept {
  constexpr std::int64_t ms_max = 1LL << 43;  // the year 2248: a later value is no time, and would overflow a clock
  const auto at = line.rfind(before_since);
  if (at == line.npos) return std::nullopt;
  const auto ms = number<std::int64_t>(line.substr(at + before_since.size()));
  if (!ms || *ms < 0 || *ms > ms_max) return std::nullopt;
  line = line.substr(0, at);
  return wall_time{std::chrono::milliseconds{*ms}};
}

bool is_site(std::string_view text) noexcept {
  const auto colon = text.rfind(':');
  if (text == no_site) return true;
  return colon != text.npos && colon > 0 && number<std::uint32_t>(text.substr(colon + 1));
}

}  // namespace

std::string owner_identity(std::string_view host, std::uint64_t pid, std::string_view label) {
  std::string text{host};
  text.append(before_pid).append(std::to_string(pid)).append(1, ' ').append(label.substr(0, label_bytes_max));
  std::ranges::replace(text, '\n', ' ');  // text after a line break is the note of a lock
  return text;
}

std::string owner_text(std::string_view identity, std::string_view file, std::uint32_t line, wall_time since,
                       std::string_view note) {
  constexpr std::size_t line_bytes_max = 10;
  const std::string ms =
      std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(since.time_since_epoch()).count());
  std::string text;
  text.reserve(identity.size() + file.size() + line_bytes_max + ms.size() + note.size() + 5);
  text.append(identity).append(1, ' ');
  append_site(text, file, line);
  text.append(before_since).append(ms);
  if (!note.empty()) text.append(1, '\n').append(note);
  return text;
}

std::optional<owner> read_owner(std::string_view text) noexcept {
  auto line = first_line(text);
  owner o;
  if (line.size() < text.size()) o.note = text.substr(line.size() + 1);
  o.since = take_since(line);

  const auto pid_at = line.find(before_pid);
  if (pid_at == line.npos || pid_at == 0) return std::nullopt;
  o.host = line.substr(0, pid_at);
  line.remove_prefix(pid_at + before_pid.size());

  const auto label_at = line.find(' ');
  const auto site_at = line.rfind(' ');
  if (label_at == line.npos || !is_site(line.substr(site_at + 1))) return std::nullopt;
  const auto pid = number<std::uint64_t>(line.substr(0, label_at));
  if (!pid) return std::nullopt;
  o.pid = *pid;
  o.site = line.substr(site_at + 1);
  if (o.site == no_site) o.site = {};
  if (site_at > label_at) o.label = line.substr(label_at + 1, site_at - label_at - 1);
  return o;
}

std::string_view owner_in_short(std::string_view text) noexcept {
  auto line = first_line(text);
  take_since(line);
  if (constexpr std::string_view at_end = " :0"; line.ends_with(at_end)) line.remove_suffix(at_end.size());  // no site
  return line;
}

}  // namespace tyer::core
