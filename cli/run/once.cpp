#include "run/once.hpp"

#include "base/session.hpp"

namespace cli {

std::optional<tyer::lease_clock::time_point> take_period(session& s, const std::string& lock,
                                                         std::chrono::milliseconds period) {
  const once_per job{[&s] { return s.open({.label = "tyer run --once-per"}); }, lock, period};
  return job.try_take();
}

}  // namespace cli
