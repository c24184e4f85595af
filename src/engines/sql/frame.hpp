// What both engines of a database share: the connection, who of all clients sweeps the tables, and what the doctor asks.
#pragma once

#include "engines/kit/engine_base.hpp"
#include "engines/sql/dialect.hpp"
#include "engines/sql/link.hpp"
#include "engines/sql/sweeper.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::sql {

using kit::answer;
using kit::call_ptr;
using kit::fate;

constexpr std::size_t keep_batch = 1000;
constexpr std::uint32_t names_max = 1000;  // of a page

// What an engine is put together from.
struct parts {
  std::string_view scheme;
  std::unique_ptr<dialect> says;
  std::unique_ptr<wire> by;
  std::shared_ptr<seam::inbox> box;
};

class frame : public kit::engine_base {
 protected:
  struct bounds {
    milliseconds patience;  // with one request
    std::size_t under_way_max = std::numeric_limits<std::size_t>::max();
  };
  frame(const seam::environment&, parts, const bounds&);
  void fall_silent();  // for the destructor of every engine

  // What the link asks and tells (link.hpp), and what the sweeper has found.
  virtual exchange greeting() = 0;
  virtual std::optional<failure> greeted(const answers&) = 0;
  virtual meaning what(const answered& a) const { return says_->what(a); }
  virtual void on_up() = 0;
  virtual void on_down(const failure&) = 0;
  virtual void on_rung(std::string) {}
  virtual void on_stale(const std::string& /*name*/) {}

  void do_open() override { link_.open(); }
  void do_diagnose(const call_ptr<std::vector<seam::finding>>&) override;
  virtual std::vector<seam::finding> findings(const answers&) const;

  std::string full(std::string_view name) const { return around().prefix + std::string{name}; }

  const std::unique_ptr<dialect> says_;
  link link_;
  sweeper sweeper_;
  server server_;
};

}  // namespace tyer::sql
