#include "engines/sql/frame.hpp"

#include <utility>

namespace tyer::sql {

frame::frame(const seam::environment& e, parts p, const bounds& b)
    : engine_base(e,
                  {.scheme = p.scheme,
                   .request_timeout = e.request_timeout,
                   .waits_for = kit::draining::what_gives_back,
                   .drain_max = e.request_timeout},
                  std::move(p.box)),
      says_(std::move(p.says)),
      link_(std::move(p.by), {.patience = b.patience,
                              .greeting = [this] { return greeting(); },
                              .greeted = [this](const answers& a) { return greeted(a); },
                              .what = [this](const answered& a) { return what(a); },
                              .now = [this] { return now(); },
                              .up = [this] { on_up(); },
                              .down = [this](const failure& f) { on_down(f); },
                              .rung = [this](std::string payload) { on_rung(std::move(payload)); },
                              .warned = [this](const std::string& words) { warn(words); },
                              .seed = e.ids->nonce(),
                              .under_way_max = b.under_way_max}),
      sweeper_(link_, *says_,
               {.patience = e.request_timeout,
                .now = [this] { return now(); },
                .closed = [this] { return closed(); },
                .found = [this](const std::string& name) { on_stale(name); }}) {}

void frame::fall_silent() {
  link_.close();
  engine_base::fall_silent();
}

void frame::do_diagnose(const call_ptr<std::vector<seam::finding>>& c) {
  link_.ask(says_->questions(), c->deadline, [this, c](link::said&& s) {
    if (const auto* f = std::get_if<failure>(&s)) return calls().fail(*c, *f);
    calls().answer(*c, {findings(std::get<answers>(s))});
  });
}

std::vector<seam::finding> frame::findings(const answers& a) const { return says_->findings(a, link_.keeps_session()); }

}  // namespace tyer::sql
