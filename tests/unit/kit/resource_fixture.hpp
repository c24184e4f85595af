// The reference model, in virtual time: each test is a script of operations at chosen moments.
#pragma once

#include "engines/kit/resource.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace tyer::kit {

using namespace std::chrono_literals;
using engine::busy;
using engine::granted;
using engine::queued;
using engine::why;

inline id number(std::uint64_t n) {
  id i;
  std::memcpy(i.bytes.data() + 8, &n, sizeof n);
  return i;
}

class resource_test : public ::testing::Test {
 protected:
  request ask(std::uint64_t who, mode how = mode::exclusive) {
    return {.what = {number(who), "name", how}, .ttl = 10s, .waiter_ttl = 2s, .not_after = 1s};
  }
  request wait(std::uint64_t who, mode how = mode::exclusive) {
    request r = ask(who, how);
    r.enqueue = true;
    return r;
  }
  request permits(std::uint64_t who, std::uint32_t take, std::uint32_t capacity) {
    request r = ask(who, mode::permit);
    r.take = take;
    r.capacity = capacity;
    return r;
  }

  result<answer> acquire(const request& r) { return it.acquire(r, now, told); }
  granted lock(const request& r) { return std::get<granted>(std::get<answer>(acquire(r))); }
  queued enqueue(const request& r) { return std::get<queued>(std::get<answer>(acquire(r))); }
  busy find_busy(const request& r) { return std::get<busy>(std::get<answer>(acquire(r))); }
  engine::failure fail(const request& r) { return std::get<engine::failure>(acquire(r)); }

  fate keep(std::uint64_t who, fate as, milliseconds ttl) { return it.keep(number(who), as, ttl, now, told); }
  fate release(std::uint64_t who, bool clean = true) { return it.release(number(who), clean, now, told); }
  answer convert(std::uint64_t who, mode to) { return std::get<answer>(it.convert(number(who), to, now, told)); }

  // Who was woken since this was asked last.
  std::vector<id> woken() {
    std::vector<id> ids;
    for (const notice& n : told) {
      if (n.what == notice::kind::wake) ids.push_back(n.who);
    }
    told.clear();
    return ids;
  }
  static std::vector<id> only(std::uint64_t who) { return {number(who)}; }

  resource it;
  store_time now{1000s};
  notices told;
};

}  // namespace tyer::kit
