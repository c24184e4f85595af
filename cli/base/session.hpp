// What every command is given: which engine, and where to write.
#pragma once

#include "base/settings.hpp"
#include "help/page.hpp"
#include "text/terminal.hpp"

#include <tyer/admin.hpp>
#include <tyer/client.hpp>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace cli {

struct common_options {
  given engine;
  bool json = false;
  std::string colour = "auto";
  // Longer than an engine's own attempt, which then has told why it failed.
  std::chrono::milliseconds connect_timeout{6000};
};

class session {
 public:
  session(common_options o, const manual& m, std::vector<std::string> command)
      : options_(std::move(o)), manual_(m), terminal_(options_.colour), command_(std::move(command)) {}

  bool json() const noexcept { return options_.json; }
  terminal& screen() noexcept { return terminal_; }
  const manual& pages() const noexcept { return manual_; }
  // What is to be run, word for word; empty if nothing is.
  const std::vector<std::string>& command() const noexcept { return command_; }

  // A new client of the engine that was asked for, with its prefix. Does not wait for the engine.
  tyer::client open(tyer::client_options with = {});

  // Waits until the engine has answered, with a word on the terminal; throws trouble if it does not in time, and at once if
  // it does not want us. Throws errc::cancelled if it is to stop.
  void reach(tyer::client& c, const std::stop_token& stop = {});

  // The client of this session, which has been reached.
  tyer::client& client();
  tyer::admin admin() { return tyer::admin{client()}; }

 private:
  common_options options_;
  const manual& manual_;
  terminal terminal_;
  std::vector<std::string> command_;
  std::unique_ptr<tyer::client> client_;
};

}  // namespace cli
