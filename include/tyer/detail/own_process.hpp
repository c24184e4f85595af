// Whether this is still the process in which something was made: for headers that have mutexes of their own. In a forked child such
// a mutex may be locked for ever.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <unistd.h>

namespace tyer {
inline namespace v1 {
namespace detail {

class own_process {
 public:
  bool is_this() const noexcept { return ::getpid() == made_in_; }

 private:
  ::pid_t made_in_ = ::getpid();
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
