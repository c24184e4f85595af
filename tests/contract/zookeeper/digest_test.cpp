// auth=digest: a server believes whoever shows a user and a password. That they are not those of before is told by the nodes.
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

// The limits are far longer than a busy machine takes: none of them is waited for.
TEST(digest, a_wrong_password_is_told_at_once_by_every_call_in_the_servers_words) {
  const std::string uri = std::getenv("TYER_URI"), password = ":secret@";
  const auto at = uri.find(password);
  ASSERT_NE(at, uri.npos) << "started with --password secret";
  tyer::client right{uri};
  tyer::mutex first{right, "x"};
  first.acquire().release();  // now there is something
  tyer::client wrong{std::string{uri}.replace(at, password.size(), ":hunter2wrong@"),
                     {.request_timeout = 60s, .unavailable_after = 10min}};
  tyer::mutex m{wrong, "x"};
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"acquire", [&] { static_cast<void>(m.acquire()); }},
      {"try_acquire", [&] { static_cast<void>(m.try_acquire()); }},
      {"try_acquire_for", [&] { static_cast<void>(m.try_acquire_for(10min)); }}};
  for (const auto& [name, call] : calls) {
    const auto began = std::chrono::steady_clock::now();
    try {
      call();
      ADD_FAILURE() << name << " said nothing";
    } catch (const tyer::error& e) {
      const std::string words = e.what();
      EXPECT_EQ(e.code(), tyer::errc::refused) << name << ": " << words;
      EXPECT_NE(words.find("not allowed"), words.npos) << words;
      EXPECT_NE(words.find("another password"), words.npos) << words;
      EXPECT_EQ(words.find("hunter2wrong"), words.npos) << words;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, 30s) << name;
  }
}

}  // namespace
