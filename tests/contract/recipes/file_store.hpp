// A store that processes of one machine share: a file for each key, and one lock over all. As a user would bring one.
#pragma once

#include <tyer/fence.hpp>
#include <tyer/recipes/store.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

namespace contract {

class file_store final : public tyer::recipes::store {
 public:
  explicit file_store(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::optional<tyer::recipes::found> find(std::string_view key) override {
    const alone one{folder_};
    return look(read(key));
  }
  tyer::recipes::entered enter(std::string_view key, const tyer::fence_pass& shown) override {
    const alone one{folder_};
    entry e = read(key);
    if (!e.marks.enter(shown)) return {};
    write(key, e);
    return {true, look(e)};
  }
  bool put(std::string_view key, const tyer::fence_pass& shown, const tyer::recipes::fresh& made) override {
    const alone one{folder_};
    entry e = read(key);
    if (!e.marks.enter(shown)) return false;
    e.value = made.value;
    constexpr auto for_ever = std::chrono::hours{24 * 365 * 100};
    e.ends = (tyer::lease_clock::now() + std::min<std::chrono::milliseconds>(made.lives_for, for_ever))
                 .time_since_epoch()
                 .count();
    write(key, e);
    return true;
  }
  bool erase(std::string_view key, const tyer::fence_pass& shown) override { return put(key, shown, {}); }

 private:
  struct entry {
    tyer::fence_marks marks;
    std::int64_t ends = 0;
    std::string value;
  };

  // The kernel takes it from a process that is killed.
  class alone {
   public:
    explicit alone(const std::filesystem::path& folder)
        : fd_(::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
      if (fd_ < 0 || ::flock(fd_, LOCK_EX) != 0) throw std::runtime_error("cannot lock the store");
    }
    alone(const alone&) = delete;
    alone& operator=(const alone&) = delete;
    ~alone() { ::close(fd_); }

   private:
    int fd_;
  };

  std::filesystem::path file(std::string_view key) const {
    return folder_ / std::to_string(std::hash<std::string_view>{}(key));
  }

  entry read(std::string_view key) const {
    entry e;
    std::ifstream in{file(key)};
    std::string by;
    if (!(in >> e.marks.max_exclusive >> e.marks.max_any >> by >> e.ends)) return {};
    e.marks.exclusive_by = tyer::hold_id::from(by);
    in.get();
    e.value.assign(std::istreambuf_iterator<char>{in}, {});
    return e;
  }
  // Whole or not at all.
  void write(std::string_view key, const entry& e) const {
    const auto made = folder_ / "made";
    std::ofstream{made} << e.marks.max_exclusive << ' ' << e.marks.max_any << ' '
                        << (e.marks.exclusive_by ? e.marks.exclusive_by.text() : "-") << ' ' << e.ends << '\n'
                        << e.value;
    std::filesystem::rename(made, file(key));
  }
  static std::optional<tyer::recipes::found> look(const entry& e) {
    const tyer::lease_clock::time_point ends{tyer::lease_clock::duration{e.ends}};
    const auto left = std::chrono::floor<std::chrono::milliseconds>(ends - tyer::lease_clock::now());
    if (left.count() <= 0) return {};
    return tyer::recipes::found{e.value, left};
  }

  std::filesystem::path folder_;
};

}  // namespace contract
