// The engine behind redlock://: a lock is held if a majority of independent nodes says so.
//
// The nodes are engines of any kind, each with a thread of its own (node.hpp), and machines without I/O make every decision
// (quorum_attempt.hpp, quorum_lock.hpp, survey.hpp, nodes_up.hpp). This class only carries requests to the nodes and
// answers to the callers.
#pragma once

#include "engines/compose/redlock/node.hpp"
#include "engines/compose/redlock/nodes_up.hpp"
#include "engines/compose/redlock/quorum_lock.hpp"
#include "engines/compose/redlock/survey.hpp"
#include "engines/kit/engine_base.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tyer::redlock {

namespace seam = tyer::engine;
using kit::call_ptr;
using kit::result;
using seam::answer;
using seam::mode;
using seam::outcome;
using seam::reply;
using seam::target;

struct unstarted_node {
  std::string name;
  std::unique_ptr<seam::engine> value;
};

class redlock_engine final : public kit::engine_base, private node::listener {
 public:
  redlock_engine(std::vector<unstarted_node> nodes, milliseconds node_timeout, const seam::environment& e,
                 std::shared_ptr<seam::inbox> box, milliseconds remembers = std::chrono::hours{24});
  ~redlock_engine() override;

  seam::capabilities can() const noexcept override { return can_; }

 private:
  struct errand;   // a request to every node, kept until the last has answered
  struct listing;  // a walk through the names of one node after the other
  struct record {
    explicit record(const quorum_lock::setting& s) : lock(s) {}
    quorum_lock lock;
    std::shared_ptr<const errand> what;
    std::vector<call_ptr<answer>> acquiring;
    std::vector<call_ptr<fate>> releasing;
    time_point due = time_point::max();
    std::uint64_t suspected_by = 0;  // nodes, a bit each
  };
  using records = std::unordered_map<id, record, core::id_hash>;

  void do_open() override;
  void do_acquire(const seam::request&, const call_ptr<answer>&) override;
  void do_keep(std::span<const target>, fate as, milliseconds ttl, const call_ptr<seam::kept>&) override;
  void do_release(const target&, bool clean, const call_ptr<fate>&) override;
  void do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>&) override;
  void do_evict(const target&, std::string_view reason, const call_ptr<fate>&) override;
  void do_show(std::string_view name, const call_ptr<seam::page>&) override;
  void do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
               const call_ptr<seam::page>&) override;
  void do_diagnose(const call_ptr<std::vector<seam::finding>>&) override;
  time_point next_due() const override;
  void on_time(time_point now) override;
  bool has_let_go(time_point now) override;

  void on_up(std::size_t node, const seam::server_facts&, time_point told) override;
  void on_down(std::size_t node, const failure&) override;
  void on_suspect(std::size_t node, const id&) override;
  void on_asked(std::size_t node, const id&, const std::string& reason) override;

  // The lock
  records::iterator record_of(const id& who);
  bool is_of_another_name(const target&) const;
  void release_stranger(const target&, const call_ptr<fate>&);
  void attend(const id& who);
  void send(const id& who, record& r, const quorum_lock::node_request& o);
  void schedule(const id& who, record& r);
  result<answer> to_answer(const std::variant<quorum_lock::won, quorum_lock::lost>& said, std::uint32_t losses);
  milliseconds hint(milliseconds left, std::uint32_t losses);
  template <class T, class F>
  void carry(const id& who, const quorum_lock::node_request& o, std::size_t node, F call);
  void on_tallied(const std::vector<std::pair<id, std::string>>& what, const std::vector<fate>& fates,
                  const survey<seam::kept>&, time_point until);

  // Questions to all
  template <class T>
  using survey_ptr = std::shared_ptr<survey<T>>;
  template <class T>
  survey_ptr<T> begin(std::size_t nodes, typename survey<T>::judge knows, typename survey<T>::finish done,
                      duration straggle);
  template <class T, class F>
  void ask_node(const survey_ptr<T>& s, std::size_t as, std::size_t node, F call);
  template <class T, class F>
  void ask_all(typename survey<T>::judge knows, typename survey<T>::finish done, F call);
  void show_all(const std::string& name, survey<seam::page>::finish done);
  void walk(std::shared_ptr<listing>);
  void look_up(std::shared_ptr<listing>, std::vector<std::string> names);
  void end_page(listing&);

  template <class T>
  void give(const call_ptr<T>& c, time_point sent, result<T> said);
  void tell(nodes_up::news);

  const quorum_lock::setting setting_;
  seam::capabilities can_;
  std::vector<std::unique_ptr<node>> nodes_;
  nodes_up nodes_up_;
  milliseconds remembers_;  // how long the nodes remember the last token of a free lock
  std::minstd_rand random_;

  records records_;
  std::set<std::pair<time_point, id>> dues_;
  bool unscheduled_ = false;  // some records are missing in the schedule: out of memory
  std::vector<std::shared_ptr<survey_base>> surveys_;
  ::pid_t opened_in_ = 0;
};

}  // namespace tyer::redlock
