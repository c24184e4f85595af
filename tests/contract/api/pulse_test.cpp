// The witnesses of the other tests: one that never failed would prove nothing.
#include "contract/api/pulse.hpp"

namespace contract {
namespace {

using clock = tyer::lease_clock;

// A hold that is told of its loss when we like.
struct puppet {
  std::stop_source source;
  clock::time_point end;

  std::stop_token lost() const { return source.get_token(); }
  clock::time_point valid_until() const { return end; }
};

TEST(a_loss_witness, passes_a_loss_before_the_end) {
  const pulse machine;
  puppet h{.source = {}, .end = clock::now() + 1h};
  const loss_witness told{h};
  h.source.request_stop();
  EXPECT_TRUE(told.in_time(machine, 1s));
}

TEST(a_loss_witness, fails_a_loss_after_the_end_on_a_machine_that_was_in_time) {
  const pulse machine;
  puppet h{.source = {}, .end = clock::now() - 1h};
  const loss_witness told{h};
  h.source.request_stop();
  EXPECT_FALSE(told.in_time(machine, 1s));
}

TEST(a_pulse, is_not_late_before_it_began_nor_for_longer_than_the_time_asked_for) {
  const auto before = clock::now();
  const pulse machine;
  EXPECT_EQ(machine.late(before - 1h, before), 0s);
  const auto now = clock::now();
  EXPECT_LE(machine.late(before, now), now - before);
}

}  // namespace
}  // namespace contract
