#include "engines/etcd/freshness.hpp"

namespace tyer::etcd {

freshness::attempt freshness::begin(time_point now, std::uint64_t stream, lease_clock::duration patience) {
  if (stream == 0 || (stream == stream_ && now - began_ < patience)) return 0;
  stream_ = stream;
  revision_ = 0;
  began_ = now;
  return ++last_;
}

bool freshness::on_read(attempt a, std::int64_t revision) {
  if (a != last_ || stream_ == 0 || revision_ != 0) return false;
  revision_ = revision;
  return true;
}

void freshness::on_progress(std::uint64_t stream, std::int64_t revision) {
  if (stream != stream_ || revision_ == 0 || revision < revision_) return;
  known_on_ = stream;
  known_at_ = began_;
  stream_ = 0;
}

}  // namespace tyer::etcd
