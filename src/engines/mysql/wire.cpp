#include "engines/mysql/wire.hpp"

#include "engines/mysql/idle.hpp"
#include "engines/mysql/socket_of.hpp"
#include "engines/mysql/texts.hpp"
#include "engines/net/lookup.hpp"
#include "engines/net/tls.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/bind_immediate_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/mysql/any_connection.hpp>
#include <boost/mysql/error_categories.hpp>
#include <boost/mysql/is_fatal_error.hpp>
#include <boost/mysql/pipeline.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <variant>

namespace tyer::mysql {

namespace asio = boost::asio;
namespace my = boost::mysql;
using error_code = boost::system::error_code;

namespace {

// Of one pipeline: all of it is written before anything is read, so the rest of it must have room in the sockets' buffers.
constexpr std::size_t statements_max = 256, bytes_max = 64 * 1024;

std::string words_of(const error_code& e, const my::diagnostics& d) {
  std::string words{d.server_message()};
  if (words.empty()) words = d.client_message();
  return words.empty() ? e.message() : words;
}

bool is_of_server(const error_code& e) {
  return e.category() == my::get_common_server_category() || e.category() == my::get_mysql_server_category() ||
         e.category() == my::get_mariadb_server_category();
}

// The login, the right to the database, the database itself, or the host we come from: the next attempt is refused too.
bool is_for_good(const error_code& e) {
  constexpr std::array codes{1044, 1045, 1049, 1130, 1251, 1698};
  return is_of_server(e) && std::ranges::find(codes, e.value()) != codes.end();
}

sql::cell cell_of(my::field_view f) {
  switch (f.kind()) {
    case my::field_kind::int64: return {false, f.get_int64(), {}};
    case my::field_kind::uint64: return {false, static_cast<std::int64_t>(f.get_uint64()), {}};
    case my::field_kind::string: return {false, 0, std::string{f.get_string()}};
    case my::field_kind::blob: {
      const auto b = f.get_blob();
      return {false, 0, std::string{reinterpret_cast<const char*>(b.data()), b.size()}};
    }
    default: return {};
  }
}

answered answer_of(const my::stage_response& r) {
  answered a;
  if (r.error()) {
    a.failed = true;
    a.code = std::to_string(r.error().value());
    a.words = words_of(r.error(), r.diag());
  } else if (r.has_results()) {
    const auto& all = r.get_results();
    a.affected = all.affected_rows();
    a.insert_id = all.last_insert_id();
    for (const auto row : all.rows()) {
      auto& cells = a.rows.emplace_back();
      for (const auto f : row) cells.push_back(cell_of(f));
    }
  }
  return a;
}

std::size_t size_of(const sql::statement& s) {
  std::size_t n = 64;
  for (const auto& v : s.values) {
    if (const auto* t = std::get_if<std::string>(&v)) n += t->size();
    if (const auto* l = std::get_if<sql::bytes_list>(&v)) n += 2 * l->size() * (l->empty() ? 0 : l->front().size() + 2);
  }
  return n;
}

// The values of one statement, while they are being written.
class bound {
 public:
  explicit bound(const std::vector<sql::value>& all) {
    lists_.reserve(all.size());
    for (const auto& v : all) fields_.push_back(std::visit([this](const auto& one) { return field(one); }, v));
  }
  std::vector<my::field_view> in(const std::vector<std::size_t>& order) const {
    std::vector<my::field_view> all;
    for (const auto i : order) all.push_back(fields_.at(i));
    return all;
  }

 private:
  static my::field_view blob(const std::string& t) {
    return my::field_view{my::blob_view{reinterpret_cast<const unsigned char*>(t.data()), t.size()}};
  }
  my::field_view field(sql::null) { return {}; }
  my::field_view field(std::int64_t n) { return my::field_view{n}; }
  my::field_view field(const std::string& t) { return blob(t); }
  template <class List>
  my::field_view field(const List& l) {
    return blob(lists_.emplace_back(text_of(l)));
  }

  std::vector<std::string> lists_;
  std::vector<my::field_view> fields_;
};

}  // namespace

// One attempt, and the connection that came of it. Its handlers keep it, and do nothing once it is cut. Boost.MySQL has one
// operation at a time.
class wire::connection : public std::enable_shared_from_this<connection> {
  // Both executors are named: Boost.MySQL erases the type of handlers, and Asio would need memory to erase that of the executors
  // it falls back to, where it ends the process if there is none.
  template <class F>
  auto slot(F then) {
    auto handler = [me = shared_from_this(), then](const error_code& e) {
      me->busy_ = false;
      then(e);
    };
    const auto here = box_.context().get_executor();
    const auto later = asio::require(here, asio::execution::blocking.never);
    return asio::bind_immediate_executor(
        later, asio::bind_executor(here, asio::bind_cancellation_slot(signal_.slot(), std::move(handler))));
  }

 public:
  connection(wire& home, const core::endpoint& to, std::size_t round)
      : home_(&home),
        box_(*home.box_),
        idle_(
            box_.context(), [this] { return busy_; }, [this] { make_sure(); }),
        tls_(asio::ssl::context::tls_client),
        host_(to.host),
        port_(to.port),
        round_(round) {}

  bool is_idle() const { return open_ && !busy_; }

  void start(const options& o) {
    if (const auto words = prepare_tls(o); !words.empty()) return lost(words);
    where_.username = o.user;
    where_.password = o.password;
    where_.database = o.database;
    where_.ssl = o.encrypted == options::tls::off          ? my::ssl_mode::disable
                 : o.encrypted == options::tls::if_offered ? my::ssl_mode::enable
                                                           : my::ssl_mode::require;
    my::any_connection_params params;
    params.ssl_context = &tls_;
    server_.emplace(box_.context(), params);
    lookup_.start(box_.context(), host_, port_, [this](const error_code& e, net::lookup::addresses found) {
      const auto me = shared_from_this();
      if (e) return lost(host_ + ": " + e.message());
      addresses_.assign(found.begin(), found.end());
      std::ranges::rotate(addresses_, addresses_.begin() + static_cast<std::ptrdiff_t>(round_ % addresses_.size()));
      try_next();
    });
  }

  // Whatever of it was not prepared yet is prepared first.
  void run(std::deque<sent> all) {
    idle_.used();
    under_way_ = std::move(all);
    std::vector<const char*> missing;
    const auto need = [&](const char* text) {
      const bool is_new = std::ranges::find(missing, text) == missing.end();
      if (!known_.contains(text) && is_new) missing.push_back(text);
    };
    for (const auto& s : under_way_) {
      for (const auto& one : s.what) {
        if (!one.values.empty()) need(one.text);
      }
    }
    if (missing.empty()) return execute();
    for (const char* text : home_->options_.texts) need(text);  // there were no tables when it connected
    prepare(std::move(missing), [this] { execute(); });
  }

  void cut() noexcept {
    home_ = nullptr;
    lookup_.forget();
    idle_.stop();
    signal_.emit(asio::cancellation_type::terminal);
  }

 private:
  struct known {
    positional how;
    my::statement ready;
  };

  // Told by the loop, unless it was cut meanwhile.
  template <class F>
  void tell(F what) {
    box_.put([me = shared_from_this(), what = std::move(what)](engine::events*) mutable {
      if (me->home_ != nullptr) what(*me->home_);
    });
  }

  template <class F>
  void prepare(std::vector<const char*> missing, F then) {
    request_.clear();
    for (const char* text : missing) request_.add_prepare_statement(positional_of(text).text);
    go([this, missing = std::move(missing), then] {
      for (std::size_t i = 0; i < missing.size(); ++i) {
        if (responses_[i].has_statement()) {
          known_.emplace(missing[i], known{positional_of(missing[i]), responses_[i].get_statement()});
        } else {
          refused_.emplace(missing[i], answer_of(responses_[i]));
        }
      }
      then();
    });
  }

  // One that cannot be (there are no tables yet) is tried again when it is said.
  void prepare_first() {
    prepare(home_->options_.texts, [this] {
      refused_.clear();
      tell([](wire& w) { w.user_->on_open(); });
    });
  }

  void lost(const std::string& words, kit::why kind = kit::why::unknown) {
    open_ = false;
    tell([words, kind](wire& w) { w.broken(words, kind); });
  }

  // There is another address to try, unless the server itself has answered.
  void try_next() {
    where_.server_address.emplace_host_and_port(addresses_.front().address().to_string(), port_);
    addresses_.pop_front();
    busy_ = true;
    server_->async_connect(where_, said_, slot([this](const error_code& e) {
                             if (home_ == nullptr) return;
                             const bool unreachable = e && e.category() == boost::system::system_category();
                             if (unreachable && !addresses_.empty()) return try_next();
                             if (e) return not_let_in(e);
                             open_ = true;
                             watch();
                             prepare_first();
                           }));
  }

  void not_let_in(const error_code& e) {
    if (e.category() == asio::error::get_ssl_category()) home_->authorities_.reset();
    lost(host_ + ": " + sql::without_user(words_of(e, said_), std::string{where_.username}, '\''),
         is_for_good(e) ? kit::why::refused : kit::why::unknown);
  }

  // Asio opens sockets without SOCK_CLOEXEC.
  void watch() {
    const int socket = socket_of(*server_);
    if (socket >= 0) ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    idle_.start(socket, weak_from_this());
  }

  // Something has come that nobody has asked for.
  void make_sure() {
    if (home_ == nullptr || !is_idle()) return;
    busy_ = true;
    server_->async_ping(said_, slot([this](const error_code& e) {
                          if (home_ == nullptr) return;
                          if (e) return lost(words_of(e, said_));
                          idle_.used();
                          tell([](wire& w) { w.take_turn(); });
                        }));
  }

  std::string prepare_tls(const options& o) {
    error_code e;
    const auto& files = o.files;
    SSL_CTX_set_min_proto_version(tls_.native_handle(), TLS1_2_VERSION);
    if (!files.ca.empty()) {
      tls_.load_verify_file(files.ca, e);
      if (e) return "?ca=" + files.ca + " cannot be read as PEM certificates: " + e.message();
    } else if (files.verify && o.encrypted != options::tls::off) {
      trust_the_system();
    }
    if (!files.cert.empty()) {
      tls_.use_certificate_chain_file(files.cert, e);
      if (e) return "?cert=" + files.cert + " cannot be read as a PEM certificate: " + e.message();
      tls_.use_private_key_file(files.key, asio::ssl::context::pem, e);
      if (e) return "?key=" + files.key + " cannot be read as the PEM key of ?cert=: " + e.message();
    }
    tls_.set_verify_mode(files.verify ? asio::ssl::verify_peer : asio::ssl::verify_none, e);
    if (files.verify) tls_.set_verify_callback(asio::ssl::host_name_verification(host_), e);
    return {};
  }

  // Its authorities are many: they are read once, and anew when a server was not trusted.
  void trust_the_system() {
    SSL_CTX* const own = tls_.native_handle();
    if (home_->authorities_) {
      SSL_CTX_set1_cert_store(own, home_->authorities_.get());
      return;
    }
    error_code none_there;
    tls_.set_default_verify_paths(none_there);
    X509_STORE* const read = SSL_CTX_get_cert_store(own);
    if (X509_STORE_up_ref(read) == 1) home_->authorities_ = {read, &X509_STORE_free};
  }

  template <class F>
  void go(F then) {
    busy_ = true;
    responses_.clear();
    server_->async_run_pipeline(request_, responses_, said_, slot([this, then](const error_code& e) {
                                  if (home_ == nullptr) return;
                                  // An error of a stage is in its response; the connection is gone if it cannot be used.
                                  if (e && (my::is_fatal_error(e) || !is_of_server(e))) return lost(words_of(e, said_));
                                  then();
                                }));
  }

  void execute() {
    request_.clear();
    std::size_t stages = 0;
    for (const auto& s : under_way_) {
      for (const auto& one : s.what) stages += add(one) ? 1 : 0;
    }
    if (stages == 0) return finish();
    go([this] { finish(); });
  }

  bool add(const sql::statement& s) {
    if (s.values.empty()) {
      request_.add_execute(s.text);
      return true;
    }
    const auto at = known_.find(s.text);
    if (at == known_.end()) return false;
    const bound values{s.values};
    request_.add_execute_range(at->second.ready, values.in(at->second.how.order));
    return true;
  }

  void finish() {
    std::vector<std::pair<std::uint64_t, answers>> all;
    std::size_t next = 0;
    for (const auto& s : under_way_) {
      auto& [number, said] = all.emplace_back(s.number, answers{});
      for (const auto& one : s.what) {
        const auto no = refused_.find(one.text);
        said.push_back(no != refused_.end() ? no->second : answer_of(responses_.at(next++)));
      }
    }
    refused_.clear();
    under_way_.clear();
    tell([all = std::move(all)](wire& w) mutable {
      const auto still = w.connection_;
      w.telling_ = true;
      for (auto& [number, said] : all) {
        if (w.connection_ == still) w.user_->on_answers(number, std::move(said));
      }
      w.telling_ = false;
      w.take_turn();
    });
  }

  wire* home_;     // null: cut
  asio_box& box_;  // which has all handlers, and by them this
  idle idle_;
  asio::ssl::context tls_;
  const std::string host_;
  const std::uint16_t port_;
  const std::size_t round_;  // of the hosts: each begins with another address of them
  net::lookup lookup_;
  std::deque<asio::ip::tcp::endpoint> addresses_;  // not tried yet
  my::connect_params where_;
  std::optional<my::any_connection> server_;
  asio::cancellation_signal signal_;
  my::diagnostics said_;
  my::pipeline_request request_;
  std::vector<my::stage_response> responses_;
  std::map<const char*, known> known_;
  std::map<const char*, answered> refused_;  // could not be prepared
  std::deque<sent> under_way_;
  bool open_ = false, busy_ = false;
};

// The next host has its turn, whatever became of the last.
void wire::open(user& u) {
  shut();
  telling_ = false;
  user_ = &u;
  const auto turn = attempts_++;
  const auto hosts = options_.hosts.size();
  connection_ = std::make_shared<connection>(*this, options_.hosts[turn % hosts], turn / hosts);
  connection_->start(options_);
}

void wire::shut() noexcept {
  if (connection_) connection_->cut();
  connection_.reset();
  waiting_.clear();
}

void wire::broken(const std::string& words, kit::why kind) {
  shut();
  user_->on_broken(kit::no(kind, kind == kit::why::refused ? errc::refused : errc::unavailable, words));
}

// At once, if nothing is under way: who asked may not come back to the loop. What answers lead to leaves together.
void wire::send(std::uint64_t number, exchange what) {
  if (!connection_) return;
  waiting_.push_back({number, std::move(what)});
  if (!telling_) take_turn();
}

void wire::take_turn() {
  if (!connection_ || !connection_->is_idle() || waiting_.empty()) return;
  std::deque<sent> all;
  std::size_t statements = 0, bytes = 0;
  while (!waiting_.empty()) {
    for (const auto& s : waiting_.front().what) bytes += size_of(s);
    statements += waiting_.front().what.size();
    if (!all.empty() && (statements > statements_max || bytes > bytes_max)) break;
    all.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  connection_->run(std::move(all));
}

}  // namespace tyer::mysql
