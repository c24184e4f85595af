// libpq without blocking, in pipeline mode: each statement is a transaction of its own, and prepared once, unless a pooler is in
// between. That is found out when it has connected: behind one another process of the server answers than the one that was told of
// when the connection was made. Then one statement is under way at a time: PgBouncer 1.18 gives the server's connection to another
// client when a statement is answered, also if the first half of the next has been passed on.
#pragma once

#include "engines/postgres/hosts.hpp"
#include "engines/postgres/poll_box.hpp"
#include "engines/sql/wire.hpp"

#include <libpq-fe.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tyer::postgres {

using sql::answered;
using sql::answers;
using sql::exchange;

struct options {
  std::vector<core::endpoint> hosts;
  std::vector<std::pair<std::string, std::string>> words;  // keywords of libpq and their values
};

// Why a server did not let us in, in its own words without the user's name.
struct refusal {
  std::string words;
  bool for_good = false;  // the next attempt is refused too
};
refusal refusal_in(const char* verbose, const std::string& user);

class wire final : public sql::wire {
 public:
  wire(options o, std::shared_ptr<poll_box> box)
      : hosts_(std::move(o.hosts), box), words_(std::move(o.words)), box_(std::move(box)) {
    box_->before_waiting([this] { flush(); });
  }
  ~wire() override {
    shut();
    box_->before_waiting(nullptr);
  }

  void open(user&) override;
  void send(std::uint64_t number, exchange) override;
  void shut() noexcept override;
  bool keeps_session() const noexcept override { return !pooled_; }

 private:
  struct closer {
    void operator()(PGconn* c) const noexcept { PQfinish(c); }
  };
  // One statement that was sent.
  struct expected {
    std::uint64_t number;
    const char* text;
    bool prepares;  // its first result is that of its preparation
    bool last;      // of its exchange
    answered said = {};
  };

  struct unsent {
    std::uint64_t number;
    sql::statement what;
    bool last;  // of its exchange
  };

  void connect(const hosts::known&);
  static void on_notice(void* me, const PGresult*) noexcept;
  void tell_of_numbers();
  void serve();
  void hear();
  void go_on_connecting();
  void ask_who_serves();
  void told_who_serves(const answered&);
  void read_results();
  void take(const PGresult&);
  void send_some();
  bool send_one(const sql::statement&, bool& prepares);
  void flush();
  void break_off();
  void listen_to_socket();
  std::string login() const;

  hosts hosts_;
  const std::vector<std::pair<std::string, std::string>> words_;
  std::shared_ptr<poll_box> box_;
  user* user_ = nullptr;
  std::unique_ptr<PGconn, closer> connection_;
  bool connecting_ = false, connect_writes_ = false, failed_ = false, pooled_ = false, unflushed_ = false;
  bool in_doubt_ = false, told_of_numbers_ = false;  // by warnings of the server, with its words
  std::string doubt_, of_numbers_;
  std::uint64_t made_ = 0;
  std::map<const char*, std::string> prepared_;
  std::deque<unsent> unsent_;
  std::deque<expected> expected_;
  answers said_;
};

}  // namespace tyer::postgres
