// A store in Redis or Valkey, through any client library.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/export.hpp>
#include <tyer/recipes/store.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace recipes {

// Runs a Lua script (EVAL, or EVALSHA) with these keys and arguments, and returns the array of strings that it answers.
// Throws if the server refuses or does not answer; the exception is passed on. Called from any thread.
using redis_eval = std::function<std::vector<std::string>(
    const std::string& script, const std::vector<std::string>& keys, const std::vector<std::string>& arguments)>;

// Values are Redis strings that expire by the server's clock (PX). The fence of a key is a hash beside it, as in
// redis_fence_function (<tyer/fence.hpp>); both have the same {tag}, so that a cluster keeps them together.
//
// A fence is forgotten `fence_kept_for` after it was last used: a holder that was paused for that long could write again. The
// server must not evict it before that: use a policy that evicts keys with a long time to live last (volatile-ttl), or
// noeviction. It is as safe as the server: one that loses acknowledged writes, in a failover or in a restart without
// appendonly, forgets fences too.
//
// Thread safety: as `eval`.
class TYER_EXPORT redis_store final : public store {
 public:
  // `prefix` is put before every key; it must differ from that of the locks. Throws invalid_option without an `eval`, and
  // unless fence_kept_for is above zero.
  explicit redis_store(redis_eval eval, std::string_view prefix = "recipes:",
                       std::chrono::milliseconds fence_kept_for = std::chrono::hours{24 * 7});

  std::optional<found> find(std::string_view key) override;
  entered enter(std::string_view key, const fence_pass& shown) override;
  bool put(std::string_view key, const fence_pass& shown, const fresh& made) override;
  bool erase(std::string_view key, const fence_pass& shown) override;

 private:
  std::vector<std::string> keys_of(std::string_view key) const;

  redis_eval eval_;
  std::string prefix_;
  std::chrono::milliseconds fence_kept_for_;
};

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
