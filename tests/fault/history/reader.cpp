#include "history/reader.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace fault {

std::vector<event> read_history(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  history_header header, expected;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 || header.version != expected.version ||
      header.event_bytes != sizeof(event)) {
    throw std::runtime_error{path + " is not a history of this version"};
  }
  std::vector<event> lines(std::min(header.next, header.capacity));
  if (!file.read(reinterpret_cast<char*>(lines.data()), static_cast<std::streamsize>(lines.size() * sizeof(event)))) {
    throw std::runtime_error{path + " is shorter than it says"};
  }
  std::erase_if(lines, [](const event& e) { return e.what == op::none; });
  return lines;
}

std::vector<std::vector<event>> read_histories(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.path().extension() == ".hist") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::vector<event>> all;
  for (const auto& path : paths) all.push_back(read_history(path));
  return all;
}

}  // namespace fault
