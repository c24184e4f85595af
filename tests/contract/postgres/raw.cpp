#include "contract/postgres/raw.hpp"

#include "engines/postgres/schema.hpp"
#include "engines/postgres/statements.hpp"

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace tyer::postgres {

namespace {

// As text, in the server's own words for it.
struct as_text {
  std::string operator()(sql::null) const { return {}; }
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const sql::bytes_list& v) const { return list(v); }
  std::string operator()(const sql::number_list& v) const { return list(v); }
  static std::string item(const std::string& v) { return v; }
  static std::string item(std::int64_t v) { return std::to_string(v); }
  static std::string list(const auto& all) {
    std::string out = "{";
    for (const auto& one : all) out += (out.size() > 1 ? "," : "") + item(one);
    return out + "}";
  }
};

struct texts {
  explicit texts(const std::vector<sql::value>& all) {
    for (const auto& v : all) kept.push_back(std::visit(as_text{}, v));
    for (std::size_t i = 0; i < all.size(); ++i) {
      given.push_back(std::holds_alternative<sql::null>(all[i]) ? nullptr : kept[i].c_str());
    }
  }
  std::vector<std::string> kept;
  std::vector<const char*> given;
};

std::vector<std::vector<std::string>> rows_of(PGresult* raw_result, PGconn* c) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> r{raw_result, &PQclear};
  const auto status = PQresultStatus(r.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(c));
  std::vector<std::vector<std::string>> all;
  for (int i = 0; i < PQntuples(r.get()); ++i) {
    auto& row = all.emplace_back();
    for (int k = 0; k < PQnfields(r.get()); ++k) row.emplace_back(PQgetvalue(r.get(), i, k));
  }
  return all;
}

}  // namespace

raw::raw() {
  std::string uri = std::getenv("TYER_URI");
  uri = uri.substr(0, uri.find('?'));
  c_.reset(PQconnectdb(uri.c_str()));
  if (PQstatus(c_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(c_.get()));
  PQsetNoticeProcessor(c_.get(), [](void*, const char*) {}, nullptr);
  run("SELECT pg_advisory_lock(1)");  // one at a time makes tables
  for (const char* ddl : schema_ddl) run(ddl);
  run("SELECT pg_advisory_unlock(1)");
}

std::vector<std::vector<std::string>> raw::run(const char* text, const std::vector<sql::value>& values) {
  const texts t{values};
  return rows_of(
      PQexecParams(c_.get(), text, static_cast<int>(t.given.size()), nullptr, t.given.data(), nullptr, nullptr, 0),
      c_.get());
}

void raw::begin(const char* text, const std::vector<sql::value>& values) {
  const texts t{values};
  if (PQsendQueryParams(c_.get(), text, static_cast<int>(t.given.size()), nullptr, t.given.data(), nullptr, nullptr,
                        0) == 0) {
    throw std::runtime_error(PQerrorMessage(c_.get()));
  }
}

bool raw::waits() {
  using namespace std::chrono_literals;
  raw other;
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < end) {
    const auto r = other.run("SELECT 1 FROM pg_stat_activity WHERE pid = $1::bigint AND wait_event_type = 'Lock'",
                             {std::int64_t{PQbackendPID(c_.get())}});
    if (!r.empty()) return true;
    if (PQconsumeInput(c_.get()) == 0 || PQisBusy(c_.get()) == 0) return false;  // it is answered
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

std::vector<std::vector<std::string>> raw::end() {
  auto all = rows_of(PQgetResult(c_.get()), c_.get());
  while (auto* more = PQgetResult(c_.get())) PQclear(more);
  return all;
}

std::int64_t raw::now() { return std::stoll(run("SELECT " TYER_NOW)[0][0]); }

}  // namespace tyer::postgres
