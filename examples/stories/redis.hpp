// A connection to Redis for the stories, on hiredis: as much as a few plain lines need.
#pragma once

#include <hiredis/hiredis.h>

#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace stories {

// "redis://127.0.0.1:6379" to its host and port.
struct address {
  std::string host;
  int port = 6379;

  explicit address(std::string_view uri) {
    const auto from = uri.find("://") == std::string_view::npos ? 0 : uri.find("://") + 3;
    const auto text = std::string{uri.substr(from, uri.find_first_of("/,?", from) - from)};
    host = text.substr(0, text.rfind(':'));
    port = std::stoi(text.substr(text.rfind(':') + 1));
  }
};

struct reply {
  bool nil = true;
  long long number = 0;
  std::string text;
  std::vector<std::string> items;
};

// Thread safety: one command at a time; the others wait.
class redis {
 public:
  explicit redis(const address& a) : to_(a) { connect(); }
  explicit redis(std::string_view uri) : redis(address{uri}) {}

  // Throws std::runtime_error for what the server refuses, and when it is away.
  reply ask(const std::vector<std::string>& words) {
    const std::lock_guard guard{mutex_};
    if (!link_) connect();
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const auto& w : words) texts.push_back(w.data()), sizes.push_back(w.size());
    void* got = redisCommandArgv(link_.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
    if (got == nullptr) {
      link_.reset();
      throw std::runtime_error("Redis is away");
    }
    const std::unique_ptr<redisReply, void (*)(void*)> answer{static_cast<redisReply*>(got), freeReplyObject};
    return read(*answer);
  }

  // As tyer::recipes::redis_store wants it.
  std::vector<std::string> eval(const std::string& script, const std::vector<std::string>& keys,
                                const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"EVAL", script, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return ask(words).items;
  }

 private:
  static reply read(const redisReply& r) {
    if (r.type == REDIS_REPLY_ERROR) throw std::runtime_error(r.str);
    reply out{.nil = r.type == REDIS_REPLY_NIL, .number = r.integer, .text = {}, .items = {}};
    if (r.str != nullptr) out.text.assign(r.str, r.len);
    for (std::size_t i = 0; i < r.elements; ++i) out.items.push_back(read(*r.element[i]).text);
    return out;
  }
  void connect() {
    link_.reset(redisConnectWithTimeout(to_.host.c_str(), to_.port, {2, 0}));
    if (link_ && link_->err == 0 && redisSetTimeout(link_.get(), {5, 0}) == REDIS_OK) return;
    link_.reset();
    throw std::runtime_error("Redis is away");
  }

  struct close {
    void operator()(redisContext* c) const { redisFree(c); }
  };
  address to_;
  std::mutex mutex_;
  std::unique_ptr<redisContext, close> link_;
};

}  // namespace stories
