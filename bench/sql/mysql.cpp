// Boost.MySQL's pipelines: each statement is prepared once. Of two halves of the names one is locked by the pipeline in which the other
// is unlocked.
#include "core/id.hpp"
#include "core/token.hpp"
#include "core/uri.hpp"
#include "engines/mysql/statements.hpp"
#include "engines/mysql/texts.hpp"
#include "sql/database.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/mysql/any_connection.hpp>
#include <boost/mysql/pipeline.hpp>
#include <boost/mysql/results.hpp>

#include <stdexcept>
#include <string_view>
#include <vector>

namespace bench {

namespace {

namespace my = boost::mysql;
using clock = std::chrono::steady_clock;
using tyer::mysql::statement;

my::field_view blob(std::string_view t) {
  return my::field_view{my::blob_view{reinterpret_cast<const unsigned char*>(t.data()), t.size()}};
}

class mysql final : public database {
 public:
  explicit mysql(const std::string& uri) : c_(loop_) {
    const auto to = tyer::core::parse_uri(uri).value;
    my::connect_params where;
    where.server_address.emplace_host_and_port(to.hosts.at(0).host, to.hosts.at(0).port);
    where.username = to.user;
    where.password = to.password;
    where.database = to.path;
    where.ssl = my::ssl_mode::enable;
    c_.connect(where);
    execute(statement::mode);
    execute(statement::isolation);
    take_ = prepare(statement::take);
    give_back_ = prepare(statement::give_back);
    create_ = prepare(statement::create);
  }

  std::uint64_t statements() override {
    const auto all = std::stoll(told("SHOW GLOBAL STATUS LIKE 'Questions'", 1));
    return static_cast<std::uint64_t>(all - own_);
  }
  int connections() override {
    return static_cast<int>(std::stoll(told("SHOW GLOBAL STATUS LIKE 'Threads_connected'", 1)));
  }
  std::int64_t number(const std::string& query) override { return std::stoll(told(query, 0)); }

  double bare(int deep, milliseconds run) override;

 private:
  struct said {
    tyer::mysql::positional how;
    my::statement ready;
  };

  said prepare(const char* text) {
    auto how = tyer::mysql::positional_of(text);
    auto ready = c_.prepare_statement(how.text);
    return {std::move(how), ready};
  }
  my::results execute(std::string_view text) {
    my::results r;
    c_.execute(text, r);
    return r;
  }
  // One cell of the first row, as text.
  std::string told(const std::string& query, std::size_t column) {
    ++own_;
    const auto r = execute(query);
    if (r.rows().empty()) return "0";
    const auto f = r.rows().at(0).at(column);
    if (f.is_string()) return std::string{f.get_string()};
    return std::to_string(f.is_uint64() ? static_cast<std::int64_t>(f.get_uint64()) : f.get_int64());
  }
  static void add(my::pipeline_request& to, const said& s, const std::vector<my::field_view>& values) {
    std::vector<my::field_view> all;
    for (const auto i : s.how.order) all.push_back(values.at(i));
    to.add_execute_range(s.ready, all);
  }

  boost::asio::io_context loop_;
  my::any_connection c_;
  said take_, give_back_, create_;
  std::int64_t own_ = 0;
};

double mysql::bare(int deep, milliseconds run) {
  tyer::core::random_ids ids;
  const auto size = static_cast<std::size_t>(deep);
  std::vector<std::string> names, who(size);
  std::vector<bool> held(size);
  my::results ignored;
  for (std::size_t i = 0; i < size; ++i) {
    names.push_back(bare_name(i));
    c_.execute(
        create_.ready.bind(my::blob_view{reinterpret_cast<const unsigned char*>(names[i].data()), names[i].size()}),
        ignored);
  }
  const auto part_max = static_cast<std::int64_t>(tyer::core::part_max);
  std::vector<my::stage_response> responses;
  std::uint64_t cycles = 0;
  const auto begin = clock::now();
  for (bool ending = false, first = true;; first = false) {
    my::pipeline_request request;
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < size; ++i) {
      if ((first && i >= size / 2) || (ending && !held[i])) continue;
      asked.push_back(i);
      if (held[i]) {
        add(request, give_back_, {blob(names[i]), blob(who[i]), blob(""), my::field_view{bare_places}});
      } else {
        who[i] = ids.next().view();
        add(request, take_,
            {blob(names[i]), blob(who[i]), my::field_view{bare_ttl}, my::field_view{std::int64_t{1}}, blob(bare_owner),
             my::field_view{part_max}, my::field_view{bare_places}});
      }
    }
    c_.run_pipeline(request, responses);
    for (std::size_t n = 0; n < asked.size(); ++n) {
      if (responses[n].get_results().affected_rows() != 1)
        throw std::runtime_error("a name that nobody else uses was not free");
      cycles += held[asked[n]] && !ending ? 1 : 0;
      held[asked[n]] = !held[asked[n]];
    }
    if (ending) break;
    ending = cycles > 0 && clock::now() - begin >= run;
  }
  return static_cast<double>(cycles) / std::chrono::duration<double>(clock::now() - begin).count();
}

}  // namespace

std::unique_ptr<database> mysql_at(const std::string& uri) { return std::make_unique<mysql>(uri); }

}  // namespace bench
