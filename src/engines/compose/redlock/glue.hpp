// The templates of redlock.hpp, for its two source files.
#pragma once

#include "engines/compose/redlock/redlock.hpp"

#include <tyer/error.hpp>

namespace tyer::redlock {

// What is asked of every node: views of a call live only as long as the call.
struct redlock_engine::errand {
  seam::request what;
  std::string name, owner;
};

// Never inline: a reply that comes before its call has returned waits for the loop.
template <class T>
void redlock_engine::give(reply<T>& back, outcome<T> o) {
  if (running_) {
    --outstanding_;
    return back(std::move(o));
  }
  inbox_->put([this, back = std::move(back), o = std::move(o)](seam::events*) mutable {
    --outstanding_;
    back(std::move(o));
  });
}

// True if the call is answered already: too late, or nothing that this engine can do.
template <class T>
bool redlock_engine::refuses(reply<T>& back, const char* cannot) {
  ++outstanding_;
  if (!closed_ && cannot == nullptr) return false;
  failure f{why::unsupported, make_error_code(errc::unsupported), closed_ ? "" : cannot};
  if (closed_) f = {why::not_sent, make_error_code(errc::closed), "the engine was closed"};
  const bool was = std::exchange(running_, false);
  give(back, outcome<T>{now(), std::move(f)});
  running_ = was;
  return true;
}

template <class T>
redlock_engine::survey_ptr<T> redlock_engine::begin(std::size_t nodes, typename survey<T>::judge knows,
                                                    typename survey<T>::finish done, duration straggle) {
  const auto t = now();
  auto s = std::make_shared<survey<T>>(nodes, t, t + environment_.request_timeout, straggle, std::move(knows),
                                       std::move(done));
  surveys_.push_back(s);
  return s;
}

template <class T, class F>
void redlock_engine::ask_node(const survey_ptr<T>& s, std::size_t as, std::size_t i, F call) {
  nodes_[i]->post([this, s, as, call = std::move(call), box = inbox_](seam::engine& e) mutable {
    call(e, reply<T>{[this, s, as, box](outcome<T>&& o) {
           box->put([this, s, as, result = std::move(o.result)](seam::events*) mutable {
             s->on_answer(as, std::move(result), now());
           });
         }});
  });
}

// `call(engine, reply)` is copied for every node and runs in its thread.
template <class T, class F>
void redlock_engine::ask_all(typename survey<T>::judge knows, typename survey<T>::finish done, F call) {
  const auto s = begin<T>(nodes_.size(), std::move(knows), std::move(done), setting_.straggle);
  for (std::size_t i = 0; i < nodes_.size(); ++i) ask_node<T>(s, i, i, call);
}

}  // namespace tyer::redlock
