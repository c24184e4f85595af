#include "proxy/zookeeper.hpp"

#include "proxy/link.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fault {
namespace {

std::string number(std::int32_t v) {
  std::string text;
  for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(static_cast<std::uint32_t>(v) >> shift);
  return text;
}
std::string packet(const std::string& body) { return number(static_cast<std::int32_t>(body.size())) + body; }
std::string request(std::int32_t xid, std::int32_t operation, const std::string& rest = "rest") {
  return packet(number(xid) + number(operation) + rest);
}
std::string answer(std::int32_t xid) { return packet(number(xid) + "zxid and error"); }

const std::string greeting = packet("who it is"), welcome = packet("number and password");
constexpr std::int32_t ping = 11, create = 15, multi = 14, remove = 2, set_data = 5, sync = 9;

TEST(ZookeeperRequests, AreFoundByteByByte) {
  const std::string all = greeting + request(1, create) + request(-2, ping) + request(2, multi, number(1) + "rest") +
                          request(3, remove) + request(4, set_data) + request(5, sync) +
                          request(6, multi, number(set_data) + "rest");
  zookeeper_requests requests;
  std::vector<kind> found;
  for (const char c : all) {
    for (const auto& r : requests.take({&c, 1})) found.push_back(r.what);
  }
  EXPECT_EQ(found, (std::vector{kind::acquire, kind::other, kind::claim, kind::release, kind::keep, kind::other,
                                kind::release}));
}

TEST(ZookeeperRequests, RefuseWhatIsNone) {
  EXPECT_THROW(read_packet(number(-5)), std::runtime_error);
  EXPECT_THROW(request_in("short"), std::runtime_error);
}

TEST(ZookeeperLink, DropsTheAnswerToACreateAndNothingBeforeIt) {
  orders o;
  request_reader reader;
  link l{o, reader, {}, language::zookeeper};
  o.drops[static_cast<std::size_t>(kind::acquire)] = {1, drop_by::close};
  const auto asked = greeting + request(1, sync) + request(2, create);
  l.from_client(asked, 0);
  ASSERT_EQ(l.to_server.size(), 1u);
  EXPECT_EQ(l.to_server.front().bytes, asked);
  EXPECT_EQ(l.from_server(welcome + answer(-1), 0), std::nullopt);
  EXPECT_EQ(l.from_server(answer(1) + answer(2) + answer(3), 0), kind::acquire);
  std::string told;
  for (const auto& c : l.to_client) told += c.bytes;
  EXPECT_EQ(told, welcome + answer(-1) + answer(1));
  EXPECT_TRUE(l.closing());
}

}  // namespace
}  // namespace fault
