// What every command gets: the engine, and where to write.
#pragma once

#include "base/settings.hpp"
#include "help/page.hpp"
#include "text/terminal.hpp"

#include <tyer/admin.hpp>
#include <tyer/client.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

struct common_options {
  given engine;
  bool json = false;
  std::string colour = "auto";
  std::optional<std::chrono::milliseconds> connect_timeout;
};

// Longer than an engine's own attempt to connect, so that its error is known by then.
inline constexpr std::chrono::milliseconds connect_timeout_usual{6000};

class session {
 public:
  session(common_options o, const manual& m, std::vector<std::string> command)
      : options_(std::move(o)), manual_(m), terminal_(options_.colour), command_(std::move(command)) {}

  bool json() const noexcept { return options_.json; }
  terminal& screen() noexcept { return terminal_; }
  const manual& pages() const noexcept { return manual_; }
  const given& engine() const noexcept { return options_.engine; }
  // The command to run, word by word; empty if there is none.
  const std::vector<std::string>& command() const noexcept { return command_; }

  // A new client of the selected engine, with its prefix. Does not wait for the engine. `option` is added to those of the URL.
  tyer::client open(tyer::client_options with = {}, std::string_view option = {});
  // The same of another engine, whose URL, or name in the configuration file, was given with that option.
  tyer::client open_beside(const std::string& url, const std::string& option);

  // Waits until the engine has answered, with a message on the terminal; throws trouble if it does not answer in time, and
  // at once if it refuses us. Throws errc::cancelled when stopped.
  void reach(tyer::client& c, const std::stop_token& stop = {});

  // The same, but returns the failure instead of throwing; empty if the engine was reached.
  tyer::failure try_to_reach(tyer::client& c, std::chrono::milliseconds at_most, const std::stop_token& stop = {});

  // Waits until the engine has answered the client of this session; returns what is wrong if it does not in that time, or as soon
  // as that is `hopeless`. May be called again to wait longer.
  using judge = std::function<bool(std::string_view words)>;
  tyer::failure try_client(std::chrono::milliseconds at_most, const judge& hopeless);
  std::string address();  // where it is, or would be

  // The value of --connect-timeout.
  std::optional<std::chrono::milliseconds> connect_timeout() const noexcept { return options_.connect_timeout; }

  // The prefix of every name at the engine.
  std::string prefix() const;

  // The client of this session, after the engine was reached.
  tyer::client& client();
  tyer::admin admin() { return tyer::admin{client()}; }

 private:
  tyer::failure try_until(tyer::client& c, std::chrono::milliseconds at_most, const judge& hopeless,
                          const std::stop_token& stop = {});

  common_options options_;
  const manual& manual_;
  terminal terminal_;
  std::vector<std::string> command_;
  std::unique_ptr<tyer::client> client_;
  bool reached_ = false;
};

}  // namespace cli
