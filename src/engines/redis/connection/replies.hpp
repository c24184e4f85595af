// Converts what a connection received to replies for the runtime.
#pragma once

#include "engine/engine.hpp"
#include "engines/redis/connection/connection.hpp"

#include <string_view>
#include <utility>
#include <variant>

namespace tyer::redis {

// The one text of an answer.
inline std::string_view first(const received& r) { return r.words.empty() ? std::string_view{} : r.words[0]; }

inline engine::failure as_it_is(const engine::failure& f) { return f; }

// For answers that are one text. `parse` returns a variant of T and failure, `in_words` converts a failure.
template <class T, class Parse, class InWords = decltype(&as_it_is)>
reply_handler parsed(engine::reply<T> back, Parse parse, InWords in_words = &as_it_is) {
  return [back = std::move(back), parse, in_words](const received& r) mutable {
    if (r.wrong != nullptr) return back({r.sent, in_words(*r.wrong)});
    std::visit([&](auto&& result) { back({r.sent, std::move(result)}); }, parse(first(r)));
  };
}

// For a refused call: passes on the failure that `refuse` (of a connection or a deployment) delivers in the next turn.
template <class T>
reply_handler refused(engine::reply<T> back) {
  return [back = std::move(back)](const received& r) mutable { back({r.sent, *r.wrong}); };
}

}  // namespace tyer::redis
