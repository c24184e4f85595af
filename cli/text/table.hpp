// Columns that fit the terminal. In a pipe nothing is cut.
#pragma once

#include "text/terminal.hpp"

#include <string>
#include <vector>

namespace cli {

class table {
 public:
  struct column {
    std::string title;
    bool right = false;  // aligned; for figures
    int least = 0;       // may be cut to this many columns; 0: never
  };
  struct cell {
    std::string text;  // plain
    tone in = tone::plain;
  };

  explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const noexcept { return rows_.empty(); }

  // With a line of titles; each line ends with a line break.
  std::string text(const terminal& where) const;

 private:
  std::vector<int> widths(const terminal& where) const;

  std::vector<column> columns_;
  std::vector<std::vector<cell>> rows_;
};

}  // namespace cli
