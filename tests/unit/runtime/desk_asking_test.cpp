// Those who wait for what the engine says of a name, and a client that is closed before it says anything.
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

// What one who asked was told.
template <class T>
struct said {
  int times = 0;
  std::error_code why;
  bool dropped = false;

  seam::reply<T> to() {
    struct note {
      explicit note(said* s) noexcept : s(s) {}
      note(note&& n) noexcept : s(std::exchange(n.s, nullptr)) {}
      ~note() {
        if (s != nullptr) s->dropped = s->times == 0;
      }
      said* s;
    };
    return [n = note{this}](seam::outcome<T>&& o) {
      ++n.s->times;
      if (const auto* f = std::get_if<seam::failure>(&o.result)) n.s->why = f->code;
    };
  }
};

struct asked_of_a_silent_engine : ::testing::Test {
  said<std::uint32_t> ask;
  said<seam::page> show, list;
  said<fate> evict;
  said<std::vector<seam::finding>> diagnose;
  bench b;

  void ask_all() {
    b.desk.ask("order", "please", ask.to());
    b.desk.show("order", show.to());
    b.desk.list("", "", 10, list.to());
    b.desk.evict({b.ids.next(), "order", seam::mode::exclusive}, "because", evict.to());
    b.desk.diagnose(diagnose.to());
  }
};

// Went wrong: the engine alone could answer them, and it was closed too.
TEST_F(asked_of_a_silent_engine, never_came_back_when_the_client_was_closed) {
  ask_all();
  EXPECT_EQ(ask.times + show.times + list.times + evict.times + diagnose.times, 0);
  b.desk.close();
  EXPECT_EQ(ask.why, errc::closed);
  EXPECT_EQ(show.why, errc::closed);
  EXPECT_EQ(list.why, errc::closed);
  EXPECT_EQ(evict.why, errc::closed);
  EXPECT_EQ(diagnose.why, errc::closed);
  b.engine.shows[0].answer({});
  b.engine.asks[0].fail(why::unknown);
  EXPECT_EQ(show.times, 1) << "the engine's answer is too late";
  EXPECT_EQ(ask.times, 1);
}

TEST_F(asked_of_a_silent_engine, has_one_answer_when_the_engine_is_first) {
  ask_all();
  b.engine.shows[0].answer({});
  b.engine.evictions[0].answer(fate::holding);
  b.desk.close();
  EXPECT_EQ(show.times, 1);
  EXPECT_FALSE(show.why);
  EXPECT_EQ(evict.times, 1);
  EXPECT_EQ(list.times, 1);
}

TEST_F(asked_of_a_silent_engine, knows_when_the_engine_drops_it) {
  ask_all();
  b.engine.shows.clear();
  EXPECT_EQ(show.times, 0);
  EXPECT_TRUE(show.dropped);
  b.desk.close();
  EXPECT_EQ(show.times, 0);
  EXPECT_EQ(list.times, 1);
}

TEST_F(asked_of_a_silent_engine, may_ask_again_when_it_is_told) {
  said<seam::page> again;
  b.desk.show("order", [&](seam::outcome<seam::page>&&) { b.desk.show("order", again.to()); });
  b.desk.close();
  EXPECT_EQ(again.why, errc::closed);
}

}  // namespace
}  // namespace tyer::testing
