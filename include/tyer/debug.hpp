// For development and tests: finds locks that are taken in two orders, before they deadlock.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {

namespace detail {
class order_book;
struct access;
}  // namespace detail

namespace debug {

// `held` was held when `asked` was asked for. Sites are "order.cc:87", as in `tyer show`.
struct order_step {
  std::string held = {}, held_at = {};
  std::string asked = {}, asked_at = {};
};

// Orders that exclude each other. The first step is the one just seen, the others lead back from its `asked` to its `held`
// and were seen before. Two steps are the usual case, and have the four call sites: A then B here, B then A there.
struct order_report {
  static constexpr std::size_t steps_max = 16;  // of a longer circle the first; `text` says how many more there are
  std::vector<order_step> steps = {};
  std::string text = {};  // all of it in one line, for a log; without control characters
};

struct order_options {
  // The class of a name: names of one class are one lock for the order, as "order/*" for "order/42". Empty: each name is a class
  // of its own. Within a class the names count: one thread that takes a larger name after a smaller, and another that takes a
  // smaller after a larger, are reported. Called on any thread, several at a time; at most 1024 bytes of the result count.
  std::function<std::string(std::string_view name)> class_of = {};

  // Called with each report, on the thread that asks for the lock, before it waits. Blocking functions of Tyer fail there
  // (errc::would_deadlock). Its exceptions are ignored.
  std::function<void(const order_report&)> on_reversed = {};

  // Bounds of memory: what comes beyond them is counted (`left_out`), and neither noted nor compared.
  std::size_t classes_max = 1024;
  std::size_t pairs_max = 16384;  // "A was held when B was asked for"
};

struct order_counts {
  std::size_t classes = 0, pairs = 0;  // noted
  std::uint64_t reversed = 0;          // reports so far
  std::uint64_t left_out = 0;          // what was not noted, because a bound was reached or memory was exhausted
};

// The order in which locks are taken, as the kernel's lockdep has it.
//
//   auto order = std::make_shared<tyer::debug::order>();
//   tyer::client client{uri, {.order = order}};
//   ...                                              // the program, or its tests
//   for (const auto& r : order->reports()) std::cerr << r.text << '\n';
//
// Each time a thread asks for a lock while it has others, every pair "A was held when B was asked for" is noted, with both call
// sites. A pair that closes a circle is reported at once, and each pair only once: nothing needs to hang for that, and the
// two threads need not run at the same time.
//
//   call                                        | is an ask | is held afterwards
//   --------------------------------------------+-----------+-------------------
//   acquire, lock, lock_shared, ..., with limit | yes       | yes
//   try_acquire, try_lock, ...                  | no        | yes
//   multi_mutex                                 | yes, in its order of names | yes
//   async_acquire, an upgrade                   | no        | no; an upgraded hold stays
//
// A try waits for nobody, and so cannot close a circle. std::scoped_lock of several mutexes waits for one of them and tries the
// others, so it closes none by itself; but if something is held before it, only the one that it waits for is noted (a
// multi_mutex: all). Shared holds and permits count as others do: readers that come after a waiting writer wait. A hold counts for
// the thread that has acquired it, also when it was moved to another thread. Locks are compared by their names (or classes),
// whatever the client.
//
// Several processes: save() in each, and load() all of them into one.
//
// Thread safety: everything may be called from any thread. After fork() the child's copy notes and tells nothing.
// Cost: a mutex and a search among the pairs for each blocking call of a thread that has a lock. For development and tests.
class TYER_EXPORT order {
 public:
  explicit order(order_options options = {});

  // The reports so far; only the first 64 are kept.
  [[nodiscard]] std::vector<order_report> reports() const;
  [[nodiscard]] order_counts counts() const noexcept;

  // All pairs as text. It has the names (or classes) of locks and their call sites.
  [[nodiscard]] std::string save() const;
  // Adds the pairs of such a text, and reports what is reversed by them. `from`, a process say, is put before its call sites.
  // Throws errc::invalid_option, and then adds nothing, if the text is none that save() has made.
  void load(std::string_view text, std::string_view from = {});

  // A flow of its own, for what has no thread: a coroutine, or locks that are not Tyer's. Call asks() before the wait, took()
  // after it, and gave_back(), in any order. Not for several threads at a time. The destructor gives back what is left.
  class TYER_EXPORT scope {
   public:
    explicit scope(const order& in);
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();

    void asks(std::string_view name, std::source_location where = std::source_location::current());
    void took(std::string_view name, std::source_location where = std::source_location::current());
    void gave_back(std::string_view name) noexcept;

   private:
    std::shared_ptr<detail::order_book> book_;
    std::uint64_t flow_;
    std::vector<std::pair<std::string, std::uint64_t>> taken_;  // name and place
  };

 private:
  friend struct detail::access;
  std::shared_ptr<detail::order_book> book_;
};

}  // namespace debug
}  // namespace v1
}  // namespace tyer
