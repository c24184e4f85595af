#include "ladder.hpp"

#include <tyer/fence.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <thread>
#include <utility>

namespace ladder {

namespace {

// A receipt is the time of the shop, so that the longest time without a sale can be read from them.
const std::string write_script =
    "redis.call('SET', KEYS[1], ARGV[1])\n"
    "local t = redis.call('TIME')\n"
    "redis.call('RPUSH', KEYS[2], t[1] * 1000 + math.floor(t[2] / 1000))\n"
    "return {'1'}\n";

}  // namespace

void at(const char* point) {
  static const auto fault = [] {
    const char* text = std::getenv("LADDER_FAULT");
    std::istringstream parts{text != nullptr ? text : ""};
    std::string name, count, how;
    std::getline(parts, name, ':'), std::getline(parts, count, ':'), std::getline(parts, how);
    return std::tuple{name, count.empty() ? 0 : std::stoi(count), how};
  }();
  static int passed = 0;
  const auto& [name, count, how] = fault;
  if (name != point || ++passed != count) return;
  std::cout << "at " << point << std::endl;
  if (how == "stop") raise(SIGSTOP);
  if (how == "slow") std::this_thread::sleep_for(2 * ttl);
  if (std::string word; how == "wait") std::getline(std::cin, word);
}

shop::shop(const std::string& uri, std::string rung)
    : redis_(uri), stock_(rung + ":stock"), sold_(rung + ":sold"), fence_(rung + ":fence"), counts_(rung + ":counts") {}

// [sell]
bool shop::sell() {
  const int left = std::stoi(redis_.ask({"GET", stock_}).text);
  if (left <= 0) return false;
  std::this_thread::sleep_for(20ms);  // payment
  at("inside");
  redis_.eval(write_script, {stock_, sold_}, {std::to_string(left - 1)});
  return true;
}
// [sell]

// [sell_fenced]
bool shop::sell(const tyer::fence_pass& shown) {
  const auto pass = tyer::redis_fence_arguments(shown);
  const std::string check{tyer::redis_fence_function};
  // Shown before the read that the write depends on ...
  const auto read = redis_.eval(check +
                                    "if not tyer_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then return {} end return "
                                    "{redis.call('GET', KEYS[2])}",
                                {fence_, stock_}, {pass[0], pass[1], pass[2]});
  if (read.empty() || std::stoi(read[0]) <= 0) return false;
  std::this_thread::sleep_for(20ms);
  at("inside");
  // ... and again with the write, in one step with it.
  const auto written =
      redis_.eval(check + "if not tyer_fence(KEYS[3], ARGV[2], ARGV[3], ARGV[4]) then return {} end\n" + write_script,
                  {stock_, sold_, fence_}, {std::to_string(std::stoi(read[0]) - 1), pass[0], pass[1], pass[2]});
  if (written.empty()) count("refused");  // a later holder was here
  return !written.empty();
}
// [sell_fenced]

void shop::count(const char* what) { redis_.ask({"HINCRBY", counts_, what, "1"}); }

}  // namespace ladder
