// Which lock was held when which was asked for, and whether those orders exclude each other.
//
// A graph: classes of names, and a pair of classes for each order seen. A new pair "A, then B" is compared once, by a search
// from B to A. Two names of one class are a pair of that class with itself, upwards or downwards; such pairs are compared
// with each other only.
//
// Bounds: classes and pairs by the options; of one flow only the first 64 locks that it has. What is beyond them is counted.
//
// Thread safety: everything may be called from any thread. In a forked child nothing is done: a thread of the parent may have
// had the mutex.
#pragma once

#include "runtime/fork.hpp"

#include <tyer/debug.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace detail {

// Of a pair: two classes, or two names of one class, the second of which is larger (up) or smaller (down).
enum class order_way : std::uint8_t { other, up, down };

struct order_line {
  debug::order_step step;
  order_way how = order_way::other;
};

class order_book {
 public:
  static constexpr std::size_t held_max = 64, reports_max = 64, site_bytes_max = 512;
  using flow = std::uint64_t;   // whose locks: a thread's number, or that of a scope
  using place = std::uint64_t;  // one lock that a flow has; 0: not noted

  explicit order_book(debug::order_options o) : options_(std::move(o)) {}

  // Before the wait. Reports what is reversed by it.
  void asks(flow who, std::string_view name, const std::source_location& where) noexcept;
  // After the wait, or a try.
  place took(flow who, std::string_view name, const std::source_location& where) noexcept;
  void gave_back(flow who, place which) noexcept;

  static flow new_flow() noexcept;  // of no thread

  std::vector<debug::order_report> reports() const;
  debug::order_counts counts() const noexcept;
  std::vector<order_line> lines() const;  // all pairs
  void add(const std::vector<order_line>& all);

 private:
  using number = std::uint32_t;  // of a class
  using way = order_way;
  struct have {
    place which;
    std::string of_class, name;
    std::source_location at;
  };
  struct sites {
    std::string held_at, asked_at;
  };
  using pair = std::tuple<number, number, way>;
  using reported = std::vector<debug::order_report>;

  std::string class_of(std::string_view name) const;
  std::optional<number> number_of(std::string_view of_class);
  template <class Sites>
  void see(std::string_view held, std::string_view asked, way how, Sites sites_of, reported& to);
  void note(const pair& p, sites s, reported& to);
  std::vector<pair> way_back(const pair& p) const;
  debug::order_step step_of(const pair& p) const;
  debug::order_report report_of(const pair& p, const std::vector<pair>& back) const;
  void tell(const reported& all) const noexcept;

  const debug::order_options options_;
  const runtime::birth born_;
  mutable std::mutex mutex_;
  std::map<std::string, number, std::less<>> numbers_;
  std::vector<std::string_view> classes_;  // by number: keys of numbers_
  std::map<pair, sites> pairs_;
  std::unordered_map<flow, std::vector<have>> held_;
  reported reports_;
  std::uint64_t reversed_ = 0, left_out_ = 0;
  place last_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
