// Who stands in line for a name, as the names of its nodes tell, and who of them holds it. Values: no clock, no I/O.
//
//   <base>/q/<name>                        container; its data: record_of_name, written only by conversions and semaphores
//   <base>/q/<name>/x-<id>-<number>[h]     exclusive      s-…: shared      p<take>.<capacity>-…: permits
//   <base>/q/<name>/w-<id>-<number>        an exclusive place in another session than the hold to come; it stays beside x-<id>-<number>h
//   <base>/q/<name>/u-<id>-<number>.<first>.<mark>   shared, and waits to be the only one
//
// The server numbers the nodes; a node that was moved to another session or mode keeps its number and ends in h. All who fit
// together from the front hold it. A place w is given back together with its hold, and changed by that: so whoever watches it knows that
// it was a hold, and watches one node alone, from the beginning to the end. Only an upgrade makes room smaller: whoever has a smaller number than its mark was there
// before, and holds it or waited. Of those who waited its name tells the first: that one may leave, and whoever waited behind it
// waits for the upgrade.
#pragma once

#include "engine/engine.hpp"
#include "engines/zookeeper/wire/codec.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::zookeeper {

using engine::id;
using engine::milliseconds;
using engine::mode;

inline constexpr std::uint32_t capacity_max = 65'536;

// Numbers end with 2^31: then servers give the last one again and again, and no order is left. A name that is not used for a minute
// is swept, and begins anew.
inline constexpr std::uint32_t numbers_max = 0x7fffffffU - (1U << 20U);
// How many were given in a name, by what a look shows: twice that, less the nodes that are there.
constexpr std::uint32_t numbers_given(std::int32_t child_version, std::int32_t children) noexcept {
  return (static_cast<std::uint32_t>(child_version) + static_cast<std::uint32_t>(children)) / 2;
}

struct contender {
  id who;
  mode how = mode::exclusive;
  bool upgrading = false;
  std::uint32_t take = 1, capacity = 1;
  std::int32_t number = 0;
  std::int32_t mark = 0, first = 0;  // of an upgrade: its own number, and the first that stands behind it
  std::string node;                  // its name
  std::string place{};               // w: that of the place, which stays beside the node of the hold
  bool is_place() const noexcept { return !place.empty() && place == node; }
  bool has_both() const noexcept { return !place.empty() && place != node; }
  const std::string& watched() const noexcept { return place.empty() ? node : place; }  // by whoever is behind it
};
std::optional<contender> read_contender(std::string_view node);

// The name of a node before the server numbers it, and of one that keeps its number.
std::string new_node(mode, const id&, std::uint32_t take, std::uint32_t capacity);
std::string new_place(const id&);  // w
std::string moved_node(mode, const contender&);
// Nobody: whoever comes after the mark. An upgrade that has its mark keeps it, else the server is to give it one.
std::string upgrading_node(const contender&, const contender* first_behind);

class line {
 public:
  line() = default;
  explicit line(std::vector<contender> all);
  explicit line(const std::vector<std::string>& children);  // in Tyer's own way

  const std::vector<contender>& all() const noexcept { return all_; }
  std::size_t holders() const noexcept { return holders_; }
  // The one that came last, if a session that is over here and not yet there has left another.
  const contender* find(const id&) const noexcept;
  const contender* another_of(const id&, std::int32_t number) const noexcept;  // with another number
  std::size_t place(const contender& c) const noexcept { return static_cast<std::size_t>(&c - all_.data()); }
  bool holds(const contender& c) const noexcept { return place(c) < holders_; }
  std::uint32_t ahead(const contender& c) const noexcept { return static_cast<std::uint32_t>(place(c) - holders_); }
  // Holds it and, if it upgrades, alone.
  bool has_turn(const contender& c) const noexcept { return holds(c) && (!c.upgrading || holders_ == 1); }
  bool is_exclusive(const contender& c) const noexcept {
    return has_turn(c) && (c.how == mode::exclusive || c.upgrading);
  }
  const contender* upgrade() const noexcept;
  // Not null: an upgrade of this one must tell that it is the first behind it, and does not yet.
  const contender* unmarked_behind(const contender&) const noexcept;
  // Whoever comes now would hold it at once.
  bool fits(mode, std::uint32_t take, std::uint32_t capacity) const;
  // As long as this one stands there under this name, it waits; when that goes, it must look again. Null: it takes several.
  const contender* in_the_way_of(const contender&) const noexcept;
  void remove(const id&);
  line with(const id&, mode) const;  // as it is when this one has become that, and upgrades no more

 private:
  bool goes_with_those_before(std::size_t place, std::uint64_t taken) const noexcept;
  void count_holders() noexcept;
  std::vector<contender> all_;
  std::size_t holders_ = 0;
};

// Parts are zxids, with room for those who have theirs by one write: the first so many, the others have the last one together.
// A part has 53 bits, so that servers may elect a leader 131,072 times.
inline constexpr std::uint64_t places_per_write = 16;
constexpr std::uint64_t part_at(std::int64_t zxid, std::uint64_t place = 0) noexcept {
  return static_cast<std::uint64_t>(zxid) * places_per_write + place;
}

// What is in the data of a node.
struct record {
  milliseconds ttl{}, session{};
  std::uint64_t part = 0;  // less than there are places: such a place of the write that created the node
  std::uint32_t times_asked = 0;
  std::string asked, owner;
  bool by_another = false;  // library: no more than the owner is known

  std::uint64_t part_if(std::int64_t created) const noexcept {
    return part < places_per_write ? part_at(created, part) : part;
  }
};
std::string write(const record&);
std::optional<record> read_record(std::string_view);

// What is in the data of a name. Whoever was created before the floor was written cannot have the part of its creation: others
// had larger ones meanwhile. All who held the name together at that write have the parts of that write, as they stood in line, in
// whatever order they ask for it; whoever gets its turn later writes a floor of its own.
struct record_of_name {
  bool floor_is_this_write = false;
  std::int64_t floor = 0;                                    // a zxid
  std::int32_t floor_up_to = 0;                              // the number of the last who held it then
  std::vector<std::int32_t> company;                         // those of the first who did
  std::map<std::int32_t, std::vector<std::uint32_t>> slots;  // by number

  std::int64_t floor_at(std::int64_t modified) const noexcept { return floor_is_this_write ? modified : floor; }
  // Nothing: it needs one of its own.
  std::optional<std::uint64_t> part_of(const contender&, std::uint64_t created, std::int64_t modified) const;
  // Among the parts of the floor.
  std::uint64_t place_of(const contender&) const;
  // The write to come is the floor.
  void raise(const line& as_it_will_be);
  // The write to come is not.
  void keep_floor(std::int64_t modified) {
    floor = floor_at(modified);
    floor_is_this_write = false;
  }
  // Of those who hold permits; the first free ones for whoever has none yet. True if something has changed.
  bool assign(const line&);
};
std::string write(const record_of_name&);
std::optional<record_of_name> read_record_of_name(std::string_view);

// One watch for several who have looked at different times, and in different sessions: whoever looked before it stood may have
// missed something. A machine: versions of the list in, true if it must be looked at once more.
class shared_watch {
 public:
  bool seen(std::int32_t version) noexcept {
    if (stands_) return before(version, *stands_);
    if (!oldest_ || before(version, *oldest_)) oldest_ = version;
    return false;
  }
  bool stands(std::int32_t version) noexcept {
    stands_ = version;
    return oldest_ && before(*oldest_, version);
  }
  bool standing() const noexcept { return stands_.has_value(); }

 private:
  static bool before(std::int32_t a, std::int32_t b) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b)) < 0;
  }
  std::optional<std::int32_t> oldest_, stands_;
};

}  // namespace tyer::zookeeper
