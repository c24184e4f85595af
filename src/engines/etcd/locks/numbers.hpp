// Which of its keys a client writes for an id: C.n, where C is drawn when the client starts and n is, for each name, the
// smallest number that no id has. So the keys of a name come back, and etcd, which walks every deleted key of a range until it
// is compacted, has as few to walk as were ever in use at once.
//
// An id keeps its number until nothing can be written for it any more (core.hpp), whether it holds, waits or was lost: until
// then what lies there is its own. Where something else lies, the number is left alone for a while.
//
// A key and its create revision are a hold's alone, as long as revisions only grow; when they were set back, C is drawn anew.
#pragma once

#include "core/id.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace tyer::etcd {

class numbers {
 public:
  explicit numbers(const core::id& drawn) : client_(drawn) {}
  void draw_anew(const core::id& drawn);  // what ids have they keep

  core::id of(const std::string& name, const core::id& who);  // what it has, or else gets
  std::optional<core::id> find(const std::string& name, const core::id& who) const;
  core::id another(const std::string& name, const core::id& who);  // what it had is nobody's, and not free
  bool has(const core::id& at) const;                              // it is one that could be given
  // Who has it; the null id: nobody, but it is not free. Nothing: it is free, or another client's.
  std::optional<core::id> whose(const std::string& name, const core::id& at) const;
  void free(const std::string& name, const core::id& at);

 private:
  struct row {
    std::unordered_map<core::id, core::id, core::id_hash> by_id, taken;  // where it sits; who sits there
    std::uint32_t lowest = 0;                                            // all below are taken
  };
  core::id at(std::uint32_t n) const;

  core::id client_;  // its last four bytes are not used
  std::unordered_map<std::string, row> rows_;
};

}  // namespace tyer::etcd
