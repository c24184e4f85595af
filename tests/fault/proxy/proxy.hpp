// A TCP proxy before one server, that does on command what networks do by themselves.
#pragma once

#include "common/socket.hpp"
#include "history/writer.hpp"
#include "proxy/link.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace fault {

// One thread, one epoll. Commands are lines over a Unix socket; each is answered by one line, `ok ...` or `error ...`:
//
//   drop KIND N close|hole   let the next N requests of the kind reach the server, and their replies nobody
//   reset [PERCENT]          reset connections (default: all)
//   freeze                   nothing moves in either direction; what is under way arrives after the thaw
//   delay MS [JITTER_MS]     each way
//   cut [WORD...]            who has said one of the words (without one: everybody) is reset, now and when it comes again
//   pass                     freeze, delay, cut and drops are over
//   stats                    requests seen and replies dropped, by kind; connections
class proxy {
 public:
  struct settings {
    std::uint16_t port = 0, upstream = 0;
    std::string control, history, rules;
    std::uint64_t seed = 1;
    language spoken = language::redis;
  };
  explicit proxy(const settings& s);

  std::uint16_t port() const { return port_; }
  [[noreturn]] void run();

 private:
  // Keys of epoll: the two listeners, then number * 4 + which descriptor of it.
  static constexpr std::uint64_t clients_key = 0, control_key = 1;
  enum which : std::uint64_t { client_side = 0, server_side = 1, commander_side = 2 };
  static constexpr std::uint64_t key_of(std::uint64_t number, which w) { return number * 4 + w; }

  struct side {
    descriptor socket;
    std::uint32_t watched = 0;  // what epoll was told; 0: it does not know the descriptor
  };
  struct pair {
    pair(orders& o, request_reader& r, link::scribe note, language l) : between(o, r, std::move(note), l) {}
    side client, server;
    bool connected = false, ended = false;
    std::int64_t mute_since = 0;  // 0: it is not
    link between;
  };
  struct commander {
    descriptor socket;
    std::string input;
  };

  void accept_client();
  void accept_commander();
  void ready(std::uint64_t key, std::uint32_t events);
  void listen_to(commander& c, std::uint64_t number);
  std::string obey(const std::string& line);
  std::string order_drop(const std::string& line);
  std::string statistics() const;

  void read(pair& p, bool from_client);
  void write(pair& p, bool to_client);
  void watch(std::uint64_t number, pair& p);
  void watch(std::uint64_t key, side& s, std::uint32_t wanted);
  void reset(pair& p);
  void settle();  // after each round: flush, close what has ended, tell epoll what we wait for
  int until_due() const;
  std::int64_t due();
  void note_drop(kind k);
  void note_silence(const pair& p);

  history_writer history_;
  request_reader reader_;
  orders orders_;
  std::mt19937_64 random_;
  descriptor epoll_, clients_, control_;
  std::uint16_t port_, upstream_;
  language spoken_;
  std::map<std::uint64_t, std::unique_ptr<pair>> pairs_;
  std::map<std::uint64_t, commander> commanders_;
  std::uint64_t next_ = 1;
  std::array<std::uint64_t, kind_names.size()> dropped_{};
};

}  // namespace fault
