// A connection that blocks, beside the engine's.
#pragma once

#include "core/id.hpp"

#include <mysql.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tyer::mysql {

class raw {
 public:
  raw();  // to TYER_URI

  void run(const std::string& text);  // throws std::runtime_error
  std::int64_t number(const std::string& text);

  static std::string bytes(std::string_view);  // as a literal

 private:
  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
};

}  // namespace tyer::mysql
