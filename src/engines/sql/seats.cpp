#include "engines/sql/seats.hpp"

#include "engines/sql/exchange.hpp"

#include <utility>

namespace tyer::sql {

namespace {

class writer {
 public:
  template <class T>
  void number(T v) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      out_.push_back(static_cast<char>(static_cast<std::uint64_t>(v) >> (8 * i)));
  }
  void text(std::string_view t) {
    number(static_cast<std::uint32_t>(t.size()));
    out_.append(t);
  }
  void raw(std::string_view t) { out_.append(t); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class reader {
 public:
  explicit reader(std::string_view in) : in_(in) {}
  template <class T>
  T number() {
    std::uint64_t v = 0;
    const auto part = raw(sizeof(T));
    for (std::size_t i = 0; i < part.size(); ++i) v |= std::uint64_t{static_cast<std::uint8_t>(part[i])} << (8 * i);
    return static_cast<T>(v);
  }
  std::string_view text() { return raw(number<std::uint32_t>()); }
  std::string_view raw(std::size_t n) {
    if (n > in_.size()) {
      bad_ = true;
      return {};
    }
    const auto part = in_.substr(0, n);
    in_.remove_prefix(n);
    return part;
  }
  bool bad() const { return bad_; }
  bool whole() const { return !bad_ && in_.empty(); }

 private:
  std::string_view in_;
  bool bad_ = false;
};

// Everything but who and until when, which have columns of their own in a place.
void put_terms(writer& w, const seat& s) {
  w.number(static_cast<std::uint8_t>(s.how));
  w.number(s.take);
  w.number(s.capacity);
  w.number(s.seen);
  w.number(s.ttl.count());
  w.number(s.waiter_ttl.count());
  w.number(s.lock_delay.count());
  w.text(s.owner);
}

void get_terms(reader& r, seat& s) {
  s.how = static_cast<kit::mode>(r.number<std::uint8_t>());
  s.take = r.number<std::uint32_t>();
  s.capacity = r.number<std::uint32_t>();
  s.seen = r.number<std::uint64_t>();
  s.ttl = milliseconds{r.number<std::int64_t>()};
  s.waiter_ttl = milliseconds{r.number<std::int64_t>()};
  s.lock_delay = milliseconds{r.number<std::int64_t>()};
  s.owner = r.text();
}

void put_hold(writer& w, const seat& s) {
  w.raw(seat_head::of(s).bytes());
  w.number(s.times_asked);
  w.text(s.asked);
  w.number(static_cast<std::uint32_t>(s.slots.size()));
  for (const auto slot : s.slots) w.number(slot);
  put_terms(w, s);
}

seat get_hold(reader& r) {
  seat s;
  s.who = kit::id::from(r.raw(16));
  s.is = static_cast<seat::state>(r.number<std::uint8_t>());
  s.upgrading = r.number<std::uint8_t>() != 0;
  s.part = r.number<std::uint64_t>();
  s.expires = at_micros(r.number<std::int64_t>());
  s.lease = r.number<std::int64_t>();
  s.times_asked = r.number<std::uint32_t>();
  s.asked = r.text();
  const auto slots = r.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < slots && !r.bad(); ++i) s.slots.push_back(r.number<std::uint32_t>());
  get_terms(r, s);
  return s;
}

}  // namespace

std::string seat_head::bytes() const {
  writer w;
  w.raw(who.view());
  w.number(static_cast<std::uint8_t>(is));
  w.number(static_cast<std::uint8_t>(upgrading));
  w.number(part);
  w.number(micros(expires));
  w.number(lease);
  return w.take();
}

std::string write_seats(const std::vector<seat>& all) {
  writer w;
  w.number(seats_layout);
  w.number(static_cast<std::uint32_t>(all.size()));
  for (const seat& s : all) put_hold(w, s);
  return w.take();
}

std::optional<std::vector<seat>> read_seats(std::string_view in) {
  reader r{in};
  if (r.number<std::uint8_t>() != seats_layout) return std::nullopt;
  std::vector<seat> all;
  const auto n = r.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < n && !r.bad(); ++i) all.push_back(get_hold(r));
  if (!r.whole()) return std::nullopt;
  return all;
}

std::string write_place(const seat& s) {
  writer w;
  w.number(seats_layout);
  put_terms(w, s);
  return w.take();
}

std::optional<seat> read_place(std::string_view in) {
  reader r{in};
  seat s;
  s.is = seat::state::waiting;
  if (r.number<std::uint8_t>() != seats_layout) return std::nullopt;
  get_terms(r, s);
  if (!r.whole()) return std::nullopt;
  return s;
}

}  // namespace tyer::sql
