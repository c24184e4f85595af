#include "proxy/link.hpp"
#include "proxy/request.hpp"
#include "proxy/resp.hpp"
#include "proxy/sha1.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fault {
namespace {

std::string command(std::initializer_list<std::string_view> words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const auto word : words) text += "$" + std::to_string(word.size()) + "\r\n" + std::string{word} + "\r\n";
  return text;
}

TEST(Sha1, KnownDigests) {
  EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_hex(std::string(1000, 'a')), "291e9a6c66994949b57ba5e650361e98fc36b1ba");
}

TEST(RespScanner, FindsTheEndOfEveryType) {
  for (const std::string message :
       {"+OK\r\n", "-ERR no\r\n", ":12\r\n", "$5\r\nhe\r\no\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n", "_\r\n", "#t\r\n",
        ",1.5\r\n", "(123\r\n", "=7\r\ntxt:abc\r\n", "!3\r\nERR\r\n", "*2\r\n*1\r\n:1\r\n$1\r\nx\r\n",
        "%1\r\n+a\r\n*1\r\n:1\r\n", "~2\r\n:1\r\n:2\r\n", ">2\r\n+message\r\n$2\r\n\r\n\r\n",
        "|1\r\n+ttl\r\n:3\r\n$1\r\nx\r\n"}) {
    resp_scanner at_once;
    EXPECT_EQ(at_once.scan(message + "+next\r\n"), message.size()) << message;
    resp_scanner bytewise;
    for (std::size_t n = 0; n < message.size(); ++n) {
      ASSERT_EQ(bytewise.scan(std::string_view{message}.substr(0, n)), std::nullopt) << message << " at " << n;
    }
    EXPECT_EQ(bytewise.scan(message), message.size()) << message;
  }
}

TEST(RespScanner, RefusesWhatIsNotResp) {
  EXPECT_THROW(resp_scanner{}.scan("GET / HTTP/1.1\r\n"), std::runtime_error);
  EXPECT_THROW(resp_scanner{}.scan("$x\r\n"), std::runtime_error);
}

TEST(Words, OfARequest) {
  const auto text = command({"SET", "a\r\nb", ""});
  const auto words = words_of(text);
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[1], "a\r\nb");
  EXPECT_EQ(words[2], "");
}

TEST(RequestReader, KnowsScriptsByDigestAndByText) {
  request_reader reader;
  reader.add_rules("sha 1111 acquire\ntext giving_back release\n");
  EXPECT_EQ(reader.read({"EVALSHA", "1111", "1", "k", "id"}).what, kind::acquire);
  EXPECT_EQ(reader.read({"evalsha", "2222", "1", "k", "id"}).what, kind::other);
  const std::string script = "-- giving_back";
  reader.read({"SCRIPT", "LOAD", script});
  EXPECT_EQ(reader.read({"EVALSHA", sha1_hex(script), "1", "k", "id"}).what, kind::release);
  EXPECT_EQ(reader.read({"EVAL", script, "1", "k", "id"}).what, kind::release);
  EXPECT_THROW(reader.add_rules("sha 1111 nonsense"), std::runtime_error);
}

TEST(RequestReader, SecondAcquireOfAnIdIsAClaim) {
  request_reader reader;
  reader.add_rules("sha 1111 acquire");
  EXPECT_EQ(reader.read({"EVALSHA", "1111", "1", "k", "0123456789abcdef+owner"}).what, kind::acquire);
  EXPECT_EQ(reader.read({"EVALSHA", "1111", "1", "k", "0123456789abcdeg+owner"}).what, kind::acquire);
  EXPECT_EQ(reader.read({"EVALSHA", "1111", "1", "k", "0123456789abcdef+other"}).what, kind::claim);
}

class Link : public ::testing::Test {
 protected:
  Link() { reader_.add_rules("sha 1111 acquire\nsha 3333 keep"); }

  static std::string all(std::deque<link::chunk>& queue) {
    std::string bytes;
    for (auto& c : queue) bytes += c.bytes;
    queue.clear();
    return bytes;
  }
  void arm(kind k, drop_by how) { orders_.drops[static_cast<std::size_t>(k)] = {1, how}; }

  orders orders_;
  request_reader reader_;
  link link_{orders_, reader_};
};

TEST_F(Link, PassesEverythingOn) {
  const auto text = command({"PING"}) + command({"EVALSHA", "1111", "1", "k", "a"});
  link_.from_client(text.substr(0, 9), 0);
  link_.from_client(text.substr(9), 0);
  EXPECT_EQ(all(link_.to_server), text);
  EXPECT_EQ(link_.from_server("+PONG\r\n:", 0), std::nullopt);
  EXPECT_EQ(link_.from_server("1\r\n", 0), std::nullopt);
  EXPECT_EQ(all(link_.to_client), "+PONG\r\n:1\r\n");
}

TEST_F(Link, DropsTheReplyOfTheKindAndWhatFollows) {
  arm(kind::acquire, drop_by::close);
  link_.from_client(command({"PING"}) + command({"EVALSHA", "1111", "1", "k", "a"}) + command({"PING"}), 0);
  EXPECT_NE(all(link_.to_server).find("1111"), std::string::npos);
  EXPECT_FALSE(link_.closing());
  EXPECT_EQ(link_.from_server("+PONG\r\n", 0), std::nullopt);
  EXPECT_EQ(link_.from_server(":1\r\n+PONG\r\n", 0), kind::acquire);
  EXPECT_TRUE(link_.closing());
  EXPECT_EQ(all(link_.to_client), "+PONG\r\n");
}

TEST_F(Link, PushesAndSubscriptionsAreOutsideTheOrder) {
  arm(kind::keep, drop_by::hole);
  link_.from_client(command({"SUBSCRIBE", "c"}) + command({"EVALSHA", "1111", "1", "k", "a"}) +
                        command({"EVALSHA", "3333", "1", "k", "a"}),
                    0);
  const std::string before = ">3\r\n+subscribe\r\n+c\r\n:1\r\n>2\r\n+message\r\n+x\r\n:7\r\n";
  EXPECT_EQ(link_.from_server(before + ":8\r\n", 0), kind::keep);
  EXPECT_EQ(all(link_.to_client), before);
  EXPECT_FALSE(link_.closing());
  EXPECT_EQ(link_.from_server(":9\r\n", 0), std::nullopt);
  link_.from_client(command({"PING"}), 0);
  EXPECT_TRUE(link_.to_client.empty());
}

class LinkOfAnyLanguage : public Link {
 protected:
  LinkOfAnyLanguage() { link_.from_client("GET /stream HTTP/1.1\r\nFrom: a\r\n\r\n", 0); }
  link link_{orders_, reader_, {}, language::any};
};

TEST_F(LinkOfAnyLanguage, PassesBytesOnAsTheyCome) {
  link_.from_client(std::string_view{"\0\1", 2}, 0);
  EXPECT_EQ(all(link_.to_server), std::string("GET /stream HTTP/1.1\r\nFrom: a\r\n\r\n\0\1", 35));
  EXPECT_EQ(link_.from_server("HTTP/1.1 200 OK\r\n", 0), std::nullopt);
  EXPECT_EQ(all(link_.to_client), "HTTP/1.1 200 OK\r\n");
}

TEST_F(LinkOfAnyLanguage, IsCutByWhatItSaidFirst) {
  for (int i = 0; i < 1000; ++i) link_.from_client("something else", 0);
  EXPECT_FALSE(link_.is_cut());
  orders_.cut = std::vector<std::string>{"From: b"};
  EXPECT_FALSE(link_.is_cut());
  orders_.cut->push_back("From: a");
  EXPECT_TRUE(link_.is_cut());
}

TEST_F(LinkOfAnyLanguage, IsCutByALaterRequest) {
  for (int i = 0; i < 1000; ++i) link_.from_client("something else", 0);
  orders_.cut = std::vector<std::string>{"From: b"};
  link_.from_client("POST /raft HTTP/1.1\r\nFrom: b\r\n\r\n", 0);
  EXPECT_TRUE(link_.is_cut());
}

TEST_F(LinkOfAnyLanguage, IsCutWithEverybody) {
  orders_.cut.emplace();
  EXPECT_TRUE(link_.is_cut());
}

}  // namespace
}  // namespace fault
