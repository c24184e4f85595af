// Holders and waiters as text.
#pragma once

#include <tyer/admin.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cli {

using entries = std::vector<tyer::lock_entry>;

// All of these are plain text.
// "shop-7 pid 812 shop", of a command under a lock "vm pid 69 deploy: ./backup", or whatever another library has written
std::string who(const tyer::lock_entry& e);
std::string process(const tyer::lock_entry& e);  // "vm pid 69"
std::string where(const tyer::lock_entry& e);    // "order.cc:87"; "-" if it is not known
std::string age(
    const tyer::lock_entry& e);  // since it asked: "1.2 s", by the owner's clock and ours; "-" if it is not known
std::string held(const tyer::lock_entry& e);   // since it was granted: as held_for()
std::string left(const tyer::lock_entry& e);   // "8.8 s"
std::string how(const tyer::lock_entry& e);    // "exclusive", "shared", "slots 0, 3"
std::string token(const tyer::lock_entry& e);  // "-" if there is none

// How long ago it asked, by the owner's clock and ours.
std::optional<std::chrono::milliseconds> asked_for(const tyer::lock_entry& e);

// How long ago it was granted, if the token contains the time: Redis and Redlock make tokens from the server's time.
// Compared with our clock.
std::optional<std::chrono::milliseconds> held_for(const tyer::lock_entry& e);

// The lock in a word: "held", "kept" (by --once-per), "shared by 3", "2 permits", "free"
std::string state(const entries& of_one_name);

std::size_t waiting(const entries& all);

// All entries of one name.
struct lock {
  std::string name;
  entries all;  // holders first
};
std::vector<lock> by_name(entries all);

// All pages of a listing, without duplicates, in the order of names.
std::vector<lock> list_all(const tyer::admin& admin, const std::string& prefix,
                           const std::function<void()>& between = {});

// The same, but only about the first `entries_max` entries.
struct listing {
  std::vector<lock> locks;
  bool complete = true;
};
// `between` is called between two pages, of which there may be many: what it throws ends the listing.
listing list_up_to(const tyer::admin& admin, const std::string& prefix, std::size_t entries_max,
                   const std::function<void()>& between = {});

// As many as can be read in a short time, since an engine may have millions. Never throws: empty on failure.
std::vector<lock> list_some(const tyer::admin& admin);

}  // namespace cli
