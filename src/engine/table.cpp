#include "engine/table.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#pragma weak tyer_engine_redis
#pragma weak tyer_engine_etcd
#pragma weak tyer_engine_postgres
#pragma weak tyer_engine_mysql
#pragma weak tyer_engine_zookeeper

namespace tyer::engine {

namespace {

struct row {
  std::string_view scheme;
  maker make;
  std::string_view component;
};

std::array<row, 17> rows() {
  return {{
      {"memory", &tyer_engine_memory, "tyer::tyer"},
      {"redlock", &tyer_engine_redlock, "tyer::tyer"},
      {"redlocks", &tyer_engine_redlock, "tyer::tyer"},
      {"redis", &tyer_engine_redis, "tyer::redis"},
      {"rediss", &tyer_engine_redis, "tyer::redis"},
      {"redis+sentinel", &tyer_engine_redis, "tyer::redis"},
      {"rediss+sentinel", &tyer_engine_redis, "tyer::redis"},
      {"redis+cluster", &tyer_engine_redis, "tyer::redis"},
      {"rediss+cluster", &tyer_engine_redis, "tyer::redis"},
      {"etcd", &tyer_engine_etcd, "tyer::etcd"},
      {"etcds", &tyer_engine_etcd, "tyer::etcd"},
      {"postgres", &tyer_engine_postgres, "tyer::postgres"},
      {"postgresql", &tyer_engine_postgres, "tyer::postgres"},
      {"mysql", &tyer_engine_mysql, "tyer::mysql"},
      {"mariadb", &tyer_engine_mysql, "tyer::mysql"},
      {"zk", &tyer_engine_zookeeper, "tyer::zookeeper"},
      {"zks", &tyer_engine_zookeeper, "tyer::zookeeper"},
  }};
}

tyer::failure unknown_scheme(std::string_view scheme) {
  std::string words = "there is no engine for " + std::string{scheme} + "://; known are";
  for (const row& r : rows()) words.append(" ").append(r.scheme).append("://");
  return {errc::no_engine, std::move(words)};
}

// For the user who has mistyped one: so whoever takes an option need not be listed anywhere else.
tyer::failure unknown_option(const core::uri& u, std::string_view scheme) {
  const auto& option = u.query.front().first;
  if (std::ranges::find(u.known, option) != u.known.end())
    return {errc::invalid_uri, "the option ?" + option + "= is given twice"};
  auto known = u.known;
  std::ranges::sort(known);
  std::string words = "the option ?" + option + "= is not known to " + std::string{scheme} + "://, which knows";
  for (const auto& k : known) words += " ?" + k + '=';
  return {errc::invalid_uri, std::move(words)};
}

}  // namespace

made make(core::uri address, const environment& env) {
  for (const row& r : rows()) {
    if (r.scheme != address.scheme) continue;
    if (r.make == nullptr) {
      return {nullptr,
              {errc::no_engine, std::string{r.scheme} + ":// needs the component " + std::string{r.component}}};
    }
    made m = r.make(address, env);
    if (!m.error && !address.query.empty()) m = {nullptr, unknown_option(address, r.scheme)};
    if (m.place.empty()) m.place = address.place();
    return m;
  }
  return {nullptr, unknown_scheme(address.scheme)};
}

}  // namespace tyer::engine
