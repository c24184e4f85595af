#include "primitives/mutex_state.hpp"

#include "core/name.hpp"
#include "core/token.hpp"
#include "lease/terms.hpp"

namespace tyer::primitives {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

void require(bool fine, const char* words) {
  if (!fine) throw tyer::error({errc::invalid_option, words});
}

}  // namespace

std::shared_ptr<const spec> make_mutex_spec(const house& h, std::string_view name, const lock_options& options,
                                            const std::string& owner) {
  if (auto f = core::check_name(name)) throw tyer::error(f);
  const auto can = h.can();
  require(options.ttl >= 100ms && options.ttl <= 24h, "ttl must be from 100 ms to 24 h");
  require(options.ttl >= can.ttl_min, "ttl is shorter than this engine can keep");
  require(options.waiter_ttl == 0ms || (options.waiter_ttl >= 50ms && options.waiter_ttl <= 1h),
          "waiter_ttl must be 0, or from 50 ms to 1 h");
  require(options.local_handoffs <= core::handoffs_max, "local_handoffs must be at most 255");
  auto s = std::make_shared<spec>();
  s->name = std::string{name};
  s->ttl = options.ttl;
  s->waiter_ttl = options.waiter_ttl != 0ms
                      ? options.waiter_ttl
                      : std::chrono::duration_cast<milliseconds>(lease::default_waiter_ttl(options.ttl));
  s->handoffs = options.local_handoffs;
  s->owner = owner;
  return s;
}

}  // namespace tyer::primitives
