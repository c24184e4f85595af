#include "checker/intervals.hpp"

#include <algorithm>

namespace fault {

time_set::time_set(std::vector<interval> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::int64_t sum = 0;
  for (const interval& piece : pieces) {
    if (piece.begin >= piece.end) continue;
    if (!pieces_.empty() && piece.begin <= pieces_.back().end) {
      pieces_.back().end = std::max(pieces_.back().end, piece.end);
    } else {
      pieces_.push_back(piece);
    }
  }
  for (const interval& piece : pieces_) {
    sums_.push_back(sum);
    sum += piece.end - piece.begin;
  }
}

std::int64_t time_set::before(std::int64_t t) const {
  const auto next =
      std::partition_point(pieces_.begin(), pieces_.end(), [&](const interval& piece) { return piece.begin < t; });
  if (next == pieces_.begin()) return 0;
  const auto last = next - 1;
  return sums_[static_cast<std::size_t>(last - pieces_.begin())] + std::min(t, last->end) - last->begin;
}

std::int64_t time_set::measure(std::int64_t begin, std::int64_t end) const {
  return begin < end ? before(end) - before(begin) : 0;
}

std::vector<interval> without(interval whole, const std::vector<interval>& holes) {
  std::vector<interval> rest;
  for (const interval& hole : holes) {
    if (hole.end <= whole.begin) continue;
    if (hole.begin >= whole.end) break;
    if (hole.begin > whole.begin) rest.push_back({whole.begin, hole.begin});
    whole.begin = hole.end;
    if (whole.begin >= whole.end) return rest;
  }
  rest.push_back(whole);
  return rest;
}

}  // namespace fault
