#include "doctor/examine.hpp"
#include "text/duration.hpp"
#include "text/progress.hpp"

#include <tyer/mutex.hpp>

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <mutex>

namespace cli::doctor {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// A name that nobody else has.
std::string scratch_name() {
  return "tyer-doctor/" + std::to_string(::getpid()) + '-' + std::to_string(std::time(nullptr));
}

// False if that time is over before.
bool requested_within(const std::stop_token& what, milliseconds at_most) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  return never.wait_for(lock, what, at_most, [&] { return what.stop_requested(); });
}

class trial {
 public:
  trial(session& s, report& r) : session_(s), report_(r), admin_(s.admin()) {}

  void go() {
    bool all = true;
    const auto attempt = [&](const char* doing, const std::function<std::string()>& f) {
      if (!all) return;
      std::string wrong;
      try {
        wrong = f();
      } catch (const tyer::error& e) {
        wrong = e.words().empty() ? e.code().message() : e.words();
      }
      if (wrong.empty()) return;
      all = false;
      report_.found(
          tyer::severity::error, std::string{"this login cannot "} + doing + ": " + wrong,
          "give it the rights that the page of the engine lists under \"the smallest role\"; tried on " + name_);
    };
    attempt("acquire a lock", [this] { return acquire(); });
    attempt("keep a lock", [this] { return keep(); });
    attempt("see who holds a lock", [this] { return show(); });
    attempt("list locks", [this] { return list(); });
    attempt("ask for a lock", [this] { return ask(); });
    attempt("give a lock back", [this] { return release(); });
    if (all) report_.fine("this login may acquire, keep, show, list, ask for and release locks");
  }

 private:
  std::string acquire() {
    hold_ = tyer::mutex{session_.client(), name_, {.ttl = ttl_}}.try_acquire();
    return hold_ ? "" : "somebody has " + name_;
  }

  // Longer than its first lease.
  std::string keep() {
    const bool lost = requested_within(hold_.lost(), ttl_ + ttl_ / 4);
    return lost || !hold_.valid() ? "it was lost within " + shown(ttl_) : "";
  }

  std::string show() {
    const auto all = admin_.show(name_);
    return std::ranges::any_of(all, [&](const auto& e) { return e.id == hold_.id(); }) ? "" : "it is not shown";
  }

  std::string list() {
    std::string cursor;
    do {
      const auto page = admin_.list(name_, cursor, 1000);
      if (std::ranges::any_of(page.entries, [&](const auto& e) { return e.name == name_; })) return "";
      cursor = page.cursor;
    } while (!cursor.empty());
    return "it is not listed";
  }

  std::string ask() {
    const auto revoked = hold_.revoked();
    session_.client().ask(name_, "tyer doctor tries whether this arrives");
    if (!admin_.can().push) return "";
    return requested_within(revoked, 2s) ? "" : "the holder was not told";
  }

  std::string release() {
    return hold_.release() == tyer::release_outcome::released ? "" : "the engine did not have it any more";
  }

  session& session_;
  report& report_;
  tyer::admin admin_;
  const std::string name_ = scratch_name();
  const milliseconds ttl_ = std::max<milliseconds>(admin_.can().ttl_min, 1s);
  tyer::hold hold_;
};

}  // namespace

void look_at_permissions(session& s, report& r) {
  const progress trying{s.screen(), [] { return "trying what this login may do"; }};
  trial{s, r}.go();
}

}  // namespace cli::doctor
