#include "unit/names/name_server.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace tyer::test::name_server {

namespace {

// Never destroyed: whoever asks may outlive everything else.
struct state {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::vector<std::string>> known;
  std::chrono::milliseconds slow{0};
  bool answers = true;
  int asked = 0;
};
state& all() {
  static auto* const s = new state;
  return *s;
}

struct entry {
  addrinfo info{};
  sockaddr_in6 six{};
  sockaddr_in four{};
};

addrinfo* entry_of(const std::string& address, std::uint16_t port) {
  auto e = std::make_unique<entry>();
  const auto fill = [&](int family, auto& into) {
    e->info.ai_family = family;
    e->info.ai_addr = reinterpret_cast<sockaddr*>(&into);
    e->info.ai_addrlen = sizeof into;
  };
  e->info.ai_socktype = SOCK_STREAM;
  e->info.ai_protocol = IPPROTO_TCP;
  if (::inet_pton(AF_INET, address.c_str(), &e->four.sin_addr) == 1) {
    e->four.sin_family = AF_INET;
    e->four.sin_port = htons(port);
    fill(AF_INET, e->four);
  } else if (::inet_pton(AF_INET6, address.c_str(), &e->six.sin6_addr) == 1) {
    e->six.sin6_family = AF_INET6;
    e->six.sin6_port = htons(port);
    fill(AF_INET6, e->six);
  } else {
    return nullptr;
  }
  return &e.release()->info;
}

std::vector<std::string> look_up(const std::string& host) {
  std::unique_lock lock{all().mutex};
  ++all().asked;
  const auto slow = all().slow;
  all().changed.wait_for(lock, std::chrono::minutes{1}, [] { return all().answers; });
  const auto found = all().known[host];
  lock.unlock();
  if (slow.count() > 0) std::this_thread::sleep_for(slow);
  return found;
}

int serve(const char* host, const char* service, addrinfo** out) {
  const auto port = static_cast<std::uint16_t>(service != nullptr ? std::atoi(service) : 0);
  if ((*out = entry_of(host, port)) != nullptr) return 0;
  addrinfo** last = out;
  for (const auto& address : look_up(host)) {
    *last = entry_of(address, port);
    last = &(*last)->ai_next;
  }
  return *out != nullptr ? 0 : EAI_AGAIN;
}

}  // namespace

void know(const std::string& host, std::vector<std::string> addresses) {
  const std::lock_guard lock{all().mutex};
  all().known[host] = std::move(addresses);
}

void answer(bool yes) {
  const std::lock_guard lock{all().mutex};
  all().answers = yes;
  all().asked = 0;
  all().changed.notify_all();
}

void take(std::chrono::milliseconds d) {
  const std::lock_guard lock{all().mutex};
  all().slow = d;
}

int asked() {
  const std::lock_guard lock{all().mutex};
  return all().asked;
}

}  // namespace tyer::test::name_server

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo*, addrinfo** out) {
  return tyer::test::name_server::serve(host, service, out);
}

extern "C" void freeaddrinfo(addrinfo* first) noexcept {
  while (first != nullptr) {
    addrinfo* const next = first->ai_next;
    delete reinterpret_cast<tyer::test::name_server::entry*>(first);
    first = next;
  }
}
