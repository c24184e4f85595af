#include "engines/net/lookup.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <netdb.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace tyer::net {

namespace asio = boost::asio;
using error_code = lookup::error_code;

namespace {

struct answer {
  int error = 0;                            // of getaddrinfo()
  int why = 0;                              // errno, with EAI_SYSTEM
  lookup::addresses all;                    // without a port
  mutable std::atomic<bool> heard = false;  // by somebody
};

// In Asio's words, as if its resolver had been asked.
error_code meaning_of(int error, int why) {
  switch (error) {
    case 0: return {};
    case EAI_AGAIN: return asio::error::host_not_found_try_again;
    case EAI_FAIL: return asio::error::no_recovery;
    case EAI_MEMORY: return asio::error::no_memory;
    case EAI_SYSTEM: return {why, boost::system::system_category()};
    default: return asio::error::host_not_found;
  }
}

}  // namespace

// Who wants to know. What it is to be told with never comes into the hands of the thread that looks up.
class lookup::asker : public std::enable_shared_from_this<asker> {
 public:
  asker(asio::io_context& c, std::uint16_t port, handler then) : context_(&c), port_(port), then_(std::move(then)) {}

  // From any thread.
  void tell(std::shared_ptr<const answer> what) {
    const std::lock_guard lock{mutex_};
    if (context_ == nullptr) return;
    asio::post(*context_, [me = shared_from_this(), what = std::move(what)] { me->told(*what); });
  }

  void forget() noexcept {
    {
      const std::lock_guard lock{mutex_};
      context_ = nullptr;
    }
    then_ = nullptr;
  }

 private:
  void told(const answer& what) {
    const auto then = std::exchange(then_, nullptr);
    if (!then) return;
    what.heard = true;
    auto error = meaning_of(what.error, what.why);
    addresses all;
    try {
      all = what.all;
    } catch (const std::bad_alloc&) {
      error = asio::error::no_memory;
    }
    for (auto& one : all) one.port(port_);
    then(error, std::move(all));
  }

  std::mutex mutex_;
  asio::io_context* context_;  // null: it has gone
  const std::uint16_t port_;
  handler then_;
};

namespace {

void add(lookup::addresses& all, const addrinfo& one) {
  if (one.ai_family != AF_INET && one.ai_family != AF_INET6) return;
  asio::ip::tcp::endpoint e;
  e.resize(one.ai_addrlen);
  std::memcpy(e.data(), one.ai_addr, one.ai_addrlen);
  all.push_back(e);
}

void look_up(const std::string& host, answer& out) noexcept try {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_protocol = IPPROTO_TCP;
  addrinfo* found = nullptr;
  out.error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  out.why = errno;
  if (out.error != 0) return;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed{found, [](addrinfo* a) { ::freeaddrinfo(a); }};
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) add(out.all, *one);
  if (out.all.empty()) out.error = EAI_NONAME;
} catch (const std::bad_alloc&) {
  out.error = EAI_MEMORY;
}

std::atomic<unsigned> forks{0};

// The names that this process looks up. Never destroyed: its threads may outlive everything else.
class names {
 public:
  // A forked child has none of the threads, so it begins anew; what is its parent's it leaves as it was.
  static names& of_this_process() {
    static std::atomic<names*> current{nullptr};
    static const int registered = ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
    static_cast<void>(registered);
    names* now = current;
    while (now == nullptr || now->made_after_ != forks) {
      auto fresh = std::make_unique<names>();
      fresh->of_the_parent_ = now;
      if (current.compare_exchange_strong(now, fresh.get())) now = fresh.release();
    }
    return *now;
  }

  void ask(const std::string& host, const std::shared_ptr<lookup::asker>& who) {
    auto out = std::make_shared<answer>();
    const std::lock_guard lock{mutex_};
    std::erase_if(all_, [](const auto& one) { return one.second.is_over(); });
    const auto [at, is_first] = all_.try_emplace(host);
    if (at->second.found) return who->tell(at->second.found);
    auto& askers = at->second.askers;
    try {
      std::erase_if(askers, [](const auto& one) { return one.expired(); });
      askers.push_back(who);
      if (is_first) std::thread{[this, name = host, out = std::move(out)] { serve(name, out); }}.detach();
    } catch (...) {
      if (is_first) all_.erase(at);
      throw;
    }
  }

 private:
  using clock = std::chrono::steady_clock;

  // Whoever asks gives up before a slow name server has answered, and asks again a little later. Without what was found between
  // he would begin anew each time, and never know; but what somebody has heard is not kept, for it may be another by then.
  static constexpr std::chrono::minutes unheard_max{1};

  struct name {
    std::vector<std::weak_ptr<lookup::asker>> askers;
    std::shared_ptr<const answer> found;  // none: it is being looked up
    clock::time_point found_at;

    bool is_over() const {
      return found && (found->error != 0 || found->heard || clock::now() - found_at > unheard_max);
    }
  };

  void serve(const std::string& host, const std::shared_ptr<answer>& out) noexcept {
    look_up(host, *out);
    std::unique_lock lock{mutex_};
    auto& it = all_.find(host)->second;
    it.found = out;
    it.found_at = clock::now();
    const auto askers = std::move(it.askers);
    lock.unlock();
    for (const auto& one : askers) {
      try {
        if (const auto who = one.lock()) who->tell(out);
      } catch (const std::bad_alloc&) {  // it is not told
      }
    }
  }

  const unsigned made_after_ = forks;
  const void* of_the_parent_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, name> all_;  // those being looked up, and those found that nobody has heard
};

std::string without_brackets(const std::string& host) {
  const bool has = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has ? host.substr(1, host.size() - 2) : host;
}

}  // namespace

void lookup::start(asio::io_context& context, const std::string& host, std::uint16_t port, handler then) {
  forget();
  const auto who = std::make_shared<asker>(context, port, std::move(then));
  const auto name = without_brackets(host);
  error_code no_address;
  if (const auto address = asio::ip::make_address(name, no_address); !no_address) {
    auto known = std::make_shared<answer>();
    known->all.emplace_back(address, 0);
    who->tell(std::move(known));
  } else {
    try {
      names::of_this_process().ask(name, who);
    } catch (const std::system_error& e) {  // no thread to be had
      auto none = std::make_shared<answer>();
      none->error = EAI_SYSTEM;
      none->why = e.code().value();
      who->tell(std::move(none));
    }
  }
  asker_ = who;
}

void lookup::forget() noexcept {
  if (const auto who = std::exchange(asker_, nullptr)) who->forget();
}

}  // namespace tyer::net
