// The token checked by what is written to: in memory, in a row of a database, in Redis, in etcd.
//
//   fences redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <string>
#include <string_view>

namespace {

// [memory]
class account {
 public:
  bool deposit(int amount, const tyer::hold& h) {
    if (!gate_.enter(h.fence())) return false;  // first, whatever the mode of the hold
    balance_ += amount;
    return true;
  }

 private:
  tyer::fence_gate gate_;
  int balance_ = 0;
};
// [memory]

std::string in_sql(const tyer::hold& h) {
  // [sql]
  const tyer::sql_fence fence{"fence", "fence_by"};
  const auto statement = "UPDATE account SET " + fence.set(h.fence()) + " WHERE id = 1 AND " + fence.where(h.fence());
  // UPDATE account SET fence = 512, fence_by = '9f…00' WHERE id = 1 AND
  //   (fence IS NULL OR fence < 512 OR (fence = 512 AND fence_by = '9f…00'))
  // [sql]
  return statement;
}

std::string prepared_in_sql() {
  const tyer::sql_fence fence{"fence", "fence_by"};
  // [prepared]
  const auto shown = tyer::sql_pass::postgresql(1, 2);  // or ::sqlite(1, 2), or ::mysql()
  const auto statement = "UPDATE account SET " + fence.set(shown) + " WHERE id = 1 AND " + fence.where(shown);
  // to be executed with h.token() and h.id().text()
  // [prepared]
  return statement;
}

std::string in_redis(const tyer::hold& h) {
  // [redis]
  const auto script = std::string{tyer::redis_fence_function} +
                      "if not tyer_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then return false end\n"
                      "return redis.call('INCRBY', KEYS[2], ARGV[4])\n";
  const auto [token, mode, id] = tyer::redis_fence_arguments(h.fence());
  const auto command = "EVAL script 2 {account/7}:fence {account/7}:balance " + token + ' ' + mode + ' ' + id + " 100";
  // [redis]
  return script + command;
}

std::string in_etcd(const tyer::hold& h) {
  // [etcd]
  const tyer::etcd::comparison held = tyer::etcd::guard_txn(h);
  // For your own client's TxnRequest: Compare{key = held.key, target = CREATE, result = EQUAL,
  //                                           create_revision = held.create_revision}
  // For `etcdctl txn`:
  const auto line = "create(\"" + held.key + "\") = \"" + std::to_string(held.create_revision) + "\"";
  // [etcd]
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view uri = argc > 1 ? argv[1] : "memory://";
  tyer::client client{uri};
  tyer::mutex lock{client, "account/7"};
  tyer::hold h = lock.acquire();

  account savings;
  const bool written = savings.deposit(100, h);
  std::cout << in_sql(h) << '\n' << in_redis(h) << '\n';
  const bool as_told = prepared_in_sql() ==
                       "UPDATE account SET fence = CAST($1 AS BIGINT), fence_by = CAST($2 AS TEXT) WHERE id = 1 AND "
                       "(fence IS NULL OR fence < CAST($1 AS BIGINT) OR (fence = CAST($1 AS BIGINT) AND "
                       "fence_by = CAST($2 AS TEXT)))";
  if (uri.starts_with("etcd")) std::cout << in_etcd(h) << '\n';
  return written && as_told ? 0 : 1;
}
