#include "core/hosts.hpp"

#include "core/forks.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace tyer::core {

namespace {

void add(found_hosts& to, const addrinfo& one) {
  if (one.ai_family != AF_INET && one.ai_family != AF_INET6) return;
  auto& a = to.all.emplace_back();
  a.size = one.ai_addrlen;
  std::memcpy(&a.raw, one.ai_addr, one.ai_addrlen);
}

void ask_name_server(const std::string& host, found_hosts& out) noexcept try {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_protocol = IPPROTO_TCP;
  addrinfo* found = nullptr;
  out.error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  out.why = errno;
  if (out.error != 0) return;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed{found, [](addrinfo* a) { ::freeaddrinfo(a); }};
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) add(out, *one);
  if (out.all.empty()) out.error = EAI_NONAME;
} catch (const std::bad_alloc&) {
  out.error = EAI_MEMORY;
}

// The names that this process looks up. Never destroyed: its threads may outlive everything else.
class names {
 public:
  // A forked child has none of the threads, so it makes a new table and leaves its parent's untouched.
  static names& of_this_process() {
    static std::atomic<names*> current{nullptr};
    names* now = current;
    while (now == nullptr || now->made_in_ != fork_generation()) {
      auto fresh = std::make_unique<names>();
      fresh->of_the_parent_ = now;
      if (current.compare_exchange_strong(now, fresh.get())) now = fresh.release();
    }
    return *now;
  }

  void ask(const std::string& host, const std::shared_ptr<host_asker>& who) {
    auto out = std::make_shared<found_hosts>();
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

  // A client may give up before a slow name server has answered, and ask again a little later. A result that came in
  // between is kept for it, or it would start again each time and never succeed. A result that was delivered is not kept,
  // since the address may change.
  static constexpr std::chrono::minutes unheard_max{1};

  struct name {
    std::vector<std::weak_ptr<host_asker>> askers;
    std::shared_ptr<const found_hosts> found;  // null: the lookup is running
    clock::time_point found_at;

    bool is_over() const {
      return found && (found->error != 0 || found->heard || clock::now() - found_at > unheard_max);
    }
  };

  void serve(const std::string& host, const std::shared_ptr<found_hosts>& out) noexcept {
    ask_name_server(host, *out);
    std::unique_lock lock{mutex_};
    auto& it = all_.find(host)->second;
    it.found = out;
    it.found_at = clock::now();
    const auto askers = std::move(it.askers);
    lock.unlock();
    for (const auto& one : askers) {
      try {
        if (const auto who = one.lock()) who->tell(out);
      } catch (const std::bad_alloc&) {  // the result is not delivered
      }
    }
  }

  const std::uint64_t made_in_ = fork_generation();
  const void* of_the_parent_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, name> all_;  // lookups that run, and results that were not delivered
};

}  // namespace

void look_up(const std::string& host, const std::shared_ptr<host_asker>& who) try {
  names::of_this_process().ask(host, who);
} catch (const std::system_error& no_thread) {
  auto none = std::make_shared<found_hosts>();
  none->error = EAI_SYSTEM;
  none->why = no_thread.code().value();
  who->tell(std::move(none));
}

}  // namespace tyer::core
