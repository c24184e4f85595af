// Holds a lock in memory, and says of every engine that it was linked with that it is there.
#include <tyer/tyer.hpp>

#include <iostream>
#include <string>

namespace {

// An engine that is not linked in is refused where its client is made; one that is, is not asked for anything here.
bool there(const char* uri) {
  try {
    const tyer::client client{uri};
    std::cout << uri << " is there\n";
    return true;
  } catch (const tyer::error& e) {
    std::cout << uri << ": " << e.what() << '\n';
    return false;
  }
}

}  // namespace

int main() {
  tyer::client client{"memory://"};
  tyer::mutex order{client, "order/42"};
  const tyer::hold h = order.acquire();
  std::cout << "tyer " << tyer::library_version() << ", token " << h.token() << '\n';
  bool fine = h.valid();
#ifdef WITH_redis
  fine = there("redis://127.0.0.1:1") && fine;
#endif
#ifdef WITH_etcd
  fine = there("etcd://127.0.0.1:1") && fine;
#endif
#ifdef WITH_mysql
  fine = there("mysql://127.0.0.1:1/tyer") && fine;
#endif
#ifdef WITH_postgres
  fine = there("postgres://127.0.0.1:1/tyer") && fine;
#endif
#ifdef WITH_zookeeper
  fine = there("zk://127.0.0.1:1") && fine;
#endif
  return fine ? 0 : 1;
}
