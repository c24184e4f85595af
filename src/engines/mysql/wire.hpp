// Boost.MySQL: a statement is prepared when it is needed first. Whatever is to be said leaves in one pipeline when the last was
// answered.
#pragma once

#include "core/uri.hpp"
#include "engines/kit/options.hpp"
#include "engines/mysql/asio_box.hpp"
#include "engines/sql/wire.hpp"

#include <openssl/ssl.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tyer::mysql {

using sql::answered;
using sql::answers;
using sql::exchange;

struct options {
  enum class tls : std::uint8_t { off, if_offered, required };
  std::vector<core::endpoint> hosts;  // tried one after the other
  std::string user, password, database;
  tls encrypted = tls::required;
  kit::tls_options files;
  std::vector<const char*> texts;  // prepared when it is connected: who says them does not stay for a second round trip
};

class wire final : public sql::wire {
 public:
  wire(options o, std::shared_ptr<asio_box> box) : options_(std::move(o)), box_(std::move(box)) {}
  ~wire() override { shut(); }

  void open(user&) override;
  void send(std::uint64_t number, exchange) override;
  void shut() noexcept override;

 private:
  class connection;
  struct sent {
    std::uint64_t number;
    exchange what;
  };

  void take_turn();
  void broken(const std::string& words, kit::why);

  options options_;
  std::shared_ptr<asio_box> box_;
  user* user_ = nullptr;
  std::size_t attempts_ = 0;
  std::shared_ptr<connection> connection_;
  std::deque<sent> waiting_;
  bool telling_ = false;                     // answers, one after the other
  std::shared_ptr<X509_STORE> authorities_;  // the system's, if they were read
};

}  // namespace tyer::mysql
