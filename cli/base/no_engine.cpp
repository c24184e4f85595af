#include "base/no_engine.hpp"

#include <cstdlib>

namespace cli {

trouble no_engine() {
  const auto note = note_on_tyer_uri();
  return {
      exit_code::usage, "no engine was named",
      (note.empty() ? note : note + ": export TYER_URL=\"$TYER_URI\"\n") +
          "Name the engine in one of these ways:\n"
          "  tyer --url redis://127.0.0.1:6379 config init       # for you, from now on; --system: for this machine\n"
          "  export TYER_URL=redis://127.0.0.1:6379              # in this shell\n"
          "  tyer --url redis://127.0.0.1:6379 ls                # only this time\n"
          "`tyer version` lists the engines this tyer knows."};
}

std::string note_on_tyer_uri() {
  const char* const value = std::getenv("TYER_URI");
  return value == nullptr || *value == '\0' ? "" : "TYER_URI is set, but tyer reads TYER_URL";
}

}  // namespace cli
