#include "proxy/grpc.hpp"

#include "proxy/link.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fault {
namespace {

using namespace std::string_literals;

constexpr std::string_view greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string frame(std::uint8_t what, std::uint32_t stream, const std::string& payload, std::uint8_t flags = 0) {
  std::string text;
  for (const int shift : {16, 8, 0}) text += static_cast<char>(payload.size() >> shift);
  text += static_cast<char>(what);
  text += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(stream >> shift);
  return text + payload;
}

std::string message(const std::string& protobuf) { return "\0\0\0\0"s + static_cast<char>(protobuf.size()) + protobuf; }
std::string request(std::uint32_t stream, const std::string& protobuf) { return frame(0, stream, message(protobuf)); }

std::string within(char tag, const std::string& inner) {
  return tag + std::string(1, static_cast<char>(inner.size())) + inner;
}

const std::string compare = within(0x0a, "\x10\x01\x1a\x01k"s);
const std::string put = within(0x12, within(0x12, "\x0a\x01k\x12\x01v"s));
const std::string del = within(0x12, within(0x1a, "\x0a\x01k"s));
const std::string range = within(0x12, within(0x0a, "\x0a\x01k"s));
const std::string otherwise_put = within(0x1a, within(0x12, "\x0a\x01k"s));
const std::string lease_of_3_s = "\x08\x03"s;
const std::string keep_alive = "\x08\xff\xff\xff\xff\xff\xff\x01"s;

TEST(GrpcMessage, IsKnownByWhatItSays) {
  EXPECT_EQ(kind_of_message(compare + put + range), kind::acquire);
  EXPECT_EQ(kind_of_message(compare + del), kind::release);
  EXPECT_EQ(kind_of_message(compare + put + del), kind::release);
  EXPECT_EQ(kind_of_message(compare + range + otherwise_put), kind::other);
  EXPECT_EQ(kind_of_message(within(0x0a, "tyer:{n}/") + within(0x12, "tyer:{n}0")), kind::other);  // a range
  EXPECT_EQ(kind_of_message(lease_of_3_s), kind::lease);
  EXPECT_EQ(kind_of_message(keep_alive), kind::keep);
  EXPECT_EQ(kind_of_message(""), kind::other);
}

TEST(GrpcRequests, AreFoundByteByByte) {
  const std::string all = std::string{greeting} + frame(4, 0, "") + frame(1, 1, "packed") + request(1, compare + put) +
                          frame(0, 3, message(keep_alive).substr(0, 7)) + frame(0, 3, message(keep_alive).substr(7));
  grpc_requests requests;
  std::vector<grpc_requests::request> found;
  for (const char c : all) {
    for (const auto& r : requests.take({&c, 1})) found.push_back(r);
  }
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].stream, 1u);
  EXPECT_EQ(found[0].what, kind::acquire);
  EXPECT_EQ(found[1].stream, 3u);
  EXPECT_EQ(found[1].what, kind::keep);
}

TEST(GrpcRequests, RefuseWhatIsNotHttp2) {
  EXPECT_THROW(grpc_requests{}.take("GET / HTTP/1.1\r\n"), std::runtime_error);
}

struct GrpcLink : ::testing::Test {
  orders told;
  request_reader reader;
  link l{told, reader, {}, language::grpc};

  void order(kind what, drop_by how) { told.drops[static_cast<std::size_t>(what)] = {1, how}; }
  static std::string joined(const std::deque<link::chunk>& queue) {
    std::string text;
    for (const auto& c : queue) text += c.bytes;
    return text;
  }
};

TEST_F(GrpcLink, DropsTheReplyOfTheRequestItWasToldOfAndWhatFollows) {
  order(kind::release, drop_by::close);
  const std::string said =
      std::string{greeting} + request(1, keep_alive) + request(3, compare + del) + request(5, compare + del);
  l.from_client(said, 0);
  EXPECT_EQ(joined(l.to_server), said);
  const std::string before = frame(0, 1, message("kept")) + frame(1, 3, "headers");
  EXPECT_EQ(l.from_server(before, 0), std::nullopt);
  EXPECT_EQ(l.from_server(frame(0, 3, message("done")) + frame(0, 5, message("done")), 0), kind::release);
  EXPECT_EQ(joined(l.to_client), before);
  EXPECT_TRUE(l.closing());
}

TEST_F(GrpcLink, InAHoleTheConnectionStaysAndIsMute) {
  order(kind::keep, drop_by::hole);
  l.from_client(std::string{greeting} + request(1, keep_alive), 0);
  EXPECT_EQ(l.from_server(frame(0, 1, message("kept")), 0), kind::keep);
  EXPECT_FALSE(l.closing());
  l.from_server(frame(6, 0, "12345678", 1), 0);
  EXPECT_EQ(joined(l.to_client), "");
}

TEST_F(GrpcLink, ARefusalIsNoReplyToDrop) {
  order(kind::acquire, drop_by::close);
  l.from_client(std::string{greeting} + request(1, compare + put), 0);
  EXPECT_EQ(l.from_server(frame(1, 1, "no", 1), 0), std::nullopt);
  EXPECT_FALSE(l.closing());
}

}  // namespace
}  // namespace fault
