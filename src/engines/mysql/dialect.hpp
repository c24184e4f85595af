// What is said to MySQL and MariaDB.
#pragma once

#include "engines/sql/dialect.hpp"

#include <string>

namespace tyer::mysql {

using namespace tyer::sql;

// A release is answered, and whoever has asked for it may be gone, before the bell is rung.
std::vector<const char*> said_behind_an_answer();

class dialect final : public sql::dialect {
 public:
  explicit dialect(const setting&);

  meaning what(const answered&) const override;
  std::vector<engine::finding> findings(const answers&, const server&) const override;

 private:
  exchange bounds() const override;
  bool no_such_table(const answered& a) const override { return a.code == "1146"; }
  std::optional<std::int64_t> number(const answered&) const override;
  std::string learn(const row& facts, server&) const override;
};

}  // namespace tyer::mysql
