// rediss://: who the server is, is checked.
#include "unit/redis/engine_client.hpp"
#include "unit/redis/own_server.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;

class redis_tls : public testing::Test {
 protected:
  // rediss://HOST:port?query, instead of the address and the authority that the tool gives.
  std::string uri(const std::string& host, const std::string& query) const {
    const auto port = server.uri().substr(server.uri().rfind(':'), server.uri().find('?') - server.uri().rfind(':'));
    return "rediss://" + host + port + query;
  }
  std::string file(const char* name) const { return server.folder() + "/tls/" + name; }
  std::string refused(const std::string& with) {
    engine_client a{with};
    EXPECT_TRUE(a.until([&] { return a.downs == 1; }));
    EXPECT_EQ(a.ups, 0);
    return a.absence.words;
  }

  own_server server{"--tls --set 'bind=127.0.0.1 127.0.0.2'"};
};

TEST_F(redis_tls, a_trusted_server) {
  engine_client by_address{uri("127.0.0.1", "?ca=" + file("ca.crt"))};
  ASSERT_TRUE(by_address.ready());
  EXPECT_NE(granted(by_address.acquire(by_address.ids.next(), "n")), nullptr);
  engine_client by_name{uri("localhost", "?ca=" + file("ca.crt"))};
  EXPECT_TRUE(by_name.ready());
}

// The server waits for the end of a line, and we for its part of the handshake.
TEST(redis_without_tls, a_port_that_does_not_speak_tls_was_named_after_five_seconds) {
  const own_server server;
  engine_client a{"rediss" + server.uri().substr(server.uri().find("://"))};
  std::string words;
  EXPECT_TRUE(a.until([&] {
    const auto answer = a.acquire(a.ids.next(), "n");
    if (const auto* f = std::get_if<tyer::engine::failure>(&answer.result)) words = f->words;
    return words.find("if that port does not speak TLS") != words.npos;
  })) << words;
  EXPECT_EQ(a.downs, 0) << "it has not given up yet";
}

TEST_F(redis_tls, with_a_certificate_of_ones_own) {
  engine_client a{
      uri("127.0.0.1", "?ca=" + file("ca.crt") + "&cert=" + file("client.crt") + "&key=" + file("client.key"))};
  EXPECT_TRUE(a.ready());
}

TEST_F(redis_tls, an_unknown_authority_is_refused) {
  const auto words = refused(uri("127.0.0.1", ""));
  EXPECT_NE(words.find("?ca="), std::string::npos) << words;
}

TEST_F(redis_tls, the_wrong_authority_is_refused) {
  const auto words = refused(uri("127.0.0.1", "?ca=" + file("client.crt")));
  EXPECT_NE(words.find("certificate"), std::string::npos) << words;
}

TEST_F(redis_tls, another_name_is_refused) {
  const auto by_address = refused(uri("127.0.0.2", "?ca=" + file("ca.crt")));
  EXPECT_NE(by_address.find("it is not made for 127.0.0.2"), std::string::npos) << by_address;
  const auto by_name = refused(uri("127.1", "?ca=" + file("ca.crt")));  // looked up, and found: it is 127.0.0.1
  EXPECT_NE(by_name.find("it is not made for 127.1"), std::string::npos) << by_name;
}

TEST_F(redis_tls, a_file_that_is_not_there) {
  const auto words = refused(uri("127.0.0.1", "?ca=/nowhere"));
  EXPECT_NE(words.find("/nowhere"), std::string::npos) << words;
}

TEST_F(redis_tls, unchecked_only_when_asked_for_and_with_a_warning) {
  engine_client a{uri("127.0.0.1", "?verify=none")};
  EXPECT_TRUE(a.ready());
  EXPECT_NE(a.logged.find("verify=none"), std::string::npos);
}

TEST_F(redis_tls, plain_words_to_a_tls_server) {
  auto plain = uri("127.0.0.1", "");
  plain.erase(plain.find("ss://") + 1, 1);
  const auto words = refused(plain);
  EXPECT_NE(words.find("if that port speaks TLS"), std::string::npos) << words;
}

// Redis waits for the end of a line, which a TLS greeting has none of.
TEST(redis_without_tls, a_tls_greeting_was_told_as_silence) {
  own_server server;
  auto uri = server.uri();
  engine_client a{uri.insert(uri.find("://"), "s")};
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }, 30s));
  EXPECT_NE(a.absence.words.find("if that port does not speak TLS"), std::string::npos) << a.absence.words;
}

}  // namespace
