#include "api/acquiring.hpp"
#include "api/events.hpp"
#include "api/open.hpp"
#include "api/recursive_name.hpp"
#include "core/clock.hpp"
#include "core/for_ever.hpp"
#include "core/name.hpp"
#include "core/owner.hpp"
#include "core/uri.hpp"
#include "engine/table.hpp"
#include "runtime/fork.hpp"
#include "runtime/own_thread.hpp"

#include <tyer/client.hpp>
#include <tyer/detail/same_client.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace {

using namespace std::chrono_literals;

std::string describe_owner(const client_options& options) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return core::owner_identity(host.data(), static_cast<std::uint64_t>(::getpid()),
                              options.label.empty() ? std::string_view{program_invocation_short_name} : options.label);
}

void check(const client_options& options) {
  const auto require = [](bool fine, const char* words) {
    if (!fine) throw error({errc::invalid_option, words});
  };
  require(options.request_timeout >= 10ms && options.request_timeout <= 1h,
          "request_timeout must be from 10 ms to 1 h");
  require(options.unavailable_after >= 0ms, "unavailable_after must not be negative");
  require(options.slow_wait == 0ms || options.slow_wait >= 10ms, "slow_wait must be 0 or at least 10 ms");
  require(options.prefix.size() <= 256, "prefix must have at most 256 bytes");
}

}  // namespace

namespace detail {

log_hook careful(log_hook log) {
  if (!log) return nullptr;
  return [log = std::move(log)](log_level level, std::string_view line) {
    const runtime::own_thread_scope here;
    try {
      log(level, line);
    } catch (...) {  // only this log message is lost
    }
  };
}

std::shared_ptr<client_state> open_client(runtime::client_runtime::parts parts, const client_options& options,
                                          std::string address, std::string identity) {
  parts.bounds.request_timeout = core::within_for_ever(options.request_timeout);
  parts.bounds.unavailable_after = core::within_for_ever(options.unavailable_after);
  parts.completions = options.completions;
  parts.log = options.log;
  parts.on_event = telling(options.on_event, parts.engine->can().token);
  parts.slow_wait = core::within_for_ever(options.slow_wait);
  if (options.refuse_own_wait || options.order) {
    auto order = options.order ? access::book(*options.order) : nullptr;
    parts.notes = runtime::made_for_this_process<runtime::noting>(options.refuse_own_wait, std::move(order));
  }
  auto s = std::make_shared<client_state>();
  s->owner = describe_owner(options);
  s->address = std::move(address);
  s->identity = std::move(identity);
  s->recursive = std::make_shared<recursive_names>();
  s->home = runtime::client_runtime::open(std::move(parts));
  return s;
}

std::shared_ptr<const client> same_client(const client& c) {
  const auto end = [](client* mine) {
    access::forget(*mine);
    delete mine;
  };
  return {new client{access::make_client(access::state(c))}, end};
}

}  // namespace detail

client::client(std::string_view uri, client_options options) {
  check(options);
  options.log = detail::careful(std::move(options.log));
  auto [address, wrong] = core::parse_uri(uri);
  if (wrong) throw error(wrong);
  runtime::client_runtime::parts parts;
  parts.clock = std::make_shared<core::boot_clock>();
  parts.clocks = runtime::clock_look::of_this_machine;
  parts.ids = std::make_unique<core::random_ids>();
  const auto protocol = address.find("protocol").value_or("");
  auto prefix = address.take("prefix").value_or(
      protocol.empty() ? "tyer:" : "");  // names shared with other libraries have no prefix
  const engine::environment env{options.prefix.empty() ? std::move(prefix) : options.prefix, parts.ids.get(),
                                parts.clock.get(), options.request_timeout, options.log};
  auto shown = address.shown() + (address.path.empty() ? "" : '/' + address.path) +
               (protocol.empty() ? "" : "?protocol=" + protocol);
  auto made = engine::make(std::move(address), env);
  if (made.error) throw error(made.error);
  auto identity = env.prefix + ' ' + protocol + ' ' + made.place;
  parts.engine = std::move(made.value);
  state_ = detail::open_client(std::move(parts), options, std::move(shown), std::move(identity));
}

client::client(std::shared_ptr<detail::client_state> s) noexcept : state_(std::move(s)) {}
client::client(client&&) noexcept = default;
client& client::operator=(client&& other) noexcept {
  if (this != &other) {
    if (state_) close();
    state_ = std::move(other.state_);
  }
  return *this;
}
client::~client() {
  if (state_) close();
}

bool client::ready_within(std::chrono::nanoseconds at_most) {
  failure why;
  const bool ready = ready_within(why, at_most);
  if (why && why.code != errc::unavailable) throw error(why);
  return ready;
}

bool client::ready_within(failure& why, std::chrono::nanoseconds at_most) noexcept {
  return detail::or_tell<bool>(why, [&] {
    if (!state_) {
      why = errc::closed;
    } else if (state_->home->forked()) {
      why = errc::forked;
    } else {
      why = state_->home->wait_ready(core::within_for_ever(at_most));
    }
    return !why;
  });
}

std::uint32_t client::ask(std::string_view name, std::string_view reason) const {
  failure why;
  const auto asked = ask(why, name, reason);
  if (why) throw error(why);
  return asked;
}

std::uint32_t client::ask(failure& why, std::string_view name, std::string_view reason) const noexcept try {
  why = state_ ? core::check_name(name) : failure{errc::closed};
  if (why) return 0;
  auto answer = primitives::ask_blocking(*state_->home, std::string{name}, std::string{reason});
  why = std::move(answer.error);
  return answer.value;
} catch (const std::bad_alloc&) {
  why = std::make_error_code(std::errc::not_enough_memory);
  return 0;
}

client_stats client::stats() const { return stats_reader()(); }

std::function<client_stats()> client::stats_reader() const {
  // Keeps only the board of the client: a reader that outlives it keeps neither threads nor sockets.
  return [board = state_ && !state_->home->forked() ? state_->home->board() : nullptr, made = runtime::birth{}] {
    return board && !made.forked() ? board->read() : client_stats{};
  };
}

bool client::close_within(std::chrono::nanoseconds at_most) noexcept {
  return !state_ || state_->home->close(state_->home->time().really(core::within_for_ever(at_most)));
}

}  // namespace v1
}  // namespace tyer
