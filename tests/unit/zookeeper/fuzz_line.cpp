// Any nodes in a name, and any bytes in their data: whoever reads them goes on, and finds no two that exclude each other.
#include "engines/zookeeper/layout.hpp"
#include "engines/zookeeper/names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace tyer::zookeeper;

void demand(bool what) {
  if (!what) std::abort();
}

// Of four bytes: who, in which mode, where, and how it came there.
std::string node_of(std::string_view four) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(four[i]); };
  contender c;
  c.who = tyer::engine::id::from(std::string(16, static_cast<char>(byte(0) % 8 + 1)));
  c.take = byte(1) / 4U % 4 + 1;
  c.capacity = 4;
  c.number = byte(2);
  const auto how = static_cast<mode>(byte(1) % 3);
  if (byte(3) % 4 == 0) return moved_node(how, c);
  if (byte(3) % 8 == 2) return new_place(c.who) + std::to_string(c.number);
  if (byte(3) % 4 > 1) return new_node(how, c.who, c.take, c.capacity) + std::to_string(c.number);
  contender first;
  first.number = c.number + byte(3) / 4;
  return upgrading_node(c, byte(3) / 4 % 2 != 0 ? &first : nullptr) + std::to_string(byte(3));
}

void examine(const line& l) {
  std::uint64_t taken = 0;
  std::size_t alone = 0;
  for (std::size_t i = 0; i < l.holders(); ++i) {
    const contender& c = l.all()[i];
    demand(c.how == l.all().front().how && (c.how != mode::exclusive || l.holders() == 1));
    taken += c.take;
    alone += l.is_exclusive(c) ? 1 : 0;
  }
  demand(l.all().empty() || l.holders() > 0);
  demand(alone <= 1 && (alone == 0 || l.holders() == 1));
  if (l.holders() > 0 && l.all().front().how == mode::permit) demand(taken <= l.all().front().capacity);
  for (const contender& c : l.all()) {
    const contender* before = l.in_the_way_of(c);
    demand(before == nullptr || before->number <= c.number);
    if (const auto own = read_contender(c.node)) demand(own->number == c.number);
    if (c.has_both())
      demand(c.how == mode::exclusive && read_contender(c.place)->who == c.who && l.find(c.who)->number >= c.number);
    l.unmarked_behind(c);
  }
  l.fits(mode::exclusive, 1, 1);
  l.fits(mode::permit, 1, 4);
}

void examine(record_of_name r, const line& l) {
  for (const contender& c : l.all()) r.part_of(c, part_at(c.number), 100);
  r.assign(l);
  demand(!r.assign(l));
  r.raise(l);
  demand(read_record_of_name(write(r)).has_value());
}

void examine_theirs(const std::vector<std::string>& nodes) {
  for (const auto p : {protocol::curator, protocol::curator_rw, protocol::kazoo}) {
    const layout l{p, "/base", "prefix"};
    const line all = l.line_of(nodes);
    examine(all);
    for (const auto& node : nodes) {
      const auto r = l.read_data(node);
      demand(r.has_value() && l.read_data(l.write(*r)).has_value());
      demand(l.name_of(l.path_of(node)) == node);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view all{reinterpret_cast<const char*>(data), size};
  std::vector<std::string> nodes;
  for (; all.size() >= 4 && nodes.size() < 12; all.remove_prefix(4)) nodes.push_back(node_of(all.substr(0, 4)));
  const line known{nodes};
  examine(known);
  if (const auto r = read_record_of_name(all)) examine(*r, known);
  examine(record_of_name{}, known);
  if (const auto r = read_record(all)) demand(read_record(write(*r)).has_value());
  for (; !all.empty(); all.remove_prefix(std::min(all.size(), all.find('\n') + 1))) {
    const auto end = std::min(all.find('\n'), all.size());
    nodes.emplace_back(all.substr(0, end));
    if (const auto name = unescape(nodes.back())) demand(escape(*name) == nodes.back());
    if (const auto name = from_path(nodes.back())) demand(as_path(*name) == nodes.back());
    demand(from_path(as_path(nodes.back())) == nodes.back());
    if (end == all.size()) break;
  }
  examine(line{nodes});
  examine_theirs(nodes);
  return 0;
}
