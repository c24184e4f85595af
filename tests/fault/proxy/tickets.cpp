#include "proxy/tickets.hpp"

#include <charconv>
#include <cstring>
#include <optional>

namespace fault {

namespace {

constexpr std::size_t id_bytes = 16;
constexpr std::int64_t ms = 1'000'000;

template <class T>
std::optional<T> number(std::string_view digits) {
  T n{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc{} || end == digits.data()) return std::nullopt;
  return n;
}

// prefix{fault/12}
std::optional<std::uint16_t> name_of(std::string_view key) {
  static constexpr std::string_view before = "{fault/";
  const auto at = key.find(before);
  return at == key.npos ? std::nullopt : number<std::uint16_t>(key.substr(at + before.size()));
}

// Both halves of an id are random, the first once for each client.
std::uint64_t number_of(std::string_view id) {
  std::uint64_t halves[2];
  std::memcpy(halves, id.data(), sizeof halves);
  return halves[0] * 0x9e3779b97f4a7c15u ^ halves[1];
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t n = 0;
  for (const char c : bytes) n = n << 8 | static_cast<unsigned char>(c);
  return n;
}

// How long the place is good, and the mode. Terms are packed '>I6I6I7I7I6I4', of which the second is the place, in ms;
// then, unless it is plainly exclusive, comes the letter of the mode.
void read_terms(std::string_view terms, ticket& t) {
  if (terms.size() < 36) return;
  t.place_ns = static_cast<std::int64_t>(big_endian(terms.substr(6, 6))) * ms;
  if (terms.size() == 36) return;
  t.how = terms[36] == 's' ? mode::shared : terms[36] == 'p' ? mode::permit : mode::exclusive;
}

event about(const ticket& t, op what, std::int64_t at) {
  return {.t_ns = at, .hold = t.number, .name = t.name, .what = what, .how = t.how};
}

// The text of a bulk string, or the digits of a number.
std::string_view text_of(std::string_view message) {
  const auto end = message.find("\r\n");
  if (message.empty() || end == message.npos) return {};
  if (message[0] == ':') return message.substr(1, end - 1);
  const auto length = message[0] == '$' ? number<std::size_t>(message.substr(1, end - 1)) : std::nullopt;
  return length ? message.substr(end + 2, *length) : std::string_view{};
}

struct finding {
  standing what;
  std::uint64_t value = 0;
};

// "123", "s123 0-1": granted. "q3 500": waiting. Anything else says nothing about the queue.
std::optional<finding> of_acquire(std::string_view text, const ticket& t) {
  if (text.starts_with('q')) return finding{standing::waiting, static_cast<std::uint64_t>(t.place_ns)};
  const auto part = number<std::uint64_t>(text.starts_with('s') ? text.substr(1) : text);
  return part ? std::optional{finding{standing::granted, *part}} : std::nullopt;
}

// One letter for each. `h` has been handed the lock: its claim will tell which token part came with it.
std::optional<finding> of_keep(char letter, const ticket& t) {
  if (letter == 'w') return finding{standing::waiting, static_cast<std::uint64_t>(t.place_ns)};
  return letter == 'g' ? std::optional{finding{standing::gone}} : std::nullopt;
}

}  // namespace

std::vector<ticket> tickets_of(kind what, const std::vector<std::string_view>& words) {
  const bool acquires = what == kind::acquire || what == kind::claim;
  if (!acquires && what != kind::wait && what != kind::release) return {};
  const auto keys = words.size() > 2 ? number<std::size_t>(words[2]) : std::nullopt;
  if (!keys || words.size() < 3 + *keys) return {};
  const std::vector<std::string_view> arguments{words.begin() + 3 + static_cast<std::ptrdiff_t>(*keys), words.end()};
  const std::size_t ids_at = what == kind::wait ? 2 : 0;
  if (arguments.size() <= ids_at || arguments[ids_at].size() < id_bytes * *keys) return {};

  std::vector<ticket> all;
  for (std::size_t i = 0; i < *keys; ++i) {
    const auto name = name_of(words[3 + i]);
    if (!name) return {};
    ticket t{.number = number_of(arguments[ids_at].substr(i * id_bytes, id_bytes)), .name = *name};
    if (acquires && arguments.size() > 1) read_terms(arguments[1], t);
    if (what == kind::wait) t.place_ns = number<std::int64_t>(arguments[0]).value_or(0) * ms;
    all.push_back(t);
  }
  return all;
}

std::vector<event> request_events(kind what, const std::vector<ticket>& all, std::int64_t arrived) {
  std::vector<event> events;
  if (what == kind::wait) return events;
  for (const ticket& t : all) events.push_back(about(t, what == kind::release ? op::given_up : op::asked, arrived));
  return events;
}

std::vector<event> answer_events(kind what, const std::vector<ticket>& all, std::string_view message,
                                 std::int64_t arrived, std::int64_t read) {
  std::vector<event> events;
  const std::string_view text = text_of(message);
  if (what == kind::release || (what == kind::wait && text.size() != all.size())) return events;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto found = what == kind::wait ? of_keep(text[i], all[i]) : of_acquire(text, all[i]);
    if (!found) continue;
    event e = about(all[i], op::answered, read);
    e.deadline_ns = arrived;
    e.outcome = static_cast<std::uint8_t>(found->what);
    e.token = found->value;
    events.push_back(e);
  }
  return events;
}

}  // namespace fault
