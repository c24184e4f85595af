#include "api/access.hpp"

#include <tyer/error.hpp>
#include <tyer/etcd.hpp>

namespace tyer {
inline namespace v1 {
namespace etcd {

comparison guard_txn(const hold& h) {
  const auto& s = detail::access::state(h);
  if (!s) throw error(errc::not_held);
  if (s->forked()) throw error(errc::forked);
  const auto& k = s->key();
  if (!k) throw error({errc::unsupported, "only a hold of etcd:// can be checked by an etcd transaction"});
  return {k.key, static_cast<std::int64_t>(k.created)};
}

}  // namespace etcd
}  // namespace v1
}  // namespace tyer
