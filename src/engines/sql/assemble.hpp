// An engine put together from its parts.
#pragma once

#include "engine/table.hpp"
#include "engines/sql/config.hpp"
#include "engines/sql/database.hpp"
#include "engines/sql/session_locks.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tyer::sql {

// A box that finds no descriptors throws tyer::error.
template <class Box, class Wire, class Options>
seam::made assemble(std::string_view scheme, const tongue& speaks, const session_tongue& of_sessions,
                    read_config<Options> read, const seam::environment& e) {
  if (read.error) return {nullptr, std::move(read.error)};
  if (!read.warning.empty() && e.log) e.log(log_level::warning, std::string{scheme} + ": " + read.warning);
  try {
    auto box = std::make_shared<Box>();
    const dialect::setting s{e.ids->nonce(), e.request_timeout, read.value.make_tables};
    auto says = std::make_unique<dialect>(s, speaks);
    auto by = std::make_unique<Wire>(std::move(read.connect), box);
    if (read.value.by_session) {
      return {std::make_unique<session_locks>(e, session_locks::parts{.scheme = scheme,
                                                                      .says = std::move(says),
                                                                      .sessions = &of_sessions,
                                                                      .by = std::move(by),
                                                                      .box = box}),
              {}};
    }
    return {std::make_unique<database>(e, database::parts{.scheme = scheme,
                                                          .says = std::move(says),
                                                          .by = std::move(by),
                                                          .box = box,
                                                          .waiters_max = read.value.waiters_max}),
            {}};
  } catch (const tyer::error& no_descriptors) {
    return {nullptr, {no_descriptors.code(), no_descriptors.words()}};
  }
}

}  // namespace tyer::sql
