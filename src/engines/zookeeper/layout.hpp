// Where a name lies in the servers' tree, and what its nodes are called: in Tyer's own way (line.hpp), or in that of another
// library, which then stands in the same line. Values: no clock, no I/O.
//
//   own          <base>/q/<name>/…                                       any name, escaped; all modes
//   curator      <base>/<name>/_c_<uuid>-lock-<number>                   InterProcessMutex, and Lock of go-zookeeper
//   curator_rw   <base>/<name>/_c_<uuid>-__WRIT__<number>, …__READ__…    InterProcessReadWriteLock
//   kazoo        <base>/<name>/<id>__lock__<number>, …__rlock__…         Lock, WriteLock, ReadLock
//
// The nodes of the others end in the number that the server gave them, so they cannot be moved in their place, and their lines know
// neither permits nor upgrades.
#pragma once

#include "engines/zookeeper/line.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::zookeeper {

enum class protocol : std::uint8_t { own, curator, curator_rw, kazoo };

class layout {
 public:
  layout(protocol, const std::string& base, std::string prefix);

  bool is_own() const noexcept { return kind_ == protocol::own; }
  bool has_shared() const noexcept { return kind_ != protocol::curator; }

  std::string path_of(std::string_view name) const;
  std::optional<std::string> name_of(std::string_view path) const;  // of the path of a name
  const std::string& names() const noexcept { return names_; }      // all lie below
  const std::string& sessions() const noexcept { return sessions_; }
  // Names that begin so may lie there or below.
  bool leads_to(std::string_view path, std::string_view start) const;
  std::vector<std::string> always_there() const;  // whatever is to be made once

  // Whoever stands in line for the name above would wait for it.
  bool is_in_the_way(std::string_view name) const;

  std::optional<contender> read(std::string_view node) const;
  line line_of(const std::vector<std::string>& children) const;
  // Before the server numbers it.
  std::string new_node(mode, const id&, std::uint32_t take, std::uint32_t capacity) const;
  // Of a place that waits in another session than the hold is to live by.
  std::string new_place(mode, const id&, std::uint32_t take, std::uint32_t capacity) const;
  // In a node: others may show the words to people, and what follows is for Tyer. Of what others wrote there are words alone.
  std::string write(const record&) const;
  std::optional<record> read_data(std::string_view) const;

 private:
  std::optional<contender> read_theirs(std::string_view node) const;

  protocol kind_;
  std::string names_, sessions_, prefix_;
};

}  // namespace tyer::zookeeper
