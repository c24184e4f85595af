// The errors of protocol=redisson.
#pragma once

#include "engine/engine.hpp"

#include <tyer/error.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace tyer::redis::redisson {

inline engine::failure conflict() {
  return {engine::why::name_conflict, make_error_code(errc::name_conflict),
          "the key of this name holds something that is not a Redisson lock"};
}

inline engine::failure unsupported(std::string words) {
  return {engine::why::unsupported, make_error_code(errc::unsupported), std::move(words)};
}

// The failure with the messages of this protocol, whose names have no prefix, and whose rights are on another page.
inline engine::failure in_our_words(engine::failure f) {
  if (f.kind == engine::why::name_conflict) return conflict();
  const auto instead = [&](std::string_view theirs, std::string_view ours) {
    if (const auto at = f.words.find(theirs); at != f.words.npos) f.words.replace(at, theirs.size(), ours);
  };
  instead("docs/engines/redis.md", "docs/engines/redisson.md");
  instead("the keys of the prefix: ~PREFIX*", "the key of this name: ~NAME");
  instead("the channels of the prefix: &PREFIX*", "the channels of this name: &redisson_lock__channel:{NAME}");
  return f;
}

}  // namespace tyer::redis::redisson
