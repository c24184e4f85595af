#include "deadlocks/picture.hpp"

#include "text/plain.hpp"

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string_view>

namespace cli {

namespace {

constexpr double box_width = 230, box_height = 46, margin = 30, name_width = 130;
constexpr int text_columns = 30, name_columns = 40;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string number(double d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", d);
  return text;
}

struct point {
  double x, y;
};

std::string text_at(point p, std::string_view style, std::string_view words) {
  return "<text x=\"" + number(p.x) + "\" y=\"" + number(p.y) + "\" class=\"" + std::string{style} + "\">" +
         escaped(words) + "</text>\n";
}

// How far from the middle of a box its edge is, in that direction.
double reach(double angle) {
  const double across = std::abs(std::cos(angle)) * 2 / box_width, along = std::abs(std::sin(angle)) * 2 / box_height;
  return 1 / std::max(across, along);
}

// Two upright arrows stand side by side, one up and one down: near its beginning each has room for its label.
std::string arrow(point from, point to, std::string_view label) {
  const double angle = std::atan2(to.y - from.y, to.x - from.x);
  const point begin{from.x + reach(angle) * std::cos(angle), from.y + reach(angle) * std::sin(angle)};
  const point end{to.x - (reach(angle) + 4) * std::cos(angle), to.y - (reach(angle) + 4) * std::sin(angle)};
  const double share = std::abs(std::cos(angle)) < 0.1 ? 0.3 : 0.5;
  const point label_at{begin.x + (end.x - begin.x) * share, begin.y + (end.y - begin.y) * share - 5};
  return "<path class=\"way\" marker-end=\"url(#head)\" d=\"M" + number(begin.x) + ' ' + number(begin.y) + " L" +
         number(end.x) + ' ' + number(end.y) + "\"/>\n" + text_at(label_at, "name", label);
}

std::string box(point middle, const tyer::lock_entry& e) {
  return "<rect class=\"box\" x=\"" + number(middle.x - box_width / 2) + "\" y=\"" + number(middle.y - box_height / 2) +
         "\" width=\"" + number(box_width) + "\" height=\"" + number(box_height) + "\" rx=\"6\"/>\n" +
         text_at({middle.x, middle.y - 4}, "who", shortened(who(e), text_columns)) +
         text_at({middle.x, middle.y + 14}, "site", shortened(where(e), text_columns));
}

struct drawing {
  std::string text;
  double width, height;
};

// Two processes stand above each other, with an arrow on each side; more stand on an ellipse that leaves room for the names of
// locks between boxes side by side.
class ring {
 public:
  explicit ring(std::size_t count)
      : count_(static_cast<double>(count)),
        across_(count == 2 ? name_width : std::max(300.0, count_ * 100)),
        along_(std::max(110.0, count_ * 45)) {}

  point place(std::size_t i) const {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / count_ - std::numbers::pi / 2;
    return {width() / 2 + across_ * std::cos(angle), margin + box_height / 2 + along_ * (1 + std::sin(angle))};
  }
  double width() const { return 2 * (across_ + box_width / 2 + margin); }
  // Down to the lowest box: an odd number of them has none at the bottom of the ellipse.
  double height() const { return place(static_cast<std::size_t>(count_ / 2)).y + box_height / 2 + margin; }

 private:
  double count_, across_, along_;
};

drawing draw(const circle& c, double top) {
  const ring r{c.size()};
  const auto place = [&](std::size_t i) {
    const auto p = r.place(i % c.size());
    return point{p.x, top + p.y};
  };
  std::string text;
  for (std::size_t i = 0; i < c.size(); ++i) {
    auto from = place(i), to = place(i + 1);
    const double aside = c.size() == 2 ? (i == 0 ? 85 : -85) : 0;
    from.x += aside, to.x += aside;
    text += arrow(from, to, shortened(plain(c[i].waits.name), name_columns));
  }
  for (std::size_t i = 0; i < c.size(); ++i) text += box(place(i), c[i].waits);
  return {text, r.width(), r.height()};
}

}  // namespace

std::string picture_of(const std::vector<circle>& all) {
  std::string body;
  double width = 0, height = 0;
  for (const auto& c : all) {
    const auto d = draw(c, height);
    body += d.text;
    width = std::max(width, d.width);
    height += d.height;
  }
  if (all.empty()) {
    width = 320, height = 80;
    body = text_at({160, 46}, "who", "no deadlock");
  }
  const auto size = number(width) + ' ' + number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\" width=\"" + number(width) +
         "\" height=\"" + number(height) +
         "\">\n<style>text{font-family:sans-serif;text-anchor:middle}.who{font-size:13px;font-weight:bold}"
         ".site,.name{font-size:12px}.name{fill:#b42318;paint-order:stroke;stroke:#fff;stroke-width:4px}"
         ".box{fill:#f4f6f8;stroke:#52606d}.way{stroke:#b42318;stroke-width:2;fill:none}</style>\n"
         "<defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" "
         "orient=\"auto\"><path d=\"M0 0 L10 5 L0 10 z\" fill=\"#b42318\"/></marker></defs>\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
         body + "</svg>\n";
}

}  // namespace cli
