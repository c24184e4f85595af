#include "engines/redis/connection/greeting.hpp"

namespace tyer::redis::greeting {

namespace {

// As servers say it, and as some proxies do.
bool wants_no_password(std::string_view error) {
  return error.find("without any password configured") != error.npos ||
         error.starts_with("ERR Client sent AUTH, but no password is set");
}
bool knows_another_password(std::string_view error) {
  return error.starts_with("WRONGPASS") || error.starts_with("ERR invalid password");
}

// Without a password, it lets in only clients of its own machine.
bool is_protected(std::string_view error) { return error.starts_with("DENIED"); }

std::string without_password(std::string text, const std::string& password) {
  constexpr std::string_view instead = "…";
  if (password.empty()) return text;
  for (auto at = text.find(password); at != text.npos; at = text.find(password, at + instead.size())) {
    text.replace(at, password.size(), instead);
  }
  return text;
}

// The advice follows it.
std::string in_short(std::string_view error) {
  if (error.starts_with("NOAUTH"))
    return "NOAUTH, it wants a password";  // the rest of the error only explains Redis commands
  if (is_protected(error))
    return "DENIED, it has no password and runs in protected mode, which lets in only clients of its own machine";
  if (error.ends_with('.')) error.remove_suffix(1);
  return std::string{error};
}

std::string scheme(const config& where) { return where.shown.substr(0, where.shown.find("://") + 3); }

// Some proxies.
bool knows_no_select(std::string_view error) {
  return error.starts_with("ERR unknown command") && error.find("SELECT") != error.npos;
}

bool says_no_such_database(std::string_view error) {
  return error.find("DB index") != error.npos || error.find("SELECT is not allowed in cluster mode") != error.npos ||
         knows_no_select(error);
}

std::string advice_on_database(const config& where, std::string_view error) {
  const auto number = '/' + std::to_string(where.database);
  if (knows_no_select(error)) return "; take the database " + number + " out of the URI: some proxies have none";
  if (error.find("cluster") != error.npos)
    return "; take the database " + number + " out of the URI: a cluster has none";
  return "; correct the database at the end of the URI, " + number + ": this server has fewer (its setting databases)";
}

// Of a sentinel no master is named. Before it has let us in, it cannot be told from a server.
bool is_sentinel(const config& where) { return where.deployment == shape::sentinel && where.master.empty(); }

std::string advice_on_sentinel(std::string_view error) {
  if (error.starts_with("NOAUTH"))
    return "; put the password of the sentinels into the URI: ?sentinel_password=PASSWORD; or, if this is no sentinel, "
           "begin it with redis://";
  if (knows_another_password(error)) return "; check ?sentinel_user= and ?sentinel_password= in the URI";
  if (wants_no_password(error)) return "; take ?sentinel_password= out of the URI";
  return {};
}

std::string advice(const config& where, std::string_view error) {
  if (is_sentinel(where)) return advice_on_sentinel(error);
  if (says_no_such_database(error)) return advice_on_database(where, error);
  if (error.starts_with("NOAUTH")) {
    return "; put the password into the URI: " + scheme(where) + ":PASSWORD@HOST or " + scheme(where) +
           "USER:PASSWORD@HOST";
  }
  if (is_protected(error)) {
    return "; give it a password, and put that into the URI: " + scheme(where) + ":PASSWORD@HOST";
  }
  if (knows_another_password(error))
    return "; check the user and the password in the URI, " + scheme(where) +
           "USER:PASSWORD@HOST, where @ is written %40, : %3A, / %2F, ? %3F, # %23 and % "
           "%25";
  if (wants_no_password(error)) return "; take the password out of the URI, or set one at the server";
  if (error.starts_with("NOPERM"))
    return "; this user needs more rights; all of them: docs/engines/redis.md, Least privilege, or "
           "docs/engines/redisson.md for protocol=redisson";
  return {};
}

}  // namespace

bool refuses_us(std::string_view error) noexcept {
  return error.starts_with("NOAUTH") || error.starts_with("NOPERM") || knows_another_password(error) ||
         wants_no_password(error) || is_protected(error) || says_no_such_database(error);
}

bool knows_no_hello(std::string_view error) noexcept {
  return error.starts_with("ERR unknown command") || error.starts_with("NOPROTO");
}

std::string too_old(const config& where, std::string_view version) {
  return where.shown + " is Redis " + std::string{version} + "; Redis 6.2 or newer, or Valkey, is needed";
}

std::string refused(const config& where, std::string_view error) {
  const std::string before = where.shown + " refused the connection: ";
  if (knows_no_select(error)) return before + "it does not know the command SELECT" + advice_on_database(where, error);
  // An old server repeats the command in its error, and so the password or a part of it.
  if (error.starts_with("ERR unknown command"))
    return before + "it does not know the command HELLO; Redis 6.2 or newer, or Valkey, is needed";
  return before + without_password(in_short(error), where.password) + advice(where, error);
}

std::string too_slow(const config& where, step at) {
  switch (at) {
    case step::looking_up: return "the host name " + where.server.host + " was not resolved in time";
    case step::connecting: return "cannot connect to " + where.shown + ": no answer in time";
    case step::securing:
      return where.shown + " does not answer: the TLS handshake was not finished in time" + advice_when_lost(where, at);
    case step::greeting:
    case step::greeted: break;
  }
  return where.shown + " does not answer: it did not finish greeting us in time";
}

std::string advice_when_lost(const config& where, step at) {
  if (at == step::securing) return "; if that port does not speak TLS, the URI begins with redis instead of rediss";
  if (at == step::greeting && !where.tls) {
    const auto number = std::to_string(where.database);
    return " before the server had said a word; if that port speaks TLS, the URI begins with rediss instead of redis" +
           (where.database == 0
                ? ""
                : "; if it is a proxy that has no databases, take the database /" + number + " out of the URI");
  }
  return {};
}

}  // namespace tyer::redis::greeting
