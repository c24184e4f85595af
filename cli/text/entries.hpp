// Holders and waiters in words.
#pragma once

#include <tyer/admin.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace cli {

using entries = std::vector<tyer::lock_entry>;

// All of these are plain text.
std::string who(const tyer::lock_entry& e);    // "shop-7 pid 812 shop", or whatever another library has written
std::string where(const tyer::lock_entry& e);  // "order.cc:87"; "-" if it is not known
std::string age(const tyer::lock_entry& e);    // "1.2 s", by the owner's clock and ours; "-" if it is not known
std::string left(const tyer::lock_entry& e);   // "8.8 s"
std::string how(const tyer::lock_entry& e);    // "exclusive", "shared", "slots 0, 3"
std::string token(const tyer::lock_entry& e);  // "-" if there is none

// The lock in a word: "held", "shared by 3", "2 permits", "free", "2 wait"
std::string state(const entries& of_one_name);

std::size_t waiting(const entries& all);

// Of one name each, in the order of their names.
struct lock {
  std::string name;
  entries all;  // holders first
};
std::vector<lock> by_name(entries all);

// All pages of a listing. An entry that two pages have is there once.
std::vector<lock> list_all(const tyer::admin& admin, const std::string& prefix);

}  // namespace cli
