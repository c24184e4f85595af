#include "engines/postgres/wire.hpp"

#include "engines/postgres/warning.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <sstream>
#include <variant>

namespace tyer::postgres {

namespace {

constexpr const char* unknown_outcome = "08007";  // transaction resolution unknown
constexpr std::size_t code_length = 5;
constexpr std::uint64_t own_question = 0;  // no number of an exchange
constexpr const char* who_serves = "SELECT pg_backend_pid()";

enum type_id : Oid { bool_id = 16, bytea_id = 17, int8_id = 20, int2_id = 21, int4_id = 23 };

template <class T>
void put(std::string& out, T v) {
  for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(static_cast<std::make_unsigned_t<T>>(v) >> shift));
  }
}

// An array in its binary form.
template <class List, class Put>
std::string array_of(const List& all, Oid element, Put put_one) {
  std::string out;
  put<std::int32_t>(out, all.empty() ? 0 : 1);
  put<std::int32_t>(out, 0);
  put<std::int32_t>(out, static_cast<std::int32_t>(element));
  if (all.empty()) return out;
  put<std::int32_t>(out, static_cast<std::int32_t>(all.size()));
  put<std::int32_t>(out, 1);
  for (const auto& one : all) put_one(out, one);
  return out;
}

struct encode {
  std::string operator()(sql::null) const { return {}; }
  std::string operator()(std::int64_t v) const {
    std::string out;
    put(out, v);
    return out;
  }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const sql::bytes_list& v) const {
    return array_of(v, bytea_id, [](std::string& out, const std::string& one) {
      put<std::int32_t>(out, static_cast<std::int32_t>(one.size()));
      out += one;
    });
  }
  std::string operator()(const sql::number_list& v) const {
    return array_of(v, int8_id, [](std::string& out, std::int64_t one) {
      put<std::int32_t>(out, 8);
      put(out, one);
    });
  }
};

sql::cell cell_of(const PGresult& r, int row, int column) {
  if (PQgetisnull(&r, row, column) != 0) return {};
  const std::string_view raw{PQgetvalue(&r, row, column), static_cast<std::size_t>(PQgetlength(&r, row, column))};
  const Oid type = PQftype(&r, column);
  const bool number = type == bool_id || type == int8_id || type == int2_id || type == int4_id;
  if (!number) return {false, 0, std::string{raw}};
  std::uint64_t v = (raw[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  for (const char byte : raw) v = v << 8 | static_cast<std::uint8_t>(byte);
  return {false, static_cast<std::int64_t>(v), {}};
}

// A payload is text: bytes in hexadecimal digits.
std::string from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::string raw;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    raw.push_back(static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  return raw;
}

// Its own words, in one line.
std::string one_line(const char* words) {
  std::string text = words != nullptr ? words : "";
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

}  // namespace

// "…: FATAL:  28P01: password authentication failed for user "me"", and a line that says where in the server.
refusal refusal_in(const char* verbose, const std::string& user) {
  refusal r;
  std::istringstream lines{verbose};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("LOCATION:")) continue;
    const auto at = line.find(":  ");
    const auto code = at != line.npos ? line.substr(at + 3, code_length) : "";
    const bool has_code =
        code.size() == code_length && line.substr(at + 3 + code_length, 2) == ": " &&
        std::ranges::all_of(code, [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
    if (has_code) line.erase(at + 3, code_length + 2);
    // The login, or the database, or the right to connect to it.
    r.for_good |= has_code && (code.starts_with("28") || code == "3D000" || code == "42501");
    r.words += (r.words.empty() ? "" : " ") + line;
  }
  r.words = sql::without_user(std::move(r.words), user, '"');
  return r;
}

void wire::open(user& u) {
  shut();
  user_ = &u;
  hosts_.look_up([this](const hosts::known& all) { connect(all); });
}

void wire::connect(const hosts::known& all) {
  if (all.host.empty()) return user_->on_broken(kit::no(kit::why::not_sent, errc::unavailable, all.why_not));
  auto words = words_;
  words.emplace_back("host", all.host);
  words.emplace_back("hostaddr", all.hostaddr);
  words.emplace_back("port", all.port);
  std::vector<const char*> keys, values;
  for (const auto& [key, v] : words) {
    keys.push_back(key.c_str());
    values.push_back(v.c_str());
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  connection_.reset(PQconnectStartParams(keys.data(), values.data(), 0));
  connecting_ = connect_writes_ = true;
  if (!connection_ || PQstatus(connection_.get()) == CONNECTION_BAD) return break_off();
  PQsetErrorVerbosity(connection_.get(), PQERRORS_VERBOSE);  // with the code
  PQsetNoticeReceiver(connection_.get(), &wire::on_notice, this);
  listen_to_socket();
}

void wire::shut() noexcept {
  if (connecting_) hosts_.pass_on();
  hosts_.forget();
  box_->watch_none();
  connection_.reset();
  connecting_ = failed_ = unflushed_ = told_of_numbers_ = false;
  of_numbers_.clear();
  prepared_.clear();
  unsent_.clear();
  expected_.clear();
  said_.clear();
}

void wire::listen_to_socket() {
  const int socket = PQsocket(connection_.get());
  const bool write = connecting_ ? connect_writes_ : PQflush(connection_.get()) == 1;
  box_->watch(socket, write, [this] { serve(); });
}

void wire::break_off() {
  const auto said =
      refusal_in(connection_ ? PQerrorMessage(connection_.get()) : "there is no memory for a connection", login());
  const bool refused = connecting_ && said.for_good;
  shut();
  user_->on_broken(refused ? kit::no(kit::why::refused, errc::refused, said.words)
                           : kit::no(kit::why::unknown, errc::unavailable, said.words));
}

std::string wire::login() const {
  const auto at = std::ranges::find(words_, "user", [](const auto& word) { return word.first; });
  return at != words_.end() ? at->second : "";
}

// By libpq, through which nothing can be thrown: without memory the words are missing.
void wire::on_notice(void* me, const PGresult* r) noexcept {
  wire& self = *static_cast<wire*>(me);
  const auto field = [r](int which) {
    const char* const text = PQresultErrorField(r, which);
    return std::string_view{text != nullptr ? text : ""};
  };
  const auto of = warned_of(field(PG_DIAG_SQLSTATE), field(PG_DIAG_SOURCE_FUNCTION));
  if (of == warns::of_nothing) return;
  self.in_doubt_ |= of == warns::of_doubt;
  try {
    (of == warns::of_doubt ? self.doubt_ : self.of_numbers_) = field(PG_DIAG_MESSAGE_PRIMARY);
  } catch (const std::bad_alloc&) {}
}

// Each statement is warned of, so it is told once for a connection.
void wire::tell_of_numbers() {
  if (of_numbers_.empty() || std::exchange(told_of_numbers_, true)) return;
  user_->on_warning(
      "PostgreSQL has few numbers left to tell transactions apart, and refuses to write when there are none: VACUUM "
      "the database that it "
      "names, and end what has been open or prepared for long (it says: " +
      of_numbers_ + ')');
}

// The socket has something, or can take something.
void wire::serve() {
  if (failed_) return break_off();
  if (!connection_) return;
  if (connecting_) return go_on_connecting();
  if (PQconsumeInput(connection_.get()) == 0) return break_off();
  read_results();
  tell_of_numbers();
  hear();
  unflushed_ |= connection_ != nullptr;
  flush();
}

// After the results: libpq finds what came behind one when that is taken, and the socket says nothing more of it.
void wire::hear() {
  while (connection_) {
    auto* n = PQnotifies(connection_.get());
    if (n == nullptr) return;
    std::string payload = from_hex(n->extra);
    PQfreemem(n);
    user_->on_notice(std::move(payload));
  }
}

void wire::go_on_connecting() {
  switch (PQconnectPoll(connection_.get())) {
    case PGRES_POLLING_FAILED: return break_off();
    case PGRES_POLLING_OK:
      connecting_ = in_doubt_ = false;  // what it warns of by way of greeting is not of our statements
      PQsetErrorVerbosity(connection_.get(), PQERRORS_DEFAULT);
      if (PQsetnonblocking(connection_.get(), 1) != 0 || PQenterPipelineMode(connection_.get()) == 0)
        return break_off();
      return ask_who_serves();
    case PGRES_POLLING_WRITING: connect_writes_ = true; break;
    default: connect_writes_ = false; break;
  }
  listen_to_socket();
}

// Not prepared: nobody knows yet whether that would be for this client alone.
void wire::ask_who_serves() {
  pooled_ = true;
  send(own_question, {{who_serves}});
}

void wire::told_who_serves(const answered& a) {
  pooled_ = a.rows.empty() || a.rows[0][0].number != PQbackendPID(connection_.get());
  user_->on_open();
}

// --- out ---

bool wire::send_one(const sql::statement& s, bool& prepares) {
  std::vector<std::string> raw;
  std::vector<const char*> values;
  std::vector<int> lengths, formats(s.values.size(), 1);
  for (const auto& v : s.values) raw.push_back(std::visit(encode{}, v));
  for (std::size_t i = 0; i < raw.size(); ++i) {
    values.push_back(std::holds_alternative<sql::null>(s.values[i]) ? nullptr : raw[i].c_str());
    lengths.push_back(static_cast<int>(raw[i].size()));
  }
  PGconn* const c = connection_.get();
  const int n = static_cast<int>(raw.size());
  if (pooled_) {
    return PQsendQueryParams(c, s.text, n, nullptr, values.data(), lengths.data(), formats.data(), 1) != 0 &&
           PQpipelineSync(c) != 0;
  }
  auto at = prepared_.find(s.text);
  prepares = at == prepared_.end();
  if (prepares) {
    at = prepared_.emplace(s.text, 't' + std::to_string(++made_)).first;
    if (PQsendPrepare(c, at->second.c_str(), s.text, 0, nullptr) == 0) return false;
  }
  return PQsendQueryPrepared(c, at->second.c_str(), n, values.data(), lengths.data(), formats.data(), 1) != 0 &&
         PQpipelineSync(c) != 0;
}

// If memory runs out in the middle, nobody could tell any more which answer is whose.
void wire::send(std::uint64_t number, exchange all) try {
  if (!connection_ || failed_) return;
  for (std::size_t i = 0; i < all.size(); ++i) unsent_.push_back({number, std::move(all[i]), i + 1 == all.size()});
  send_some();
} catch (...) {
  failed_ = unflushed_ = true;
  throw;
}

void wire::send_some() try {
  while (!unsent_.empty() && !failed_ && (!pooled_ || expected_.empty())) {
    const auto& next = unsent_.front();
    unflushed_ = true;
    expected_.push_back({next.number, next.what.text, false, next.last});
    failed_ |= !send_one(next.what, expected_.back().prepares);
    unsent_.pop_front();
  }
} catch (...) {
  failed_ = unflushed_ = true;
  throw;
}

// What was asked in one step leaves together: at the end of serve(), or when the box is about to wait.
void wire::flush() {
  if (!unflushed_ || !connection_) return;
  if (failed_ || PQflush(connection_.get()) < 0) {  // told by the loop
    failed_ = true;
    box_->put([this](engine::events*) { serve(); });
  } else {
    listen_to_socket();
  }
  unflushed_ = false;
}

// --- in ---

void wire::read_results() {
  while (connection_ && !expected_.empty() && PQisBusy(connection_.get()) == 0) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> r{PQgetResult(connection_.get()), &PQclear};
    if (r) take(*r);
    if (!r && PQstatus(connection_.get()) == CONNECTION_BAD) return break_off();
  }
}

void wire::take(const PGresult& r) {
  expected& e = expected_.front();
  const auto status = PQresultStatus(&r);
  if (status == PGRES_PIPELINE_SYNC) {
    if (std::exchange(in_doubt_, false) && !e.said.failed) {
      e.said.failed = true;
      e.said.code = unknown_outcome;
      e.said.words =
          "the server has written it, perhaps none of its standbys has: it warned: " + one_line(doubt_.c_str());
    }
    const bool last = e.last;
    const auto number = e.number;
    said_.push_back(std::move(e.said));
    expected_.pop_front();
    if (number == own_question) return told_who_serves(std::exchange(said_, {}).front());
    send_some();
    if (last) user_->on_answers(number, std::exchange(said_, {}));
    return;
  }
  if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE) {
    const char* code = PQresultErrorField(&r, PG_DIAG_SQLSTATE);
    if (std::exchange(e.prepares, false)) prepared_.erase(e.text);
    e.said.failed = true;
    e.said.code = code != nullptr ? code : "08006";  // the connection is gone
    e.said.words = one_line(PQresultErrorField(&r, PG_DIAG_MESSAGE_PRIMARY));
    if (e.said.words.empty()) e.said.words = one_line(PQresultErrorMessage(&r));
    return;
  }
  if (status == PGRES_PIPELINE_ABORTED || std::exchange(e.prepares, false)) return;
  e.said.affected = std::strtoull(PQcmdTuples(const_cast<PGresult*>(&r)), nullptr, 10);
  for (int row = 0; row < PQntuples(&r); ++row) {
    auto& cells = e.said.rows.emplace_back();
    for (int column = 0; column < PQnfields(&r); ++column) cells.push_back(cell_of(r, row, column));
  }
}

}  // namespace tyer::postgres
