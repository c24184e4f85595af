#include "stats/counting.hpp"

#include "api/access.hpp"
#include "stats/board.hpp"

namespace bench {

void count(const tyer::client& c, bool on) { tyer::detail::access::state(c)->home->board()->count(on); }

std::size_t bytes_of_a_client() { return sizeof(tyer::stats::board); }
std::size_t bytes_of_a_group() { return sizeof(tyer::stats::group); }

}  // namespace bench
