// What every command is given: which engine, and where to write.
#pragma once

#include "base/settings.hpp"
#include "help/page.hpp"
#include "text/terminal.hpp"

#include <tyer/admin.hpp>
#include <tyer/client.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace cli {

struct common_options {
  given engine;
  bool json = false;
  std::string colour = "auto";
  std::chrono::milliseconds connect_timeout{5000};
};

class session {
 public:
  session(common_options o, const manual& m) : options_(std::move(o)), manual_(m), terminal_(options_.colour) {}

  bool json() const noexcept { return options_.json; }
  terminal& screen() noexcept { return terminal_; }
  const manual& pages() const noexcept { return manual_; }
  std::chrono::milliseconds connect_timeout() const noexcept { return options_.connect_timeout; }

  // A new client of the engine that was asked for, with its prefix. Does not wait for the engine.
  tyer::client open(tyer::client_options with = {});

  // Waits until the engine has answered, with a word on the terminal; throws trouble if it does not in time.
  void reach(tyer::client& c);

  // The client of this session, which has been reached.
  tyer::client& client();
  tyer::admin admin() { return tyer::admin{client()}; }

 private:
  common_options options_;
  const manual& manual_;
  terminal terminal_;
  std::unique_ptr<tyer::client> client_;
};

}  // namespace cli
