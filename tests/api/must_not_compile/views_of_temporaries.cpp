// A view of what is gone at the end of the statement.
#include <tyer/fence.hpp>
#include <tyer/recipes.hpp>
#include <tyer/tyer.hpp>

#include <chrono>
#include <string>
#include <string_view>

void misused(const tyer::hold& h) {
  const std::string_view text = h.id().view();  // error: deleted
  static_cast<void>(text);
}

void misused(const tyer::multi_mutex& several) {
  const auto parts = several.acquire().parts();  // error: deleted
  static_cast<void>(parts);
}

void misused(const tyer::mutex& m, const tyer::semaphore& slots) {
  static_cast<void>(m.acquire().name());              // error: deleted
  static_cast<void>(slots.acquire().slot_numbers());  // error: deleted
  static_cast<void>(slots.permits(2).name());         // error: deleted
}
void misused(const tyer::client& c) {
  const std::string_view name = tyer::mutex{c, "a"}.name();         // error: deleted
  const tyer::hold& h = tyer::mutex{c, "a"}.held();                 // error: deleted
  const tyer::hold& s = tyer::shared_mutex{c, "a"}.held();          // error: deleted
  const tyer::hold& r = tyer::recursive_mutex{c, "a"}.held();       // error: deleted
  const std::string_view n = tyer::recursive_mutex{c, "a"}.name();  // error: deleted
  const auto& all = tyer::multi_mutex{c, {"a"}}.held();             // error: deleted
  static_cast<void>(name), static_cast<void>(h), static_cast<void>(s), static_cast<void>(r), static_cast<void>(n);
  static_cast<void>(all);
}
void counted(const tyer::client& c) {
  static_cast<void>(tyer::samples(c.stats()));  // error: deleted
}

void misused_recipes(const tyer::client& c) {
  const tyer::mutex& m = tyer::recipes::striped{c, "a", 4}.at(0);  // error: deleted
  const std::string& name =
      tyer::recipes::once_per{"memory://", "a", std::chrono::seconds{5}}.name();  // error: deleted
  static_cast<void>(m), static_cast<void>(name);
}

// The marks that a gate shows are a copy: to let somebody in there lets him in nowhere.
void misused(const tyer::fence_gate& gate, const tyer::hold& h) {
  static_cast<void>(gate.marks().enter(h.fence()));           // error: discards qualifiers|lvalue|is an rvalue
  static_cast<void>(gate.marks().enter_by_token(h.token()));  // error: discards qualifiers|lvalue|is an rvalue
}
