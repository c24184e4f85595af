// What says whether it succeeded is true when it did: no form answers with a failure, which is true when something failed.
#include <tyer/tyer.hpp>

#include <new>

using namespace std::chrono_literals;

void misused(tyer::client& c, tyer::failure& why) {
  if (c.wait_ready(1s, std::nothrow)) c.close();  // error: no matching
  const bool ready = c.wait_ready(1s), told = c.wait_ready(why, 1s);
  const bool failed = why;  // error: cannot convert|no viable conversion
  static_cast<void>(ready && told && failed);
}
