// One process that sells tickets under one rung's lock, until it is ended. Several are started by tools/ladder, which brings the
// fault and counts.
//
//   ladder RUNG SHOP LOCKS NAME     the shop is a redis://; the locks are a redis:// or redis+sentinel://, mysql:// for the rungs of a
//                                   database, and for Tyer whatever it has an engine for
#include "rungs.hpp"

#include <tyer/tyer.hpp>

#include <unistd.h>

#include <iostream>
#include <map>
#include <thread>

namespace {

using ladder::workplace;
using namespace std::chrono_literals;

const std::map<std::string, bool (*)(workplace&)> rungs{
    {"none", ladder::none},
    {"local", ladder::local},
    {"setnx", ladder::setnx},
    {"in_finally", ladder::in_finally},
    {"setnx_expire", ladder::setnx_expire},
    {"expire_by_all", ladder::expire_by_all},
    {"getset", ladder::getset},
    {"set_xx", ladder::set_xx},
    {"set_nx_ex", ladder::set_nx_ex},
    {"thread_id", ladder::thread_id},
    {"owner", ladder::owner},
    {"script", ladder::script},
    {"renewal", ladder::renewal},
    {"sentinel", ladder::renewal},
    {"unfenced", ladder::unfenced},
    {"tyer", ladder::with_tyer},
#ifdef LADDER_MARIADB
    {"unique_index", ladder::unique_index},
    {"for_update", ladder::for_update},
#endif
};

// The master just now, as a sentinel names it; a redis:// is what it is.
std::string master_of(const std::string& locks) {
  if (!locks.starts_with("redis+sentinel://")) return locks;
  stories::redis sentinel{locks};
  const auto named = sentinel.ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"}).items;
  return "redis://" + named.at(0) + ":" + named.at(1);
}

void sell_until_ended(const std::string& rung, const std::string& shop_uri, const std::string& locks,
                      const std::string& name) {
  ladder::shop tickets{shop_uri, name};
  std::optional<tyer::client> client;
  if (rung == "tyer" || rung == "unfenced") client.emplace(locks);
  for (;;) try {
      stories::redis server{client || locks.starts_with("mysql") ? shop_uri : master_of(locks)};
      workplace w{tickets, server, name + ":lock", std::to_string(getpid()), {}, locks};
      if (client) w.mutex.emplace(*client, name, tyer::lock_options{.ttl = ladder::ttl});
      for (;;) {
        if (!rungs.at(rung)(w)) std::this_thread::sleep_for(50ms);
      }
    } catch (const std::exception&) {  // the server is away, or a replica now
      std::this_thread::sleep_for(100ms);
    }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 || !rungs.contains(argv[1])) {
    std::cerr << "usage: ladder RUNG SHOP LOCKS NAME\n";
    return 2;
  }
  sell_until_ended(argv[1], argv[2], argv[3], argv[4]);
}
