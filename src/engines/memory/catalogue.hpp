// All resources by name. Like a resource, a plain value: no clock, no lock, no I/O.
//
// A name takes memory from its first grant until the floor of its tokens is forgotten: after a day, or on a steady clock as
// soon as it has no hold, waiter or ghost. Names need not be used again for that: every operation also checks two other
// names, in turn, and drops those whose time has come, so that names are dropped faster than they are made.
#pragma once

#include "engines/kit/resource.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tyer::memory {

using engine::answer;
using engine::fate;
using engine::id;
using engine::milliseconds;
using engine::mode;
using engine::request;
using engine::time_point;
using kit::limits;
using kit::notice;
using kit::notices;
using kit::resource;
using kit::result;
using kit::store_time;

// Counts what is in the store, for tests that check that nothing stays for ever.
struct census {
  std::size_t names = 0, holds = 0, waiters = 0;
  std::size_t tombstones = 0;  // names with nothing but the floor of their tokens
  std::size_t endless = 0;     // names that would never be forgotten: always 0
};

class catalogue {
 public:
  explicit catalogue(const limits& l = {}) : limits_(l) {}

  result<answer> acquire(std::string_view name, const request&, store_time now, notices&);
  fate keep(std::string_view name, const id&, fate as, milliseconds ttl, store_time now, notices&);
  fate release(std::string_view name, const id&, bool clean, store_time now, notices&);
  result<answer> convert(std::string_view name, const id&, mode to, store_time now, notices&);
  fate lift(std::string_view name, const id&, std::uint64_t part, store_time now, notices&);
  std::uint32_t ask(std::string_view name, std::string_view reason, store_time now, notices&);
  fate evict(std::string_view name, const id&, std::string_view reason, store_time now, notices&);

  // Names in byte order; within a name first the holds, then the queue. Expired entries are not shown.
  engine::page show(std::string_view name, store_time now) const;
  engine::page list(std::string_view prefix, std::string_view cursor, std::uint32_t limit, store_time now) const;

  // Breaks a hold or cancels a waiter wherever it is.
  fate lose(const id&, store_time now, notices&);
  void clear() { names_.clear(); }

  census count(store_time now) const;
  std::uint64_t changes(std::string_view name) const;

 private:
  resource* find(std::string_view name, store_time now);
  void sweep(store_time now);

  limits limits_;
  std::map<std::string, resource, std::less<>> names_;
  std::string swept_;  // the name checked last
};

}  // namespace tyer::memory
