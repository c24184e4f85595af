// The table of instruments: what exporters are made from.
#include "stats/board.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace tyer::stats {
namespace {

using namespace std::chrono_literals;

std::string key_of(const sample& s) {
  std::string key{s.of->name};
  for (const auto v : s.values) key += '|' + std::string{v};
  return key;
}

const sample& the(const std::vector<sample>& all, const std::string& key) {
  const auto at = std::ranges::find(all, key, key_of);
  if (at == all.end()) throw std::runtime_error("there is no " + key);
  return *at;
}

TEST(instruments, are_named_as_opentelemetry_does) {
  for (const auto& i : instruments()) {
    EXPECT_TRUE(i.name.starts_with("tyer.")) << i.name;
    EXPECT_EQ(i.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz._"), std::string_view::npos) << i.name;
    EXPECT_FALSE(i.name.ends_with("_total") || i.name.ends_with("_seconds")) << "those are Prometheus' words";
    EXPECT_EQ(i.kind == instrument_kind::histogram,
              i.name.ends_with("duration") || i.name.ends_with("lag") || i.name.ends_with("remaining"))
        << i.name;
    EXPECT_TRUE(i.unit == "s" || (i.unit.starts_with('{') && i.unit.ends_with('}'))) << i.name;
    EXPECT_TRUE(i.help.ends_with('.')) << i.name;
    EXPECT_EQ(std::ranges::find(i.labels, "name"), i.labels.end()) << "a lock's name is never a label";
  }
}

TEST(instruments, no_two_samples_are_the_same) {
  board b;
  b.group_of("orders");
  b.renewed(1s);
  const auto s = b.read();
  std::set<std::string> seen;
  for (const auto& one : samples(s)) EXPECT_TRUE(seen.insert(key_of(one)).second) << key_of(one);
}

TEST(instruments, every_one_has_samples_in_the_order_of_the_table) {
  board b;
  b.renewed(1s);
  const auto s = b.read();
  const auto all = samples(s);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &sample::of));
  for (const auto& i : instruments()) {
    EXPECT_TRUE(std::ranges::any_of(all, [&](const sample& one) { return one.of == &i; })) << i.name;
  }
}

TEST(instruments, a_sample_has_a_histogram_if_its_instrument_is_one) {
  const board b;
  const auto s = b.read();
  for (const auto& one : samples(s)) {
    EXPECT_EQ(one.durations != nullptr, one.of->kind == instrument_kind::histogram) << key_of(one);
    for (std::size_t i = one.of->labels.size(); i < one.values.size(); ++i) EXPECT_EQ(one.values[i], "") << key_of(one);
  }
}

// Each number of the struct is in the table, under the label it belongs to.
TEST(instruments, show_what_was_counted) {
  board b;
  auto& g = b.group_of("orders");
  b.begins_to_wait(g);
  b.begins_to_wait(g);
  b.acquire_ended(g, acquire_end::granted, 1s);
  b.acquire_ended(g, acquire_end::queued, 2s);
  b.acquire_ended(g, acquire_end::handed_off, 3s);
  b.acquire_ended(g, acquire_end::handed_off, 3s);
  b.acquire_ended(g, acquire_end::timed_out, 4s);
  b.hold_began(g);
  b.hold_began(g);
  b.hold_ended(g, 5s, loss_reason::max_hold);
  b.renewal_left(6ms);
  b.renewed(1500ms);
  b.answered(engine_request::release, request_end::failed, 7s);
  b.came_back(reconnection::other_server);
  b.turned_away(limit_set_by::engine);
  const auto s = b.read();
  const auto all = samples(s);
  const auto sum = [&](const std::string& key) { return the(all, key).durations->sum; };
  EXPECT_EQ(sum("tyer.acquire.duration|orders|acquired|engine"), 1s);
  EXPECT_EQ(sum("tyer.acquire.duration|orders|acquired|queue"), 2s);
  EXPECT_EQ(sum("tyer.acquire.duration|orders|acquired|handoff"), 6s);
  EXPECT_EQ(sum("tyer.acquire.duration|orders|timed_out|"), 4s);
  EXPECT_EQ(sum("tyer.acquire.duration||acquired|engine"), 0s);
  EXPECT_EQ(sum("tyer.hold.duration|orders||"), 5s);
  EXPECT_EQ(sum("tyer.renewal.lag|||"), 6ms);
  EXPECT_EQ(sum("tyer.renewal.remaining|||"), 1500ms);
  EXPECT_EQ(sum("tyer.engine.request.duration|release|failed|"), 7s);
  EXPECT_EQ(the(all, "tyer.holds|orders||").value, 1);
  EXPECT_EQ(the(all, "tyer.waiters|orders||").value, 2);
  EXPECT_EQ(the(all, "tyer.losses|orders|max_hold|").value, 1);
  EXPECT_EQ(the(all, "tyer.losses|orders|gone|").value, 0);
  EXPECT_EQ(the(all, "tyer.handoffs|orders||").value, 2);
  EXPECT_EQ(the(all, "tyer.renewal.remaining.min|||").value, 1.5);
  EXPECT_EQ(the(all, "tyer.reconnects|other||").value, 1);
  EXPECT_EQ(the(all, "tyer.over_limit|engine||").value, 1);
}

TEST(instruments, nothing_is_the_smallest_before_the_first) {
  const board b;
  const auto s = b.read();
  EXPECT_THROW(the(samples(s), "tyer.renewal.remaining.min|||"), std::runtime_error);
}

TEST(stats_json, is_the_table) {
  board b;
  b.acquire_ended(b.group_of("a \"b\" \\"), acquire_end::busy, 700us);
  const auto text = to_json(b.read());
  EXPECT_TRUE(
      text.starts_with(R"({"bounds":[0.0001,0.0005,0.001,0.005,0.01,0.05,0.1,0.5,1,5,10,60,600],"instruments":[)"))
      << text;
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(R"({"name":"tyer.holds","kind":"gauge","unit":"{hold}","help":"Locks that are held now.","samples":[)"
                  R"({"labels":{"group":""},"value":0},{"labels":{"group":"a \"b\" \\"},"value":0}]})"))
      << text;
  EXPECT_TRUE(has(R"({"labels":{"group":"a \"b\" \\","outcome":"busy","via":""},"count":1,"sum":0.0007,)"
                  R"("buckets":[0,0,1,0,0,0,0,0,0,0,0,0,0,0]})"))
      << text;
  EXPECT_TRUE(
      has(R"("name":"tyer.renewal.remaining.min","kind":"gauge","unit":"s","help":"The smallest of those since )"
          R"(the client was made.","samples":[]})"))
      << text;
  EXPECT_EQ(std::ranges::count(text, '{'), std::ranges::count(text, '}'));
  EXPECT_TRUE(text.ends_with("]}"));
}

}  // namespace
}  // namespace tyer::stats
