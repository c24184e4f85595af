// The templates of redlock.hpp, for its two source files.
#pragma once

#include "engines/compose/redlock/redlock.hpp"

#include <tyer/error.hpp>

namespace tyer::redlock {

// A copy of a request for every node: views of a call live only as long as the call.
struct redlock_engine::errand {
  seam::request what;
  std::string name, owner;
};

template <class T>
void redlock_engine::give(const call_ptr<T>& c, time_point sent, result<T> said) {
  if (c->over()) return;
  c->counts_from = sent;
  calls().answer(*c, std::move(said));
}

template <class T>
redlock_engine::survey_ptr<T> redlock_engine::begin(std::size_t nodes, typename survey<T>::judge knows,
                                                    typename survey<T>::finish done, duration straggle) {
  const auto t = now();
  auto s =
      std::make_shared<survey<T>>(nodes, t, t + around().request_timeout, straggle, std::move(knows), std::move(done));
  surveys_.push_back(s);
  return s;
}

template <class T, class F>
void redlock_engine::ask_node(const survey_ptr<T>& s, std::size_t as, std::size_t i, F call) {
  nodes_[i]->post([this, s, as, call = std::move(call), box = box()](seam::engine& e) mutable {
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
