// A connection to PostgreSQL for the stories.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stories {

class postgres {
 public:
  // As libpq takes it: "postgres://user:password@127.0.0.1:5432/shop".
  explicit postgres(const std::string& uri) : link_(PQconnectdb(uri.c_str()), PQfinish) {
    if (PQstatus(link_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(link_.get()));
  }

  struct answer {
    int rows = 0;      // that there are, or that were changed
    std::string text;  // the first field of the first row
  };

  // Throws std::runtime_error with the database's words.
  answer ask(const std::string& statement, const std::vector<std::string>& parameters = {}) {
    std::vector<const char*> texts;
    for (const auto& p : parameters) texts.push_back(p.c_str());
    const std::unique_ptr<PGresult, void (*)(PGresult*)> got{
        PQexecParams(link_.get(), statement.c_str(), static_cast<int>(texts.size()), nullptr, texts.data(), nullptr,
                     nullptr, 0),
        PQclear};
    const auto status = PQresultStatus(got.get());
    if (status == PGRES_COMMAND_OK) return {std::atoi(PQcmdTuples(got.get())), {}};
    if (status != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(link_.get()));
    const int rows = PQntuples(got.get());
    return {rows, rows > 0 ? PQgetvalue(got.get(), 0, 0) : ""};
  }

 private:
  std::unique_ptr<PGconn, void (*)(PGconn*)> link_;
};

}  // namespace stories
