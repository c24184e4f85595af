// How to test your own code that uses locks: no server, no sleeping, and every bad thing on demand.
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <cstdlib>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;

namespace {

// [yours]
// The code under test: pays out each day's wages once, and only while it is sure of its lock.
class payroll {
 public:
  explicit payroll(const tyer::client& client) : turn_{client, "payroll", {.ttl = 10s}} {}

  bool begin() { return static_cast<bool>(hold_ = turn_.try_acquire_for(30s)); }
  bool pay(int amount) {
    if (!hold_.valid()) return false;
    paid_ += amount;
    return true;
  }
  void end() { hold_ = {}; }
  int paid() const { return paid_; }
  const tyer::hold& hold() const { return hold_; }

 private:
  tyer::mutex turn_;
  tyer::hold hold_;
  int paid_ = 0;
};
// [yours]

void expect(bool right, const char* what) {
  if (right) return;
  std::cerr << "wrong: " << what << '\n';
  std::exit(1);
}

// [time]
void a_long_payroll_keeps_its_turn() {
  tyer::testing::engine engine;  // its time stands still until you move it, or until all wait for it
  tyer::client client = engine.connect();
  payroll p{client};
  expect(p.begin(), "nobody else is there");
  engine.advance(1h);  // renewals happen on the way
  expect(p.pay(100), "an hour is no reason to lose the lock");
}
// [time]

// [wait]
void who_waits_in_vain_gives_up() {
  tyer::testing::engine engine;
  tyer::client here = engine.connect(), there = engine.connect();  // as if on two machines
  payroll mine{here}, theirs{there};
  expect(mine.begin(), "nobody else is there");
  const auto before = engine.now();
  expect(!theirs.begin(), "it is taken");
  expect(engine.now() - before == 30s, "so long it has waited, but no real second");
}
// [wait]

// [queue]
void the_next_in_line_has_its_turn() {
  tyer::testing::engine engine;
  tyer::client here = engine.connect(), there = engine.connect();
  payroll mine{here}, theirs{there};
  expect(mine.begin(), "nobody else is there");
  std::jthread other{[&] { expect(theirs.begin() && theirs.pay(100), "their turn"); }};
  expect(engine.wait_for_waiters("payroll", 1), "they stand in the queue");
  mine.end();
}
// [queue]

// [doubt]
void an_answer_that_got_lost_is_not_taken_for_a_turn() {
  tyer::testing::engine engine;
  tyer::client client = engine.connect();
  payroll p{client};
  engine.lose_next_reply();  // the engine grants it, and nobody hears so
  expect(p.begin() && p.pay(100), "it asks again, with the same id");
}
// [doubt]

// [outage]
void an_outage_stops_payments_in_time() {
  tyer::testing::engine engine;
  tyer::client client = engine.connect();
  payroll p{client};
  expect(p.begin(), "nobody else is there");
  engine.pause();  // the engine stops answering
  engine.advance(5s);
  expect(p.pay(100), "half of the ttl is left");
  engine.advance(5s);
  expect(!p.pay(100), "somebody else may have the lock by now");
  expect(p.hold().lost().stop_requested(), "and we were told so");
  expect(p.paid() == 100, "so only the first one was paid");
}
// [outage]

// [broken]
void a_broken_lock_goes_to_the_next() {
  tyer::testing::engine engine;
  tyer::client here = engine.connect(), there = engine.connect();  // as if on two machines
  payroll mine{here}, theirs{there};
  expect(mine.begin(), "nobody else is there");
  expect(!theirs.begin(), "it is taken");
  engine.lose(mine.hold());  // as an operator who breaks it
  expect(!mine.pay(100), "lost");
  expect(theirs.begin() && theirs.pay(100), "their turn");
}
// [broken]

}  // namespace

int main() {
  a_long_payroll_keeps_its_turn();
  who_waits_in_vain_gives_up();
  the_next_in_line_has_its_turn();
  an_answer_that_got_lost_is_not_taken_for_a_turn();
  an_outage_stops_payments_in_time();
  a_broken_lock_goes_to_the_next();
  std::cout << "all right\n";
}
