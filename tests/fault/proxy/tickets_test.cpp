#include "proxy/tickets.hpp"

#include "proxy/link.hpp"

#include <gtest/gtest.h>

namespace fault {
namespace {

constexpr std::string_view first_id = "0123456789abcdef", second_id = "0123456789abcdeg";
constexpr std::int64_t ms = 1'000'000;

// ttl 1000, place 500; not after, seen, live, most; and if it is not plainly exclusive: mode, delay, take, capacity.
std::string terms(std::string_view mode = {}) {
  std::string text{"\0\0\0\0\x03\xe8\0\0\0\0\x01\xf4", 12};
  text += std::string(24, '\0');
  if (!mode.empty()) text += std::string{mode} + std::string(14, '\0');
  return text;
}

std::vector<std::string_view> acquire_words(std::string_view id, std::string_view packed) {
  return {"EVALSHA", "1111", "1", "tyer:{fault/12}", id, packed};
}

TEST(Tickets, OfAnAcquire) {
  const std::string plain = terms(), shared = terms("s"), permit = terms("p");
  const auto all = tickets_of(kind::acquire, acquire_words("0123456789abcdefowner", plain));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, 12);
  EXPECT_EQ(all[0].how, mode::exclusive);
  EXPECT_EQ(all[0].place_ns, 500 * ms);
  EXPECT_EQ(tickets_of(kind::claim, acquire_words(first_id, shared))[0].how, mode::shared);
  EXPECT_EQ(tickets_of(kind::claim, acquire_words(first_id, permit))[0].how, mode::permit);
  EXPECT_EQ(tickets_of(kind::claim, acquire_words(first_id, plain))[0].number, all[0].number);
  EXPECT_NE(tickets_of(kind::claim, acquire_words(second_id, plain))[0].number, all[0].number);
}

TEST(Tickets, OfAKeepOfWaiters) {
  const std::string ids = std::string{first_id} + std::string{second_id};
  const auto all =
      tickets_of(kind::wait, {"EVALSHA", "1", "2", "tyer:{fault/3}", "tyer:{fault/4}", "700", "86400000", ids});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].name, 4);
  EXPECT_EQ(all[1].place_ns, 700 * ms);
  EXPECT_EQ(all[0].number, tickets_of(kind::release, {"EVALSHA", "1", "1", "tyer:{fault/3}", first_id})[0].number);
  const auto events = answer_events(kind::wait, all, "$2\r\nwg\r\n", 5, 9);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].outcome, static_cast<std::uint8_t>(standing::waiting));
  EXPECT_EQ(events[0].token, 700u * ms);
  EXPECT_EQ(events[0].deadline_ns, 5);
  EXPECT_EQ(events[0].t_ns, 9);
  EXPECT_EQ(events[1].outcome, static_cast<std::uint8_t>(standing::gone));
  EXPECT_TRUE(answer_events(kind::wait, all, "$2\r\nhh\r\n", 5, 9).empty());  // their claims will tell
}

TEST(Tickets, NoneWhereThereAreNone) {
  EXPECT_TRUE(tickets_of(kind::keep, {"EVALSHA", "1", "1", "tyer:{fault/3}", "1000", "1", first_id}).empty());
  EXPECT_TRUE(tickets_of(kind::release, {"EVALSHA", "1", "1", "other", first_id}).empty());
  EXPECT_TRUE(tickets_of(kind::release, {"EVALSHA", "1", "1", "tyer:{fault/3}", "short"}).empty());
  EXPECT_TRUE(tickets_of(kind::release, {"EVALSHA", "1", "7", "tyer:{fault/3}"}).empty());
}

TEST(Tickets, AnswersToAnAcquire) {
  const std::vector<ticket> one{{.number = 7, .name = 1, .place_ns = 500}};
  const auto said = [&](std::string_view message) -> std::pair<int, std::uint64_t> {
    const auto events = answer_events(kind::acquire, one, message, 1, 2);
    if (events.empty()) return {-1, 0};
    return {events[0].outcome, events[0].token};
  };
  const int waiting = static_cast<int>(standing::waiting), granted = static_cast<int>(standing::granted);
  EXPECT_EQ(said(":1700000000000000\r\n"), std::pair(granted, std::uint64_t{1'700'000'000'000'000}));
  EXPECT_EQ(said("$9\r\ns123 0-1 \r\n"), std::pair(granted, std::uint64_t{123}));
  EXPECT_EQ(said("$6\r\nq3 500\r\n"), std::pair(waiting, std::uint64_t{500}));
  for (const auto* other : {"$4\r\nb500\r\n", "$3\r\nl99\r\n", "$1\r\nc\r\n", "-NOSCRIPT no\r\n", "_\r\n"}) {
    EXPECT_EQ(said(other).first, -1) << other;
  }
}

TEST(Tickets, ALinkNotesWhatItSeesEvenIfItDropsIt) {
  orders o;
  request_reader reader;
  reader.add_rules("sha 1111 acquire\nsha 2222 release");
  std::vector<event> noted;
  link l{o, reader, [&](const event& e) { noted.push_back(e); }};
  o.drops[static_cast<std::size_t>(kind::acquire)] = {1, drop_by::close};
  const auto command = [](const std::vector<std::string_view>& words) {
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto word : words) text += "$" + std::to_string(word.size()) + "\r\n" + std::string{word} + "\r\n";
    return text;
  };
  const std::string packed = terms("s");
  l.from_client(command(acquire_words(first_id, packed)), 0, 100);
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted[0].what, op::asked);
  EXPECT_EQ(noted[0].how, mode::shared);
  EXPECT_EQ(noted[0].t_ns, 100);
  l.from_client(command({"EVALSHA", "2222", "1", "tyer:{fault/12}", first_id}), 0, 150);
  ASSERT_EQ(noted.size(), 2u);
  EXPECT_EQ(noted[1].what, op::given_up);
  EXPECT_EQ(noted[1].hold, noted[0].hold);
  EXPECT_EQ(l.from_server(":55\r\n$1\r\nh\r\n", 0, 200), kind::acquire);
  ASSERT_EQ(noted.size(), 3u);
  EXPECT_EQ(noted[2].what, op::answered);
  EXPECT_EQ(noted[2].deadline_ns, 100);
  EXPECT_EQ(noted[2].t_ns, 200);
}

}  // namespace
}  // namespace fault
