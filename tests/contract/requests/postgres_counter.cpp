// By pg_stat_statements, which the server must have loaded: --set shared_preload_libraries=pg_stat_statements.
#include "contract/postgres/raw.hpp"
#include "contract/requests/counter.hpp"

namespace tyer::contract {

namespace {

struct counted_by_postgres final : request_counter::source {
  counted_by_postgres() { server.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); }
  std::uint64_t requests() override {
    const auto rows = server.run(
        "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'");
    return std::stoull(rows.at(0).at(0));
  }
  postgres::raw server;
};

}  // namespace

std::unique_ptr<request_counter::source> postgres_requests() { return std::make_unique<counted_by_postgres>(); }

}  // namespace tyer::contract
