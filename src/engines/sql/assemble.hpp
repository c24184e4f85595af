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
    parts p{scheme, std::make_unique<dialect>(s, speaks), std::make_unique<Wire>(std::move(read.connect), box), box};
    if (read.value.by_session) return {std::make_unique<session_locks>(e, std::move(p), of_sessions), {}};
    return {std::make_unique<database>(e, std::move(p), read.value.waiters_max), {}};
  } catch (const tyer::error& no_descriptors) {
    return {nullptr, {no_descriptors.code(), no_descriptors.words()}};
  }
}

}  // namespace tyer::sql
