#include <tyer/error.hpp>
#include <tyer/version.hpp>

#include <string>

namespace tyer {
inline namespace v1 {

namespace {

const char* describe(errc e) noexcept {
  switch (e) {
    case errc::lost: return "the lock was lost";
    case errc::cancelled: return "the call was cancelled";
    case errc::unavailable:
      return "the engine is unavailable; check that it runs, that the URI is right, and that the limit is long enough";
    case errc::outcome_unknown: return "the request was sent, but its outcome is not known";
    case errc::refused: return "the engine refused";
    case errc::name_conflict:
      return "the key of this name holds something that is not a Tyer lock; use another name or prefix";
    case errc::over_limit: return "a limit would be exceeded";
    case errc::unsupported: return "this engine cannot do that";
    case errc::no_engine: return "no engine for this URI";
    case errc::invalid_uri: return "the URI cannot be understood";
    case errc::invalid_name: return "a name must have 1 to 1024 bytes";
    case errc::invalid_option: return "an option is out of its range";
    case errc::closed: return "the client was closed";
    case errc::forked: return "the object belongs to the parent process; make a new client after fork";
    case errc::would_deadlock: return "the caller would wait for itself";
    case errc::not_held: return "the lock is not held";
    case errc::permits_differ: return "the semaphore is in use with another number of permits";
  }
  return "unknown error";
}

class tyer_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tyer"; }
  std::string message(int value) const override { return describe(static_cast<errc>(value)); }

  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<errc>(value)) {
      case errc::cancelled: return std::errc::operation_canceled;
      case errc::unavailable: return std::errc::host_unreachable;
      case errc::outcome_unknown: return std::errc::io_error;
      case errc::refused: return std::errc::permission_denied;
      case errc::lost: return std::errc::owner_dead;
      case errc::over_limit: return std::errc::resource_unavailable_try_again;
      case errc::unsupported: return std::errc::operation_not_supported;
      case errc::no_engine: return std::errc::protocol_not_supported;
      case errc::name_conflict: return std::errc::file_exists;
      case errc::invalid_uri:
      case errc::invalid_name:
      case errc::permits_differ:
      case errc::invalid_option: return std::errc::invalid_argument;
      case errc::closed: return std::errc::not_connected;
      case errc::forked:
      case errc::not_held: return std::errc::operation_not_permitted;
      case errc::would_deadlock: return std::errc::resource_deadlock_would_occur;
    }
    return {value, *this};
  }
};

}  // namespace

const std::error_category& category() noexcept {
  static const tyer_category instance;
  return instance;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), category()}; }

bool is_transient(std::error_code c) noexcept {
  return c == errc::unavailable || c == errc::outcome_unknown || c == errc::over_limit ||
         c == std::errc::not_enough_memory;
}

std::string failure::message() const {
  if (!code) return {};
  return words.empty() ? code.message() : code.message() + ": " + words;
}

error::error(const failure& f)
    : std::system_error(f.code, f.words.empty() ? std::string{"tyer"} : "tyer: " + f.words), words_(f.words) {}

std::string_view library_version() noexcept {
#define TYER_TEXT_(x) #x
#define TYER_TEXT(x) TYER_TEXT_(x)
  return TYER_TEXT(TYER_VERSION_MAJOR) "." TYER_TEXT(TYER_VERSION_MINOR) "." TYER_TEXT(TYER_VERSION_PATCH);
#undef TYER_TEXT
#undef TYER_TEXT_
}

}  // namespace v1
}  // namespace tyer
