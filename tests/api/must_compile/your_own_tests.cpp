// What a test of one's own is made of, and callbacks without Asio.
#include <tyer/async.hpp>
#include <tyer/debug.hpp>
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

using namespace std::chrono_literals;

bool told(tyer::testing::engine& engine) {
  tyer::client mine = engine.connect(), theirs = engine.connect({.request_timeout = 1s});
  tyer::mutex m{mine, "order/42", {.ttl = 10s}};
  const tyer::hold h = m.acquire();
  theirs.ask("order/42", "please");
  engine.advance(0s);  // until all is told
  engine.pause();
  engine.advance(std::chrono::duration<double>{9.5});
  engine.resume();
  return h.revoked().stop_requested() && !h.valid() && engine.wait_for_waiters("order/42", 0);
}

bool in_one_order(tyer::testing::engine& engine) {
  const auto order = std::make_shared<tyer::debug::order>();
  const auto by_kind = std::make_shared<tyer::debug::order>(tyer::debug::order_options{
      .class_of = [](std::string_view name) { return std::string{name.substr(0, 5)}; },
      .on_reversed = [](const tyer::debug::order_report&) {},
      .pairs_max = 100,
  });
  tyer::client one = engine.connect({.order = order}),
               other = engine.connect({.refuse_own_wait = true, .order = by_kind});
  tyer::debug::order::scope flow{*order};
  flow.asks("x");
  flow.took("x");
  flow.gave_back("x");
  tyer::debug::order all;
  all.load(order->save());
  all.load(by_kind->save(), "shop-7 pid 812");
  return all.reports().empty() && all.counts().left_out == 0;
}

void called(tyer::mutex& m, tyer::shared_mutex& s, tyer::hold& reader, std::stop_token stop) {
  tyer::start_acquire(m, [](tyer::failure, tyer::hold) {}, stop);
  tyer::start_try_acquire_for(m, 5s, [](tyer::failure why, tyer::hold h) {
    if (!why && h) tyer::start_release(std::move(h), [](tyer::failure, tyer::release_outcome) {});
  });
  tyer::start_try_upgrade_for(s, reader, 5s, [](tyer::failure, bool) {}, stop);
  const auto limit = std::chrono::system_clock::now() + 5s;
  tyer::start_try_acquire_until(m, limit, [](tyer::failure, tyer::hold) {}, stop);
  tyer::start_try_upgrade_until(s, reader, limit, [](tyer::failure, bool) {}, stop);
  tyer::start_release(reader, [](tyer::failure, tyer::release_outcome) {});
}

void called(tyer::multi_mutex& all, tyer::multi_hold& h) {
  tyer::start_try_acquire_until(all, std::chrono::steady_clock::now() + 5s, [](tyer::failure, tyer::multi_hold) {});
  tyer::start_confirm(h, [](tyer::failure, bool) {});
  tyer::start_release(h, [](tyer::failure, tyer::release_outcome) {});
}
