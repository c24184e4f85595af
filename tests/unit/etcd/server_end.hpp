// The server's end of an HTTP/2 connection, for tests: what it got, and what it says, in frames that the test chooses.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::etcd::wire {

class server_end {
 public:
  struct seen {
    std::map<std::string, std::string> headers;
    std::string body;
    bool half_closed = false;
    std::uint32_t reset = 0;  // by the client
  };
  using fields = std::vector<std::pair<std::string, std::string>>;

  explicit server_end(std::uint32_t window = 65'535, std::uint32_t streams_max = 100) {
    nghttp2_session_callbacks* c = nullptr;
    nghttp2_session_callbacks_new(&c);
    nghttp2_session_callbacks_set_on_header_callback(c, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
    nghttp2_option* o = nullptr;
    nghttp2_option_new(&o);
    nghttp2_option_set_no_auto_window_update(o, 1);
    nghttp2_session_server_new2(&inside_, c, this, o);
    nghttp2_option_del(o);
    nghttp2_session_callbacks_del(c);
    const nghttp2_settings_entry ours[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window},
                                           {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max}};
    nghttp2_submit_settings(inside_, 0, ours, 2);
  }
  ~server_end() { nghttp2_session_del(inside_); }
  server_end(const server_end&) = delete;

  void feed(std::string_view bytes) {
    if (nghttp2_session_mem_recv(inside_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) < 0)
      throw std::runtime_error("the client broke the rules");
  }
  std::string output() {
    auto all = std::exchange(said_, {});
    const std::uint8_t* p = nullptr;
    for (ssize_t n = 0; (n = nghttp2_session_mem_send(inside_, &p)) > 0;)
      all.append(reinterpret_cast<const char*>(p), static_cast<std::size_t>(n));
    return all;
  }

  // --- what it says ---

  void headers(std::int32_t to, const fields& all, bool last = false) {
    auto nv = made(all);
    if (last) {
      nghttp2_submit_headers(inside_, NGHTTP2_FLAG_END_STREAM, to, nullptr, nv.data(), nv.size(), nullptr);
    } else {
      nghttp2_submit_headers(inside_, 0, to, nullptr, nv.data(), nv.size(), nullptr);
    }
  }
  void begin(std::int32_t to) { headers(to, {{":status", "200"}, {"content-type", "application/grpc"}}); }
  void data(std::int32_t to, std::string bytes) {
    unsent_[to] = std::move(bytes);
    nghttp2_data_provider p{};
    p.read_callback = read;
    nghttp2_submit_data(inside_, 0, to, &p);
  }
  void trailers(std::int32_t to, const fields& all) {
    said_ = output();  // or they would be in front of the data
    auto nv = made(all);
    nghttp2_submit_trailer(inside_, to, nv.data(), nv.size());
  }
  void reset(std::int32_t stream, std::uint32_t error) { nghttp2_submit_rst_stream(inside_, 0, stream, error); }
  void go_away(std::int32_t last, const std::string& words = {}) {
    nghttp2_submit_goaway(inside_, 0, last, NGHTTP2_NO_ERROR, reinterpret_cast<const std::uint8_t*>(words.data()),
                          words.size());
  }
  void consume(std::int32_t stream, std::size_t n) { nghttp2_session_consume(inside_, stream, n); }

  std::map<std::int32_t, seen> got;
  int pings = 0;

 private:
  static server_end& self(void* p) { return *static_cast<server_end*>(p); }
  static std::string text(const std::uint8_t* p, std::size_t n) { return {reinterpret_cast<const char*>(p), n}; }
  static int on_header(nghttp2_session*, const nghttp2_frame* f, const std::uint8_t* n, std::size_t ns,
                       const std::uint8_t* v, std::size_t vs, std::uint8_t, void* p) {
    self(p).got[f->hd.stream_id].headers[text(n, ns)] = text(v, vs);
    return 0;
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* d, std::size_t n, void* p) {
    self(p).got[id].body += text(d, n);
    return 0;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* f, void* p) {
    auto& s = self(p);
    if (f->hd.type == NGHTTP2_PING && (f->hd.flags & NGHTTP2_FLAG_ACK) == 0) ++s.pings;
    if (f->hd.type == NGHTTP2_RST_STREAM) s.got[f->hd.stream_id].reset = f->rst_stream.error_code;
    const bool ends = (f->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (ends && (f->hd.type == NGHTTP2_DATA || f->hd.type == NGHTTP2_HEADERS))
      s.got[f->hd.stream_id].half_closed = true;
    return 0;
  }
  static ssize_t read(nghttp2_session*, std::int32_t id, std::uint8_t* to, std::size_t room, std::uint32_t* flags,
                      nghttp2_data_source*, void* p) {
    auto& left = self(p).unsent_[id];
    const auto n = std::min(room, left.size());
    left.copy(reinterpret_cast<char*>(to), n);
    left.erase(0, n);
    if (left.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    return static_cast<ssize_t>(n);
  }
  static std::vector<nghttp2_nv> made(const fields& all) {
    std::vector<nghttp2_nv> nv;
    for (const auto& [n, v] : all) {
      nv.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(n.data())),
                    reinterpret_cast<std::uint8_t*>(const_cast<char*>(v.data())), n.size(), v.size(), 0});
    }
    return nv;
  }

  nghttp2_session* inside_ = nullptr;
  std::map<std::int32_t, std::string> unsent_;
  std::string said_;
};

}  // namespace tyer::etcd::wire
