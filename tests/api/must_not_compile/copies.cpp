// What is one of its kind is not copied.
#include <tyer/tyer.hpp>

void misused(const tyer::mutex& m, const tyer::shared_mutex& s, const tyer::recursive_mutex& r,
             const tyer::multi_mutex& a) {
  const tyer::mutex other = m;            // error: deleted
  const tyer::shared_mutex shared = s;    // error: deleted
  const tyer::recursive_mutex again = r;  // error: deleted
  const tyer::multi_mutex all = a;        // error: deleted
}

void misused(const tyer::client& c, const tyer::hold& h, const tyer::multi_hold& all, const tyer::observation& o) {
  const tyer::client client = c;      // error: deleted
  const tyer::hold again = h;         // error: deleted
  const tyer::multi_hold both = all;  // error: deleted
  const tyer::observation seen = o;   // error: deleted
}
