// The way to the servers: which of them, who we are to them, and every call with its deadline.
//
//   down ──a read through the quorum is answered──▶ up ──a call finds nobody, or no answer in time──▶ down
//
// While down, calls are refused at once (not sent), and the servers are tried in turn; the next one is not kept waiting by
// one that does not answer. A login is a token that is asked for when the first call needs it, and again when the server does
// not know it any more; where the servers say that they ask for none, none is sent.
//
// Thread safety: for one thread, the one in run().
#pragma once

#include "engine/engine.hpp"
#include "engine/environment.hpp"
#include "engine/inbox.hpp"
#include "engines/etcd/client/pace.hpp"
#include "engines/etcd/client/stream.hpp"
#include "engines/etcd/client/sweeper.hpp"
#include "engines/etcd/config.hpp"
#include "engines/etcd/ledger.hpp"
#include "engines/etcd/rpc.pb.h"
#include "engines/etcd/wire/wire.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tyer::etcd {

namespace method {
inline constexpr const char* range = "/etcdserverpb.KV/Range";
inline constexpr const char* txn = "/etcdserverpb.KV/Txn";
inline constexpr const char* lease_grant = "/etcdserverpb.Lease/LeaseGrant";
inline constexpr const char* lease_revoke = "/etcdserverpb.Lease/LeaseRevoke";
inline constexpr const char* lease_keep_alive = "/etcdserverpb.Lease/LeaseKeepAlive";
inline constexpr const char* lease_time_to_live = "/etcdserverpb.Lease/LeaseTimeToLive";
inline constexpr const char* watch = "/etcdserverpb.Watch/Watch";
inline constexpr const char* authenticate = "/etcdserverpb.Auth/Authenticate";
inline constexpr const char* status = "/etcdserverpb.Maintenance/Status";
}  // namespace method

// What a call came back with: an answer, or why there is none.
template <class Response>
using then = std::function<void(const failure*, Response&)>;

failure explain(const wire::status&);
bool serves_nobody_yet(const wire::status&);
bool says_no_users(const failure&);  // so nobody has to log in

struct call_manner {
  bool even_down = false;
  std::optional<std::size_t> to = {};         // that server, whichever we are with
  bool logged_in = false;                     // also where it can be done without
  std::optional<milliseconds> patience = {};  // as of link::expect()
};

class link {
 public:
  struct listener {
    virtual void on_set_back(std::int64_t revision) = 0;  // it was larger: the data was restored from a copy. Then up
    virtual void on_up(const engine::server_facts&) = 0;
    virtual void on_down(const failure&) = 0;

   protected:
    ~listener() = default;
  };

  // Calls what it is given: with one thing that has come, for whoever waits for it.
  using step = std::function<void(const std::function<void()>&)>;

  link(const config&, const engine::environment&, wire::loop&, std::shared_ptr<engine::inbox>, step,
       std::string probe_key);

  void open(listener&);
  void close();
  // After close() only leases can be given back. When all has come back, the connections can go, and their sockets.
  bool idle() const { return under_way_ == 0; }
  void disconnect();
  bool is_up() const { return up_; }
  failure why_down() const;  // for whoever asks for something meanwhile: nothing of it was sent
  std::int64_t revision() const { return revision_; }  // the largest seen
  void saw(std::int64_t revision) { revision_ = std::max(revision_, revision); }
  void saw(const pb::ResponseHeader& h) { saw(h.revision()); }

  using manner = call_manner;
  // Answered in run(), never inline, at the deadline at the latest.
  template <class Request, class Response>
  void call(const char* method, Request, time_point deadline, then<Response>, manner = {});

  // How long the server may be silent about what is to keep something that lives so long. More where the servers were slow
  // lately: then another would be no faster, and all that is under way would be asked for again.
  milliseconds patience(milliseconds ttl);
  void took(time_point sent);  // for an answer that a majority of the servers had a part in
  // Not while down: an answer is awaited of the server we are with. If it has not arrived when that time is over, the server
  // is left for another, and whatever else it was asked is given up.
  std::uint64_t expect(milliseconds patience);
  void hurry(std::uint64_t expected, milliseconds patience);  // so soon at the latest
  void arrived(std::uint64_t expected) { expected_.erase(expected); }
  void start_anew();                     // whatever may have been forgotten
  void leave_if_silent(time_point now);  // when all that has come was looked at

  // A long call; not while down. The token it was started with may be too old: then it ends with UNAUTHENTICATED.
  template <class Request, class Response>
  std::shared_ptr<stream<Request, Response>> start(const char* method, typename stream<Request, Response>::on_message m,
                                                   typename stream<Request, Response>::on_end e) {
    const auto came = [this, m = std::move(m)](Response&& r) { step_([&] { m(std::move(r)); }); };
    const auto ended = [this, e = std::move(e)](const wire::status& s) {
      --under_way_;
      step_([&] { e(s); });
    };
    auto started = stream<Request, Response>::start({channels_[at_], method, token_}, came, ended);
    ++under_way_;
    return started;
  }

  // A call or a stream came to nothing: whether that is the server's fault is seen from the status.
  void trouble(const wire::status&, std::uint64_t during);
  std::uint64_t stay() const { return stay_; }  // with one server, from when it was found to when it was left

  // What the server said of itself during this stay; no member: nothing yet.
  struct introduction {
    std::uint64_t member = 0;
    std::string version;
  };
  const introduction& said() const { return introduction_; }

  // In run(), not before.
  void later(std::function<void()> f) {
    box_->put([f = std::move(f)](engine::events*) { f(); });
  }

  // Points to whom we are with, and nowhere while down.
  const std::shared_ptr<sweeper>& sweeping() const { return sweeper_; }

  void log_in_anew();
  void when_logged_in(std::function<void(const failure*)>);  // perhaps before it returns
  time_point next() const;
  void tick(time_point now);

 private:
  template <class Request, class Response>
  struct flight;

  template <class Request, class Response>
  void launch(std::shared_ptr<flight<Request, Response>>);
  template <class Request, class Response>
  void landed(std::shared_ptr<flight<Request, Response>>, const wire::status&, const std::string& bytes);

  void with_token(std::size_t server, std::function<void(const failure*)>);
  pb::AuthenticateRequest name_and_password() const;
  void logged_in(std::size_t server, const failure*, pb::AuthenticateResponse&);
  bool needs_login() const { return !config_.user.empty() && token_.empty() && !no_login_; }
  void set_token(std::string);
  void aim();  // the sweeper
  void leave(const failure&);
  void connect_anew(std::size_t server);
  bool is_on_its_way(std::size_t server) const;
  void take_note(const failure&);
  struct probing {
    std::size_t server;
    std::int64_t known;  // the revision, when it was asked
    std::optional<introduction> said;
    std::optional<pb::ResponseHeader> read;
  };
  void probe();
  void probed(const probing&, const failure* wrong);
  void try_later(bool refused);
  void go_on_probing();
  void introduce(const probing&);
  void look_at_the_others();
  void look_by_login(std::size_t server, std::uint64_t during);
  bool is_stay(std::uint64_t during) const { return up_ && !closed_ && during == stay_; }
  void compare(std::size_t server, const pb::ResponseHeader&, std::uint64_t during);
  std::optional<failure> of_two_clusters() const;

  const config config_;
  const engine::environment environment_;
  wire::loop& loop_;
  const std::shared_ptr<engine::inbox> box_;
  const step step_;
  const std::string probe_key_;
  listener* listener_ = nullptr;
  std::vector<std::shared_ptr<wire::channel>> channels_;
  std::vector<time_point> made_;  // when, each of these
  std::size_t at_ = 0;            // the one we are with; while down, the one to be tried next
  std::uint64_t stay_ = 0;
  introduction introduction_;
  bool up_ = false, closed_ = false;
  std::vector<bool> probing_;            // which of them are being tried
  std::vector<std::uint64_t> clusters_;  // what each said last that it is of; 0: it does not answer
  std::vector<bool> met_;                // those that a login has asked once of which cluster they are
  time_point probe_at_ = time_point::max(), look_at_ = time_point::max();
  milliseconds probe_pause_{0}, refused_pause_{0};
  failure down_because_;        // a server that refuses us says more than one that is not there
  std::set<std::string> said_;  // about that, since it is down
  std::int64_t revision_ = 0;
  std::string token_;
  bool no_login_ = false;  // the servers know no users
  std::map<std::size_t, std::vector<std::function<void(const failure*)>>> waiting_for_token_;  // by server
  int under_way_ = 0;                                                                          // calls and streams
  std::map<std::uint64_t, std::shared_ptr<wire::under_way>> in_flight_;  // calls, in the order they left
  std::uint64_t last_flight_ = 0;

  struct awaited {
    time_point by;
    bool looked_late = false;
  };
  std::map<std::uint64_t, awaited> expected_;
  pace pace_;
  std::uint64_t last_expected_ = 0;

  const std::shared_ptr<sweeper> sweeper_;
};

// --- a call ---

template <class Request, class Response>
struct link::flight {
  const char* method;
  Request request;
  Response response;
  time_point sent, deadline;
  then<Response> back;
  manner how;
  std::uint64_t during = 0, expected = 0, number = 0;
  bool of_majority = true, needs_token = true, again = false;
  std::string token;
  bool had_time = true;
};

template <class Request, class Response>
void link::call(const char* m, Request r, time_point deadline, then<Response> back, manner how) {
  auto f = std::make_shared<flight<Request, Response>>();
  f->method = m;
  f->request = std::move(r);
  f->deadline = deadline;
  f->back = std::move(back);
  f->of_majority = m != method::authenticate && m != method::status;
  f->needs_token = f->of_majority || how.logged_in;
  f->how = how;
  launch(std::move(f));
}

// Also of one that has waited for a login meanwhile.
template <class Request, class Response>
void link::launch(std::shared_ptr<flight<Request, Response>> f) {
  const bool last_words = f->method == method::lease_revoke;
  if ((!up_ && !f->how.even_down) || (closed_ && !last_words)) {
    later([f, why_not = why_down()] { f->back(&why_not, f->response); });
    return;
  }
  const auto to = f->how.to.value_or(at_);
  if (f->needs_token && needs_login()) {
    return with_token(to, [this, f](const failure* wrong) {
      if (wrong != nullptr) return f->back(wrong, f->response);
      launch(f);
    });
  }
  f->sent = environment_.clock->now();
  const auto left = f->deadline - f->sent;
  f->had_time = f->how.even_down || left >= environment_.request_timeout / 2;
  f->during = stay_;
  f->token = f->method != method::authenticate ? token_ : std::string{};
  const wire::order o{channels_[to], f->method, f->token};
  f->number = ++last_flight_;
  auto on_the_wire =
      wire::call(o, f->request.SerializeAsString(), left,
                 [this, f](const wire::status& s, const std::string& bytes) { step_([&] { landed(f, s, bytes); }); });
  ++under_way_;
  in_flight_.emplace(f->number, std::move(on_the_wire));
  if (f->how.patience) f->expected = expect(*f->how.patience);
}

// What a server says that has forgotten a token (a restart), or whose users have changed since.
bool is_old_token(const wire::status&);

template <class Request, class Response>
void link::landed(std::shared_ptr<flight<Request, Response>> f, const wire::status& s, const std::string& bytes) {
  --under_way_;
  in_flight_.erase(f->number);
  arrived(f->expected);
  if (s.ok() && f->response.ParseFromString(bytes)) {
    if (f->of_majority) took(f->sent);
    return f->back(nullptr, f->response);
  }
  if (f->needs_token && !config_.user.empty() && !f->again && is_old_token(s)) {
    f->again = true;
    if (f->token == token_) log_in_anew();  // else another has done so
    return launch(std::move(f));
  }
  // Whoever had waited in line for most of its time says nothing about the server when the rest was not enough.
  // The server may say so itself ("request timed out"), in the last milliseconds.
  const auto almost = environment_.request_timeout / 20;
  const bool of_another = f->how.to.value_or(at_) != at_;
  if (!of_another && (f->had_time || environment_.clock->now() < f->deadline - almost)) trouble(s, f->during);
  const auto wrong = explain(s);
  f->back(&wrong, f->response);
}

}  // namespace tyer::etcd
