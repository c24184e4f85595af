// The largest token part that a client has seen for each name: an engine that has forgotten a name, or whose clock was set
// back, must not grant a smaller one.
//
// One entry per name, whatever the mode and ttl: 16 bytes each, at most 1 MiB in total. When a bucket is full, its smallest
// part is evicted. Parts grow with time, so that is the one not seen for longest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string_view>
#include <vector>

namespace tyer::runtime {

class floors {
 public:
  static constexpr std::size_t ways = 8;            // slots of a bucket
  static constexpr std::size_t buckets_max = 8192;  // 65,536 names, or somewhat fewer

  std::uint64_t of(std::string_view name) const noexcept {
    const auto hash = hash_of(name);
    if (buckets_.empty()) return 0;
    for (const entry& e : at(hash)) {
      if (e.hash == hash) return e.part;
    }
    return 0;
  }

  void raise(std::string_view name, std::uint64_t part) noexcept {
    const entry fresh{hash_of(name), part};
    while (!put(fresh)) {
      if (!grow()) {
        if (buckets_.empty()) return;  // no memory for the first bucket
        entry& least = *std::ranges::min_element(at(fresh.hash), {}, &entry::part);
        least = fresh;
        return;
      }
    }
  }

 private:
  struct entry {
    std::uint64_t hash = 0, part = 0;
  };
  using bucket = std::array<entry, ways>;

  static std::uint64_t hash_of(std::string_view name) noexcept {
    return std::max<std::uint64_t>(std::hash<std::string_view>{}(name), 1);  // 0 means an empty slot
  }
  const bucket& at(std::uint64_t hash) const noexcept { return buckets_[hash & (buckets_.size() - 1)]; }
  bucket& at(std::uint64_t hash) noexcept { return buckets_[hash & (buckets_.size() - 1)]; }

  // False: the bucket is full.
  bool put(const entry& fresh) noexcept {
    if (buckets_.empty()) return false;
    for (entry& e : at(fresh.hash)) {
      if (e.hash != fresh.hash && e.hash != 0) continue;
      e = {fresh.hash, std::max(e.part, fresh.part)};
      return true;
    }
    return false;
  }

  bool grow() noexcept try {
    if (buckets_.size() >= buckets_max) return false;
    std::vector<bucket> old(std::max<std::size_t>(2 * buckets_.size(), 4));
    old.swap(buckets_);
    for (const bucket& b : old) {
      for (const entry& e : b) {
        if (e.hash != 0) put(e);  // twice as many buckets: none of them is full
      }
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::vector<bucket> buckets_;
};

}  // namespace tyer::runtime
