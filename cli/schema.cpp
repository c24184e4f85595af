// tyer schema: the tables that a database needs, as SQL; or makes them.
#include "engines/sql/schema.hpp"

#include "base/option.hpp"
#include "base/session.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"
#ifdef TYER_CLI_POSTGRES
#include "engines/postgres/schema.hpp"
#endif
#ifdef TYER_CLI_MYSQL
#include "engines/mysql/schema.hpp"
#endif

#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cli {

namespace {

using tyer::sql::schema_version;

struct options {
  bool apply = false;
};

struct database {
  const char* component;
  const char* name;
  std::span<const char* const> ddl;
};

// Of the schemes that the engines know.
database database_of(std::string_view scheme) {
#ifdef TYER_CLI_POSTGRES
  if (scheme == "postgres" || scheme == "postgresql") return {"postgres", "PostgreSQL", tyer::postgres::schema_ddl};
#endif
#ifdef TYER_CLI_MYSQL
  if (scheme == "mysql" || scheme == "mariadb") return {"mysql", "MySQL and MariaDB", tyer::mysql::schema_ddl};
#endif
  throw trouble(exit_code::usage, "there are no tables for " + plain(std::string{scheme}) + "://",
                "This command is for databases; `tyer version` lists the engines this tyer has.");
}

database database_of(session& s) {
  const auto url = find_settings(s.engine()).url;
  if (url.empty()) s.open();  // throws, and says how to name one
  return database_of(std::string_view{url}.substr(0, url.find("://")));
}

exit_code print_ddl(session& s, const database& of) {
  if (s.json()) {
    json j = {{"engine", of.component}, {"version", schema_version}, {"statements", json::array()}};
    for (const char* one : of.ddl) j["statements"].push_back(one);
    print(j);
    return exit_code::ok;
  }
  std::cout << "-- The tables of Tyer for " << of.name << ", version " << schema_version
            << ". Each statement may be run again.\n";
  for (const char* one : of.ddl) std::cout << one << ";\n";
  return exit_code::ok;
}

exit_code told(session& s, const database& of, bool made) {
  if (s.json()) {
    print({{"engine", of.component}, {"version", schema_version}, {"made", made}});
  } else {
    std::cout << "The tables of version " << schema_version << (made ? " were made\n" : " are there already\n");
  }
  return exit_code::ok;
}

// A client that finds tables of this version is let in, whatever its URL says; one that finds none is refused, unless it may make
// them. Tables of another version are refused either way.
exit_code apply(session& s, const database& of) {
  const auto at_most = s.connect_timeout().value_or(connect_timeout_usual);
  auto looking = s.open();
  const auto without = s.try_to_reach(looking, at_most);
  if (!without) return told(s, of, false);
  const auto doing = [&](tyer::client& c) { return "cannot make tables at " + tyer::admin{c}.address(); };
  if (without.code != tyer::errc::refused) throw trouble_of(without, doing(looking));
  auto making = s.open({}, "schema=apply");
  if (const auto why = s.try_to_reach(making, at_most)) throw trouble_of(why, doing(making));
  return told(s, of, true);
}

}  // namespace

command schema_command() {
  return {.name = "schema",
          .summary = "Print the tables that a database needs, or make them",
          .details =
              "For databases (postgres://, mysql://). Prints the statements that make the tables, with the version of "
              "their layout: for whoever keeps migrations. Nothing is asked of the server.\n\n"
              "With --apply they are run, by the login of the URL, which must be allowed to create tables: as "
              "?schema=apply in the URL of a client does. If the tables are there, nothing is changed. Tables of an "
              "earlier or later version are refused, with what to do.",
          .examples = {{"tyer --url postgres://127.0.0.1/shop schema", "to look at, or for psql"},
                       {"tyer --url mysql://admin@127.0.0.1/shop schema --apply", "makes them"}},
          .prepare = [](CLI::App& app) -> action {
            auto o = std::make_shared<options>();
            add_flag(app, "--apply", o->apply, "Run the statements");
            return [o](session& s) {
              const auto of = database_of(s);
              return o->apply ? apply(s, of) : print_ddl(s, of);
            };
          }};
}

}  // namespace cli
