#include "engines/zookeeper/line.hpp"

#include "engines/zookeeper/names.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tyer::zookeeper {

namespace {

constexpr std::int32_t format = 1;

template <class N>
bool number_of(std::string_view text, N& out) {
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && at == end;
}

std::optional<id> read_id(std::string_view hex) {
  const auto raw = from_hex(hex);
  return raw && raw->size() == 16 && core::to_hex(*raw) == hex ? std::optional{id::from(*raw)} : std::nullopt;
}

bool read_mode(std::string_view word, contender& c) {
  if (word == "w") c.place = c.node;
  if (word == "x" || word == "w") return true;
  c.upgrading = word == "u";
  c.how = mode::shared;
  if (word == "s" || word == "u") return true;
  c.how = mode::permit;
  const auto dot = word.find('.');
  return word.starts_with('p') && dot != word.npos && number_of(word.substr(1, dot - 1), c.take) &&
         number_of(word.substr(dot + 1), c.capacity) && c.take > 0 && c.take <= c.capacity &&
         c.capacity <= capacity_max;
}

std::string word_of(mode how, std::uint32_t take, std::uint32_t capacity) {
  if (how == mode::permit) return 'p' + std::to_string(take) + '.' + std::to_string(capacity);
  return how == mode::exclusive ? "x" : "s";
}

// As the server writes it.
std::string padded(std::int32_t number) {
  std::string digits = std::to_string(number < 0 ? -static_cast<std::int64_t>(number) : number);
  const std::size_t width = number < 0 ? 9 : 10;
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return number < 0 ? '-' + digits : digits;
}

}  // namespace

std::optional<contender> read_contender(std::string_view node) {
  contender c;
  c.node = node;
  const auto dash = node.find('-');
  if (dash == node.npos || node.size() < dash + 34 || !read_mode(node.substr(0, dash), c)) return std::nullopt;
  const auto who = read_id(node.substr(dash + 1, 32));
  auto rest = node.substr(dash + 33);
  if (!who || !rest.starts_with('-')) return std::nullopt;
  c.who = *who;
  rest.remove_prefix(1);
  if (rest.ends_with('h') && !c.is_place()) rest.remove_suffix(1);
  if (c.upgrading) {
    const auto dot = rest.find('.'), last = rest.rfind('.');
    if (dot == last || !number_of(rest.substr(last + 1), c.mark)) return std::nullopt;
    const auto first = rest.substr(dot + 1, last - dot - 1);
    c.first = c.mark;
    if (!first.empty() && !number_of(first, c.first)) return std::nullopt;
    rest = rest.substr(0, dot);
  }
  if (!number_of(rest, c.number)) return std::nullopt;
  return c;
}

std::string new_node(mode how, const id& who, std::uint32_t take, std::uint32_t capacity) {
  return word_of(how, take, capacity) + '-' + core::to_hex(who) + '-';
}
std::string new_place(const id& who) { return "w-" + core::to_hex(who) + '-'; }
std::string moved_node(mode how, const contender& c) {
  return word_of(how, c.take, c.capacity) + '-' + core::to_hex(c.who) + '-' + padded(c.number) + 'h';
}
std::string upgrading_node(const contender& c, const contender* first_behind) {
  const auto first = first_behind != nullptr ? padded(first_behind->number) : std::string{};
  const auto mark = c.upgrading ? padded(c.mark) : std::string{};
  return "u-" + core::to_hex(c.who) + '-' + padded(c.number) + '.' + first + '.' + mark;
}

// --- who holds

static std::vector<contender> contenders_in(const std::vector<std::string>& children) {
  std::vector<contender> all;
  for (const auto& child : children) {
    if (auto c = read_contender(child)) all.push_back(std::move(*c));
  }
  return all;
}

line::line(const std::vector<std::string>& children) : line(contenders_in(children)) {}

line::line(std::vector<contender> all) : all_(std::move(all)) {
  std::ranges::sort(all_, {}, [](const contender& c) { return std::pair{c.number, std::string_view{c.node}}; });
  for (std::size_t i = 1; i < all_.size(); ++i) {
    const bool both = all_[i - 1].is_place() && all_[i].node == moved_node(mode::exclusive, all_[i - 1]);
    if (both) all_[i].place = std::exchange(all_[i - 1].node, {});
  }
  std::erase_if(all_, [](const contender& c) { return c.node.empty(); });
  count_holders();
}

void line::count_holders() noexcept {
  std::uint64_t taken = 0;
  for (holders_ = 0; holders_ < all_.size() && goes_with_those_before(holders_, taken); ++holders_) {
    taken += all_[holders_].take;
  }
}

bool line::goes_with_those_before(std::size_t place, std::uint64_t taken) const noexcept {
  const contender &c = all_[place], &first = all_.front();
  if (place == 0) return true;
  if (c.how == mode::exclusive || c.how != first.how) return false;
  if (c.how == mode::permit) return c.capacity == first.capacity && taken + c.take <= c.capacity;
  return std::ranges::none_of(all_, [&](const contender& u) { return u.upgrading && u.first <= c.number; });
}

const contender* line::find(const id& who) const noexcept {
  const auto at = std::find_if(all_.rbegin(), all_.rend(), [&](const contender& c) { return c.who == who; });
  return at == all_.rend() ? nullptr : &*at;
}

const contender* line::another_of(const id& who, std::int32_t number) const noexcept {
  const auto at = std::ranges::find_if(all_, [&](const contender& c) { return c.who == who && c.number != number; });
  return at == all_.end() ? nullptr : &*at;
}

const contender* line::upgrade() const noexcept {
  const contender* first = nullptr;
  for (const auto& c : all_) {
    if (c.upgrading && (first == nullptr || c.mark < first->mark)) first = &c;
  }
  return first;
}

const contender* line::unmarked_behind(const contender& c) const noexcept {
  if (holders_ == all_.size()) return nullptr;
  const contender& first = all_[holders_];
  return c.upgrading && c.first <= first.number ? nullptr : &first;
}

bool line::fits(mode how, std::uint32_t take, std::uint32_t capacity) const {
  if (holders_ < all_.size()) return false;
  if (all_.empty()) return true;
  std::uint64_t taken = 0;
  for (const auto& c : all_) taken += c.take;
  if (how == mode::exclusive || how != all_.front().how || upgrade() != nullptr) return false;
  return how == mode::shared || (capacity == all_.front().capacity && taken + take <= capacity);
}

const contender* line::in_the_way_of(const contender& c) const noexcept {
  if (c.how == mode::permit || c.upgrading) return nullptr;
  for (auto i = place(c); i-- > 0;) {
    const contender& before = all_[i];
    if (c.how == mode::exclusive || before.how != mode::shared) return &before;
    if (before.upgrading && before.first <= c.number) return &before;
  }
  return nullptr;
}

void line::remove(const id& who) {
  std::erase_if(all_, [&](const contender& c) { return c.who == who; });
  count_holders();
}

line line::with(const id& who, mode how) const {
  line next = *this;
  for (auto& c : next.all_) {
    if (c.who != who) continue;
    c.how = how;
    c.upgrading = false;
  }
  next.count_holders();
  return next;
}

// --- data

std::string write(const record& r) {
  wire::writer w;
  w.number(format).big(r.ttl.count()).big(r.session.count()).big(static_cast<std::int64_t>(r.part));
  return w.number(static_cast<std::int32_t>(r.times_asked)).text(r.asked).text(r.owner).take();
}

std::optional<record> read_record(std::string_view data) {
  wire::reader in{data};
  record r;
  const bool known = in.number() == format;
  r.ttl = milliseconds{in.big()};
  r.session = milliseconds{in.big()};
  r.part = static_cast<std::uint64_t>(in.big());
  r.times_asked = static_cast<std::uint32_t>(in.number());
  r.asked = in.text();
  r.owner = in.text();
  if (!known || !in.good()) return std::nullopt;
  return r;
}

std::string write(const record_of_name& r) {
  wire::writer w;
  w.number(format).flag(r.floor_is_this_write).big(r.floor).number(r.floor_up_to);
  w.number(static_cast<std::int32_t>(r.company.size()));
  for (const auto number : r.company) w.number(number);
  w.number(static_cast<std::int32_t>(r.slots.size()));
  for (const auto& [number, slots] : r.slots) {
    w.number(number).number(static_cast<std::int32_t>(slots.size()));
    for (const auto slot : slots) w.number(static_cast<std::int32_t>(slot));
  }
  return w.take();
}

std::optional<record_of_name> read_record_of_name(std::string_view data) {
  record_of_name r;
  if (data.empty()) return r;
  wire::reader in{data};
  bool known = in.number() == format;
  r.floor_is_this_write = in.flag();
  r.floor = in.big();
  r.floor_up_to = in.number();
  for (auto n = in.number(); n > 0 && in.good(); --n) r.company.push_back(in.number());
  for (auto n = in.number(); n > 0 && in.good(); --n) {
    auto& slots = r.slots[in.number()];
    for (auto k = in.number(); k > 0 && in.good(); --k) slots.push_back(static_cast<std::uint32_t>(in.number()));
    known &= std::ranges::all_of(slots, [](std::uint32_t slot) { return slot < capacity_max; });
  }
  if (!known || !in.good()) return std::nullopt;
  return r;
}

std::optional<std::uint64_t> record_of_name::part_of(const contender& c, std::uint64_t created,
                                                     std::int64_t modified) const {
  const auto least = floor_at(modified);
  if (created > part_at(least)) return created;
  return c.number <= floor_up_to ? std::optional{part_at(least, place_of(c))} : std::nullopt;
}

std::uint64_t record_of_name::place_of(const contender& c) const {
  const auto at = std::ranges::lower_bound(company, c.number) - company.begin();
  return std::min(static_cast<std::uint64_t>(at), places_per_write - 1);
}

void record_of_name::raise(const line& l) {
  floor = 0;
  floor_is_this_write = true;
  company.clear();
  for (std::size_t i = 0; i < l.holders(); ++i) {
    floor_up_to = l.all()[i].number;
    if (company.size() < places_per_write) company.push_back(floor_up_to);
  }
}

bool record_of_name::assign(const line& l) {
  const auto before = slots;
  std::erase_if(slots, [&](const auto& s) {
    return std::ranges::none_of(l.all(), [&](const contender& c) { return c.number == s.first && l.holds(c); });
  });
  std::vector<bool> taken;
  const auto take = [&](std::uint32_t slot) {
    if (slot >= taken.size()) taken.resize(slot + 1);
    taken[slot] = true;
  };
  for (const auto& [number, some] : slots) std::ranges::for_each(some, take);
  for (std::size_t i = 0; i < l.holders() && l.all()[i].how == mode::permit; ++i) {
    const contender& c = l.all()[i];
    if (slots.contains(c.number)) continue;
    auto& own = slots[c.number];
    for (std::uint32_t slot = 0; slot < c.capacity && own.size() < c.take; ++slot) {
      if (slot < taken.size() && taken[slot]) continue;
      own.push_back(slot);
      take(slot);
    }
  }
  return slots != before;
}

}  // namespace tyer::zookeeper
