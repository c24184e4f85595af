#include "engines/net/lookup.hpp"

#include "core/hosts.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <netdb.h>

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace tyer::net {

namespace asio = boost::asio;
using core::found_hosts;
using error_code = lookup::error_code;

namespace {

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
class lookup::asker final : public core::host_asker, public std::enable_shared_from_this<asker> {
 public:
  asker(asio::io_context& c, std::uint16_t port, handler then) : context_(&c), port_(port), then_(std::move(then)) {}

  // From any thread.
  void tell(std::shared_ptr<const found_hosts> what) override {
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
  void told(const found_hosts& what) {
    const auto then = std::exchange(then_, nullptr);
    if (!then) return;
    what.heard = true;
    auto error = meaning_of(what.error, what.why);
    addresses all;
    try {
      for (const auto& one : what.all) add(all, one);
    } catch (const std::bad_alloc&) {
      error = asio::error::no_memory;
      all.clear();
    }
    then(error, std::move(all));
  }

  void add(addresses& all, const found_hosts::address& one) const {
    auto& e = all.emplace_back();
    e.resize(one.size);
    std::memcpy(e.data(), &one.raw, one.size);
    e.port(port_);
  }

  std::mutex mutex_;
  asio::io_context* context_;  // null: it has gone
  const std::uint16_t port_;
  handler then_;
};

namespace {

std::string without_brackets(const std::string& host) {
  const bool has = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has ? host.substr(1, host.size() - 2) : host;
}

std::shared_ptr<found_hosts> only(const asio::ip::address& address) {
  const asio::ip::tcp::endpoint e{address, 0};
  auto known = std::make_shared<found_hosts>();
  auto& one = known->all.emplace_back();
  one.size = static_cast<socklen_t>(e.size());
  std::memcpy(&one.raw, e.data(), e.size());
  return known;
}

}  // namespace

void lookup::start(asio::io_context& context, const std::string& host, std::uint16_t port, handler then) {
  forget();
  const auto who = std::make_shared<asker>(context, port, std::move(then));
  const auto name = without_brackets(host);
  error_code no_address;
  if (const auto address = asio::ip::make_address(name, no_address); !no_address) {
    who->tell(only(address));
  } else {
    core::look_up(name, who);
  }
  asker_ = who;
}

void lookup::forget() noexcept {
  if (const auto who = std::exchange(asker_, nullptr)) who->forget();
}

}  // namespace tyer::net
