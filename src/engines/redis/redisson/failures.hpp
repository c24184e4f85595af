// The errors of protocol=redisson.
#pragma once

#include "engine/engine.hpp"

#include <tyer/error.hpp>

#include <string>
#include <utility>

namespace tyer::redis::redisson {

inline engine::failure conflict() {
  return {engine::why::name_conflict, make_error_code(errc::name_conflict),
          "the key of this name holds something that is not a Redisson lock"};
}

inline engine::failure unsupported(std::string words) {
  return {engine::why::unsupported, make_error_code(errc::unsupported), std::move(words)};
}

// The failure with the messages of this protocol.
inline engine::failure in_our_words(engine::failure f) {
  return f.kind == engine::why::name_conflict ? conflict() : std::move(f);
}

}  // namespace tyer::redis::redisson
