// libpq in pipeline mode: each statement is prepared once, and a transaction of its own.
#include "core/id.hpp"
#include "core/token.hpp"
#include "engines/postgres/statements.hpp"
#include "sql/database.hpp"

#include <libpq-fe.h>

#include <endian.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;
using result = std::unique_ptr<PGresult, decltype(&PQclear)>;
using tyer::postgres::statement;

constexpr const char *take = "take", *give_back = "give_back";

std::string binary(std::int64_t n) {
  const auto big = htobe64(static_cast<std::uint64_t>(n));
  return {reinterpret_cast<const char*>(&big), sizeof big};
}

std::string no_numbers() {
  const std::array<std::uint32_t, 3> head{0, 0, htobe32(20)};  // of bigint
  return {reinterpret_cast<const char*>(head.data()), sizeof head};
}

class postgres final : public database {
 public:
  explicit postgres(const std::string& uri) : c_(PQconnectdb(uri.c_str())) {
    if (PQstatus(c_.get()) != CONNECTION_OK) fail();
    PQsetNoticeProcessor(c_.get(), [](void*, const char*) {}, nullptr);
    ask("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    check(result{PQprepare(c_.get(), take, statement::take, 0, nullptr), &PQclear});
    check(result{PQprepare(c_.get(), give_back, statement::give_back, 0, nullptr), &PQclear});
  }

  std::uint64_t statements() override {
    return static_cast<std::uint64_t>(
        number("SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat%'"));
  }
  int connections() override {
    return static_cast<int>(number("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"));
  }
  std::int64_t number(const std::string& query) override {
    const auto r = ask(query);
    return PQntuples(r.get()) > 0 ? std::stoll(PQgetvalue(r.get(), 0, 0)) : 0;
  }

  double bare(int deep, milliseconds run) override;

 private:
  struct closer {
    void operator()(PGconn* c) const noexcept { PQfinish(c); }
  };

  [[noreturn]] void fail() const { throw std::runtime_error(PQerrorMessage(c_.get())); }
  void check(const result& r) const {
    const auto s = PQresultStatus(r.get());
    if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK) fail();
  }
  result ask(const std::string& query) {
    result r{PQexec(c_.get(), query.c_str()), &PQclear};
    check(r);
    return r;
  }
  void say(const char* which, const std::vector<std::string>& values);
  void must_be_done();

  std::unique_ptr<PGconn, closer> c_;
};

void postgres::say(const char* which, const std::vector<std::string>& values) {
  std::array<const char*, 8> at{};
  std::array<int, 8> lengths{}, formats{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    at[i] = values[i].data();
    lengths[i] = static_cast<int>(values[i].size());
    formats[i] = 1;
  }
  if (PQsendQueryPrepared(c_.get(), which, static_cast<int>(values.size()), at.data(), lengths.data(), formats.data(),
                          1) == 0 ||
      PQpipelineSync(c_.get()) == 0)
    fail();
}

// The answer of one statement, and the end of its transaction.
void postgres::must_be_done() {
  bool done = false;
  for (;;) {
    const result r{PQgetResult(c_.get()), &PQclear};
    if (!r) continue;
    const auto s = PQresultStatus(r.get());
    if (s == PGRES_PIPELINE_SYNC) break;
    if (s != PGRES_TUPLES_OK || PQntuples(r.get()) != 1) fail();
    std::uint64_t which = 0;
    std::memcpy(&which, PQgetvalue(r.get(), 0, 0), sizeof which);
    done = be64toh(which) == 4;
  }
  if (!done) throw std::runtime_error("a name that nobody else uses was not free");
}

double postgres::bare(int deep, milliseconds run) {
  tyer::core::random_ids ids;
  std::vector<std::string> who(static_cast<std::size_t>(deep));
  std::vector<bool> held(who.size());
  const auto lock = [&](std::size_t i) {
    who[i] = ids.next().view();
    say(take, {bare_name(i), who[i], binary(bare_ttl), binary(1), bare_owner,
               binary(static_cast<std::int64_t>(tyer::core::part_max)), binary(bare_places)});
  };
  const auto unlock = [&](std::size_t i) { say(give_back, {bare_name(i), who[i], no_numbers(), binary(bare_places)}); };
  if (PQenterPipelineMode(c_.get()) == 0) fail();
  for (std::size_t i = 0; i < who.size(); ++i) lock(i);
  PQflush(c_.get());
  const auto begin = clock::now();
  std::uint64_t cycles = 0;
  for (std::size_t next = 0, unsent = 0;; next = (next + 1) % who.size()) {
    must_be_done();
    cycles += held[next] ? 1 : 0;
    held[next] ? lock(next) : unlock(next);
    held[next] = !held[next];
    if (++unsent < 16) continue;
    PQflush(c_.get());
    unsent = 0;
    if (cycles > 0 && next + 1 == who.size() && clock::now() - begin >= run) break;
  }
  const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
  for (std::size_t i = 0; i < who.size(); ++i) must_be_done();
  for (std::size_t i = 0; i < who.size(); ++i) {
    if (held[i]) continue;  // the unlock has just been answered
    unlock(i);
    must_be_done();
  }
  if (PQexitPipelineMode(c_.get()) == 0) fail();
  return static_cast<double>(cycles) / seconds;
}

}  // namespace

std::unique_ptr<database> postgres_at(const std::string& uri) { return std::make_unique<postgres>(uri); }

}  // namespace bench
