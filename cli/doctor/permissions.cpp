#include "base/mistakes.hpp"
#include "doctor/examine.hpp"
#include "text/duration.hpp"
#include "text/progress.hpp"

#include <tyer/mutex.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <mutex>
#include <stop_token>

namespace cli::doctor {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr int trips_in_a_ttl = 10;

// A unique name.
std::string scratch_name(const std::string& under) {
  return under + "tyer-doctor/" + std::to_string(::getpid()) + '-' + std::to_string(std::time(nullptr));
}

std::string advice_on_silence(const std::string& words) {
  const auto replicas = advice_on_replicas(words);
  return replicas.empty() ? had_answered : "too few replicas keep up: " + std::string{replicas};
}

// False if that time ends first.
bool requested_within(const std::stop_token& what, milliseconds at_most) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  return never.wait_for(lock, what, at_most, [&] { return what.stop_requested(); });
}

class trial {
 public:
  trial(session& s, report& r, const std::string& under)
      : session_(s), report_(r), admin_(s.admin()), name_(scratch_name(under)) {}

  void begin() {
    attempt("acquire a lock", [this] { return acquire(); });
    attempt("ask for a lock", [this] { return ask(); });
  }

  void end() {
    attempt("keep a lock", [this] { return keep(); });
    attempt("see who holds a lock", [this] { return show(); });
    attempt("list locks", [this] { return list(); });
    attempt("be asked for a lock", [this] { return told(); });
    attempt("give a lock back", [this] { return release(); });
    if (fine_) report_.fine("this login may " + what_it_may() + " locks");
  }

 private:
  // Skips all further attempts after the first failure.
  void attempt(const char* doing, const std::function<std::string()>& f) {
    if (!fine_) return;
    std::string wrong;
    bool answered = true;
    try {
      wrong = f();
    } catch (const tyer::error& e) {
      wrong = e.words().empty() ? e.code().message() : e.words();
      answered = e.code() != tyer::errc::unavailable;
    }
    if (wrong.empty()) return;
    fine_ = false;
    if (answered)
      report_.found(tyer::severity::error, std::string{"this login cannot "} + doing + ": " + wrong,
                    least_privilege + ("; tried on " + name_ + ", or elsewhere with --under"));
    else
      report_.found(tyer::severity::error, std::string{"could not "} + doing + ": " + wrong, advice_on_silence(wrong));
  }

  std::string acquire() {
    const auto begin = std::chrono::steady_clock::now();
    tyer::failure ignored;
    static_cast<void>(admin_.show(ignored, name_));
    const auto trip = std::chrono::ceil<milliseconds>(std::chrono::steady_clock::now() - begin);
    ttl_ = std::max(ttl_, trip * trips_in_a_ttl);  // a slow server says nothing about the login
    hold_ = tyer::mutex{session_.client(), name_, {.ttl = ttl_}}.try_acquire();
    revoked_ = hold_.revoked();
    since_ = std::chrono::steady_clock::now();
    return hold_ ? "" : "somebody has " + name_;
  }

  // The time until its first lease is certainly over.
  milliseconds left() const {
    const auto over = std::chrono::ceil<milliseconds>(since_ + ttl_ + ttl_ / 4 - std::chrono::steady_clock::now());
    return std::max(over, 0ms);
  }

  std::string keep() {
    const bool lost = requested_within(hold_.lost(), left());
    return lost || !hold_.valid() ? "it was lost within " + shown(ttl_) + ", which its renewals did not prevent" : "";
  }

  std::string show() {
    const auto all = admin_.show(name_);
    return std::ranges::any_of(all, [&](const auto& e) { return e.id == hold_.id(); }) ? "" : "it is not shown";
  }

  std::string list() {
    std::string cursor;
    do {
      tyer::failure why;
      const auto page = admin_.list(why, name_, cursor, 1000);
      if (why == tyer::errc::unsupported) return "";
      if (why) throw tyer::error(why);
      lists_ = std::ranges::any_of(page.entries, [&](const auto& e) { return e.name == name_; });
      if (lists_) return "";
      cursor = page.cursor;
    } while (!cursor.empty());
    return "it is not listed";
  }

  std::string ask() {
    try {
      session_.client().ask(name_, "tyer doctor tries whether this arrives");
      asks_ = admin_.can().push;
    } catch (const tyer::error& e) {
      if (e.code() != tyer::errc::unsupported) throw;  // nobody's permission could change that
    }
    return "";
  }

  // The message has had the time of a lease to arrive.
  std::string told() const {
    const bool is = !admin_.can().push || revoked_.stop_requested();
    return is ? ""
              : "the holder was not told; with Redis, this user may not subscribe to the channels of the prefix "
                "(&PREFIX*)";
  }

  std::string release() {
    return hold_.release() == tyer::release_outcome::released ? "" : "the engine no longer had it";
  }

  std::string what_it_may() const {
    return std::string{"acquire, keep"} + (lists_ || asks_ ? ", show" : "") + (lists_ && asks_ ? ", list" : "") +
           (asks_    ? ", ask for"
            : lists_ ? ", list"
                     : ", show") +
           " and release";
  }

  session& session_;
  report& report_;
  tyer::admin admin_;
  const std::string name_;
  milliseconds ttl_ = std::max<milliseconds>(admin_.can().ttl_min, 1s);
  tyer::hold hold_;
  std::stop_token revoked_;
  std::chrono::steady_clock::time_point since_;
  bool lists_ = false, asks_ = false;  // not every engine can
  bool fine_ = true;
};

}  // namespace

void look_at_permissions(session& s, report& r, const std::string& under, const std::function<void()>& meanwhile) {
  trial t{s, r, under};
  t.begin();
  meanwhile();
  const progress trying{s.screen(), [] { return "trying what this login may do"; }};
  t.end();
}

}  // namespace cli::doctor
