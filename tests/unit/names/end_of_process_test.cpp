// A process that ends while a host name is looked up.
#include "unit/names/name_server.hpp"
#include "unit/names/threads.hpp"

#include <tyer/tyer.hpp>

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

std::atomic<bool> openssl_has_ended{false};

}  // namespace

// This program's own: whoever comes here then finds locks that are gone.
extern "C" void SSL_CTX_free(SSL_CTX* c) {
  if (openssl_has_ended) std::abort();
  reinterpret_cast<void (*)(SSL_CTX*)>(::dlsym(RTLD_NEXT, "SSL_CTX_free"))(c);
}

namespace tyer::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

int alone = 1;  // threads, before there is a client

// Registered first, so it runs when everything else has ended, OpenSSL too.
void answer_at_last() {
  openssl_has_ended = true;
  name_server::answer(true);
  // Whatever is left of the client ends now.
  for (const auto end = clock::now() + 5s; threads() > alone && clock::now() < end;) {
    std::this_thread::sleep_for(1ms);
  }
}

void end_during_a_lookup(const char* uri) {
  alone = threads_at_least();
  if (std::atexit(answer_at_last) != 0) std::abort();
  name_server::answer(false);
  {
    client c{uri};
    for (const auto end = clock::now() + 20s; name_server::asked() == 0 && clock::now() < end;) {
      std::this_thread::sleep_for(1ms);
    }
    if (name_server::asked() == 0) std::abort();
    c.close(0ms);
  }
  std::exit(0);
}

class end_of_process : public ::testing::TestWithParam<const char*> {};

// It was: the engine, with its TLS, was left to a thread that destroyed it when the answer came, after OpenSSL had ended.
TEST_P(end_of_process, an_engine_was_destroyed_behind_the_end_of_openssl) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_during_a_lookup(GetParam()), ::testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(of, end_of_process,
                         ::testing::Values("redis://lock.example:6379", "rediss://lock.example:6379"));
#ifdef TYER_TEST_ETCD
INSTANTIATE_TEST_SUITE_P(of_etcd, end_of_process, ::testing::Values("etcds://lock.example:2379"));
#endif

}  // namespace
}  // namespace tyer::test
