// An outage is told apart from a lock that others have, in the form that throws and in the one that tells.
#include <tyer/tyer.hpp>

using namespace std::chrono_literals;

enum class answer { mine, others, silent };

answer told(const tyer::acquirable& m) {
  tyer::failure why;
  if (const tyer::hold h = m.try_acquire_for(why, 1s)) return answer::mine;
  return why.code == tyer::errc::unavailable ? answer::silent : answer::others;
}

answer thrown(const tyer::acquirable& m) try {
  const tyer::hold h = m.try_acquire_for(1s);
  return h ? answer::mine : answer::others;
} catch (const tyer::error& e) {
  if (e.code() != tyer::errc::unavailable) throw;
  return answer::silent;
}
