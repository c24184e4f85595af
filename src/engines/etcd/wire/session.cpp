#include "engines/etcd/wire/session.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace tyer::etcd::wire {

namespace {

constexpr std::int32_t stream_window = 1 << 20, connection_window = 8 << 20;
constexpr std::string_view content_type = "application/grpc";

std::string_view text(const std::uint8_t* p, std::size_t n) { return {reinterpret_cast<const char*>(p), n}; }

// What lives for as long as the session is not copied.
nghttp2_nv header(std::string_view name, std::string_view value, int flags) {
  const auto bytes = [](std::string_view s) { return reinterpret_cast<std::uint8_t*>(const_cast<char*>(s.data())); };
  return {bytes(name), bytes(value), name.size(), value.size(), static_cast<std::uint8_t>(flags)};
}
constexpr int lasting = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;

// As gRPC maps what a proxy or a web server may answer.
code of_http(int http) {
  switch (http) {
    case 400: return code::internal;
    case 401: return code::unauthenticated;
    case 403: return code::permission_denied;
    case 404: return code::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504: return code::unavailable;
    default: return code::unknown;
  }
}

std::string no_http2(const std::string& authority) { return authority + " does not speak HTTP/2"; }

}  // namespace

// Nothing may be thrown through nghttp2: whatever finds no memory ends the connection.
struct session::hooks {
  template <class F>
  static int guarded(void* of, F act) noexcept {
    auto& s = *static_cast<session*>(of);
    try {
      act(s);
      return 0;
    } catch (...) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }
  static stream* find(session& s, std::int32_t number) {
    const auto at = s.streams_.find(number);
    return at != s.streams_.end() ? at->second : nullptr;
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* f, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* of) {
    return guarded(of, [&](session& s) {
      if (stream* one = find(s, f->hd.stream_id)) s.take_header(*one, text(name, name_size), text(value, value_size));
    });
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t number, const std::uint8_t* data, std::size_t size,
                     void* of) {
    return guarded(of, [&](session& s) {
      if (stream* one = find(s, number)) s.take_data(*one, text(data, size));
    });
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* f, void* of) {
    return guarded(of, [&](session& s) {
      if (f->hd.type == NGHTTP2_SETTINGS && (f->hd.flags & NGHTTP2_FLAG_ACK) == 0) s.ready_ = true;
      const bool of_a_stream = f->hd.type == NGHTTP2_HEADERS || f->hd.type == NGHTTP2_DATA;
      if (of_a_stream && (f->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) s.ended_by_server(f->hd.stream_id);
      if (f->hd.type != NGHTTP2_GOAWAY) return;
      s.going_away_ = true;
      s.last_words_ = text(f->goaway.opaque_data, f->goaway.opaque_data_len);
      s.end_unsent();
    });
  }
  static int on_frame_sent(nghttp2_session*, const nghttp2_frame* f, void* of) {
    return guarded(of, [&](session& s) {
      if (f->hd.type != NGHTTP2_HEADERS) return;
      if (stream* one = find(s, f->hd.stream_id)) one->sent_ = true;
    });
  }
  static int on_close(nghttp2_session*, std::int32_t number, std::uint32_t error, void* of) {
    return guarded(of, [&](session& s) {
      if (stream* one = find(s, number)) s.end(*one, s.verdict(*one, error));
    });
  }
  static ssize_t read(nghttp2_session*, std::int32_t number, std::uint8_t* to, std::size_t room, std::uint32_t* flags,
                      nghttp2_data_source*, void* of) {
    stream* one = find(*static_cast<session*>(of), number);
    if (one == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const auto n = std::min(room, one->out_.size() - one->out_at_);
    if (n == 0 && !one->last_) return NGHTTP2_ERR_DEFERRED;
    std::memcpy(to, one->out_.data() + one->out_at_, n);
    one->out_at_ += n;
    if (one->out_at_ == one->out_.size()) {
      one->out_.clear();
      one->out_at_ = 0;
      if (one->last_) *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return static_cast<ssize_t>(n);
  }
};

void session::deleter::operator()(nghttp2_session* s) const noexcept { nghttp2_session_del(s); }

session::session(std::string authority, bool tls) : authority_(std::move(authority)), tls_(tls) {
  nghttp2_session_callbacks* raw = nullptr;
  if (nghttp2_session_callbacks_new(&raw) != 0) throw std::bad_alloc{};
  const std::unique_ptr<nghttp2_session_callbacks, decltype(&nghttp2_session_callbacks_del)> all{
      raw, &nghttp2_session_callbacks_del};
  nghttp2_session_callbacks_set_on_header_callback(raw, hooks::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(raw, hooks::on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(raw, hooks::on_frame);
  nghttp2_session_callbacks_set_on_frame_send_callback(raw, hooks::on_frame_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(raw, hooks::on_close);
  nghttp2_session* made = nullptr;
  if (nghttp2_session_client_new(&made, raw, this) != 0) throw std::bad_alloc{};
  inside_.reset(made);
  const std::array<nghttp2_settings_entry, 2> ours{
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window}}};
  check(nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, ours.data(), ours.size()));
  check(nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, connection_window));
}

session::~session() = default;

// Every error of nghttp2 that is not about one stream is the end of the connection.
void session::check(long result) {
  if (result >= 0 || broken_) return;
  broken_ = true;
  if (result == NGHTTP2_ERR_NOMEM || result == NGHTTP2_ERR_CALLBACK_FAILURE) {
    why_ = "out of memory";
  } else if (!ready_) {
    why_ = no_http2(authority_);
  } else {
    why_ = nghttp2_strerror(static_cast<int>(result));
  }
}

// --- what leaves ---

bool session::begin(stream& one, const request& r) {
  if (broken_ || going_away_ || nghttp2_session_check_request_allowed(inside_.get()) == 0) return false;
  const auto within = r.within ? timeout_text(*r.within) : std::string{};
  std::array<nghttp2_nv, 9> all{header(":method", "POST", lasting),
                                header(":scheme", tls_ ? "https" : "http", lasting),
                                header(":path", r.path, lasting),
                                header(":authority", authority_, lasting),
                                header("content-type", content_type, lasting),
                                header("te", "trailers", lasting),
                                header("user-agent", "tyer", lasting)};
  std::size_t count = 7;
  constexpr int name_lasts = NGHTTP2_NV_FLAG_NO_COPY_NAME;
  // Each is another: not worth a place in the table of headers that both sides keep.
  if (!within.empty()) all[count++] = header("grpc-timeout", within, name_lasts | NGHTTP2_NV_FLAG_NO_INDEX);
  if (!r.token.empty()) all[count++] = header("token", r.token, name_lasts);
  nghttp2_data_provider body{};
  body.read_callback = hooks::read;
  const auto next = static_cast<std::int32_t>(nghttp2_session_get_next_stream_id(inside_.get()));
  streams_.emplace(next, &one);
  const auto number = nghttp2_submit_request(inside_.get(), nullptr, all.data(), count, &body, nullptr);
  if (number < 0) {
    streams_.erase(next);
    check(number);
    return false;
  }
  one.number_ = number;
  return true;
}

void session::send(stream& one, std::string_view message, bool last) {
  append_framed(one.out_, message);
  one.last_ = last;
  if (one.number_ == 0 || broken_) return;
  const int result = nghttp2_session_resume_data(inside_.get(), one.number_);
  if (nghttp2_is_fatal(result) != 0) check(result);  // it may not have been waiting for it
}

void session::cancel(stream& one) {
  if (streams_.erase(one.number_) == 0 || broken_) return;
  check(nghttp2_submit_rst_stream(inside_.get(), NGHTTP2_FLAG_NONE, one.number_, NGHTTP2_CANCEL));
}

void session::ping() {
  if (!broken_) check(nghttp2_submit_ping(inside_.get(), NGHTTP2_FLAG_NONE, nullptr));
}

bool session::output(std::string& to, std::size_t about) {
  while (!broken_ && to.size() < about) {
    const std::uint8_t* bytes = nullptr;
    const auto n = nghttp2_session_mem_send(inside_.get(), &bytes);
    check(n);
    if (n <= 0) break;
    to.append(text(bytes, static_cast<std::size_t>(n)));
  }
  // To a server that breaks the rules nghttp2 says goodbye by itself.
  if (!broken_ && nghttp2_session_want_read(inside_.get()) == 0 && !(going_away_ && is_idle())) {
    broken_ = true;
    why_ = ready_ ? "the server broke the rules of HTTP/2" : no_http2(authority_);
  }
  return !broken_;
}

// --- what comes ---

bool session::feed(std::string_view bytes) {
  if (broken_) return false;
  check(nghttp2_session_mem_recv(inside_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  return !broken_;
}

void session::take_header(stream& one, std::string_view name, std::string_view value) {
  const auto number = [&] {
    int n = static_cast<int>(code::unknown);
    std::from_chars(value.data(), value.data() + value.size(), n);
    return n;
  };
  if (name == ":status") one.http_ = number();
  if (name == "grpc-status") one.grpc_ = number();
  if (name == "grpc-message") one.reason_ = percent_decoded(value);
  if (name == "content-type") one.is_grpc_ = value.starts_with(content_type);
}

void session::take_data(stream& one, std::string_view bytes) {
  if (one.http_ != 200 || !one.is_grpc_) return;  // a page of something else
  const auto v = one.in_.feed(bytes, [&](std::string message) { one.on_message(std::move(message)); });
  if (v == message_reader::verdict::fine) return;
  check(nghttp2_submit_rst_stream(inside_.get(), NGHTTP2_FLAG_NONE, one.number_, NGHTTP2_CANCEL));
  end(one,
      {code::internal, v == message_reader::verdict::too_long ? "the answer is longer than a message may be"
                                                              : "the answer is compressed, which was not asked for"});
}

// A call is over when the server says so, whether or not we have said all: not every server resets what we leave open.
void session::ended_by_server(std::int32_t number) {
  stream* one = hooks::find(*this, number);
  if (one == nullptr) return;
  if (nghttp2_session_get_stream_local_close(inside_.get(), number) == 0) {
    check(nghttp2_submit_rst_stream(inside_.get(), NGHTTP2_FLAG_NONE, number, NGHTTP2_CANCEL));
  }
  end(*one, verdict(*one, NGHTTP2_NO_ERROR));
}

// nghttp2 would keep what waits for its turn, of a server that takes a few at once, until those have ended.
void session::end_unsent() {
  std::vector<stream*> waiting;
  for (const auto& [number, one] : streams_) {
    if (!one->sent_) waiting.push_back(one);
  }
  for (stream* one : waiting) {
    check(nghttp2_submit_rst_stream(inside_.get(), NGHTTP2_FLAG_NONE, one->number_, NGHTTP2_CANCEL));
    end(*one, verdict(*one, NGHTTP2_REFUSED_STREAM));
  }
}

status session::verdict(const stream& one, std::uint32_t error) const {
  if (one.http_ != 0 && (one.http_ != 200 || !one.is_grpc_) && !one.grpc_) {
    return {of_http(one.http_ == 200 ? 0 : one.http_),
            "the server does not speak gRPC: HTTP status " + std::to_string(one.http_)};
  }
  if (one.grpc_) {
    if (*one.grpc_ == 0 && !one.in_.is_between_messages()) return {code::internal, "the answer broke off"};
    return {static_cast<code>(*one.grpc_), one.reason_};
  }
  switch (error) {
    case NGHTTP2_REFUSED_STREAM:
      return {code::unavailable,
              going_away_ ? "the server is going away" + (last_words_.empty() ? "" : ": " + last_words_)
                          : "the server refused to begin with it",
              false};
    case NGHTTP2_CANCEL: return {code::unavailable, "the server broke it off"};
    case NGHTTP2_ENHANCE_YOUR_CALM: return {code::unavailable, "the server asks for fewer requests"};
    default: return {code::internal, std::string{"the call ended without a status: "} + nghttp2_http2_strerror(error)};
  }
}

void session::end(stream& one, status s) {
  streams_.erase(one.number_);
  one.on_end(std::move(s));
}

}  // namespace tyer::etcd::wire
