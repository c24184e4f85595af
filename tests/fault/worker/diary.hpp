// What the client says of its servers, with the time of the histories: HISTORY.log, to be read when a run has failed.
#pragma once

#include "history/event.hpp"

#include <tyer/options.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace fault {

inline tyer::log_hook diary(const std::string& history) {
  const std::shared_ptr<std::FILE> file{std::fopen((history + ".log").c_str(), "we"), [](std::FILE* f) {
                                          if (f != nullptr) std::fclose(f);
                                        }};
  return [file](tyer::log_level, std::string_view text) {
    if (!file) return;
    std::fprintf(file.get(), "%.6f %.*s\n", static_cast<double>(now_ns()) / 1e9, static_cast<int>(text.size()),
                 text.data());
    std::fflush(file.get());  // the process may be killed
  };
}

}  // namespace fault
