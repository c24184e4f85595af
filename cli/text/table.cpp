#include "text/table.hpp"

#include "text/plain.hpp"

#include <algorithm>
#include <numeric>

namespace cli {

namespace {

constexpr int gap = 2;

std::string padded(const std::string& text, int width, bool right) {
  const auto blanks = std::string(static_cast<std::size_t>(std::max(width - columns(text), 0)), ' ');
  return right ? blanks + text : text + blanks;
}

}  // namespace

// Cuts the widest of the columns that may be cut, step by step, until the table fits.
std::vector<int> table::widths(const terminal& where) const {
  std::vector<int> w;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int widest = columns(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, columns(row[i].text));
    w.push_back(widest);
  }
  if (!where.out_is_terminal()) return w;
  int over = std::accumulate(w.begin(), w.end(), gap * (static_cast<int>(w.size()) - 1)) - where.width();
  for (; over > 0; --over) {
    std::size_t widest = w.size();
    for (std::size_t i = 0; i < w.size(); ++i) {
      const bool may_shrink = columns_[i].least > 0 && w[i] > columns_[i].least;
      if (may_shrink && (widest == w.size() || w[i] > w[widest])) widest = i;
    }
    if (widest == w.size()) break;
    --w[widest];
  }
  return w;
}

std::string table::text(const terminal& where) const {
  const auto w = widths(where);
  std::string out;
  const auto line = [&](const auto& cell_at) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const cell c = cell_at(i);
      const bool last = i + 1 == columns_.size();
      const auto cut = shortened(c.text, w[i]);
      const auto shown = last && !columns_[i].right ? cut : padded(cut, w[i], columns_[i].right);
      out += where.in(c.in, shown) + (last ? "" : std::string(gap, ' '));
    }
    out += '\n';
  };
  line([&](std::size_t i) { return cell{columns_[i].title, tone::faint}; });
  for (const auto& row : rows_) line([&](std::size_t i) { return row[i]; });
  return out;
}

}  // namespace cli
