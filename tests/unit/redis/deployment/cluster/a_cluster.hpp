// A cluster as a test sees it from outside: who has a slot, and slots that are moved by hand, key by key.
#pragma once

#include "engines/redis/deployment/cluster/hash_slot.hpp"
#include "engines/redis/deployment/cluster/nodes.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tyer::test {

inline std::uint16_t slot_of(const std::string& name) { return redis::hash_slot("tyer:{" + name + "}"); }

class a_cluster {
 public:
  // Of redis+cluster://127.0.0.1:1,127.0.0.1:2
  explicit a_cluster(std::string_view uri) {
    for (auto at = uri.find("://") + 3; at < uri.size();) {
      const auto end = std::min(uri.find(',', at), uri.size());
      const auto place = uri.substr(at, end - at);
      ports_.push_back(std::stoi(std::string{place.substr(place.rfind(':') + 1)}));
      at = end + 1;
    }
  }

  const std::vector<int>& ports() const { return ports_; }
  raw_redis& at(int port) {
    auto& c = links_[port];
    if (!c) c = std::make_unique<raw_redis>("redis://127.0.0.1:" + std::to_string(port));
    return *c;
  }
  void forget(int port) { links_.erase(port); }

  std::vector<redis::node> masters() {
    auto all = redis::read_nodes(at(ports_.front()).ask({"CLUSTER", "NODES"}).text, "127.0.0.1");
    std::erase_if(all, [](const redis::node& n) { return !n.master || n.slots.empty(); });
    return all;
  }
  int master_of(std::uint16_t slot) {
    for (const auto& n : masters()) {
      for (const auto& run : n.slots) {
        if (run.first <= slot && slot <= run.last) return n.at.port;
      }
    }
    ADD_FAILURE() << "nobody has slot " << slot;
    return 0;
  }
  int another_master(int than) {
    for (const auto& n : masters()) {
      if (n.at.port != than) return n.at.port;
    }
    return 0;
  }
  std::string id_of(int port) { return at(port).ask({"CLUSTER", "MYID"}).text; }

  // Waits until every node says the same. Epochs are handed out without asking anybody when a slot is moved by hand: two
  // slots that are moved while the nodes do not know of each other's epoch may end up with no master at all.
  void agree() {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (std::chrono::steady_clock::now() < limit) {
      std::set<std::string> views;
      for (const int port : ports_) views.insert(view(port));
      if (views.size() == 1) return;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    ADD_FAILURE() << "the nodes do not agree";
  }

  std::int64_t sum(const std::string& section, const std::string& field) {
    std::int64_t all = 0;
    for (const int port : ports_) {
      const auto text =
          section == "cluster" ? at(port).ask({"CLUSTER", "INFO"}).text : at(port).ask({"INFO", section}).text;
      const auto found = text.find(field);
      if (found != text.npos) all += std::stoll(text.substr(found + field.size()));
    }
    return all;
  }

 private:
  std::string view(int port) {
    std::map<int, std::string> masters;
    for (const auto& n : redis::read_nodes(at(port).ask({"CLUSTER", "NODES"}).text, "127.0.0.1")) {
      auto& text = masters[n.at.port] = n.master ? "master" + std::to_string(n.epoch) : "";
      for (const auto& run : n.slots) text += ' ' + std::to_string(run.first) + '-' + std::to_string(run.last);
    }
    std::string all;
    for (const auto& [p, text] : masters) all += std::to_string(p) + text + '\n';
    return all;
  }

  std::vector<int> ports_;
  std::map<int, std::unique_ptr<raw_redis>> links_;
};

// The slot of a name on its way from its master to another. Nothing moves by itself.
class moving_slot {
 public:
  moving_slot(a_cluster& c, std::string name)
      : cluster_(c), name_(std::move(name)), slot_(std::to_string(slot_of(name_))) {
    c.agree();
    from = c.master_of(slot_of(name_));
    to = c.another_master(from);
    expect_ok(c.at(to).ask({"CLUSTER", "SETSLOT", slot_, "IMPORTING", c.id_of(from)}));
    expect_ok(c.at(from).ask({"CLUSTER", "SETSLOT", slot_, "MIGRATING", c.id_of(to)}));
  }

  // One key of the name: "" for the state, else its letter.
  void move(const std::string& letter) {
    const auto key = "tyer:{" + name_ + "}" + letter;
    expect_ok(cluster_.at(from).ask({"MIGRATE", "127.0.0.1", std::to_string(to), key, "0", "5000"}));
  }

  // What is left moves too, and the slot is the other's. A key that was made at both would be refused here (BUSYKEY).
  void finish() {
    for (;;) {
      const auto keys = cluster_.at(from).ask({"CLUSTER", "GETKEYSINSLOT", slot_, "100"});
      if (keys.items.empty()) break;
      std::vector<std::string> words{"MIGRATE", "127.0.0.1", std::to_string(to), "", "0", "5000", "KEYS"};
      for (const auto& k : keys.items) words.push_back(k.text);
      const auto said = cluster_.at(from).ask(words);
      expect_ok(said);
      if (said.is_error()) break;
    }
    const auto id = cluster_.id_of(to);
    expect_ok(cluster_.at(to).ask({"CLUSTER", "SETSLOT", slot_, "NODE", id}));
    expect_ok(cluster_.at(from).ask({"CLUSTER", "SETSLOT", slot_, "NODE", id}));
    cluster_.agree();
  }

  int from = 0, to = 0;

 private:
  static void expect_ok(const raw_value& v) { EXPECT_EQ(v.text, "OK"); }

  a_cluster& cluster_;
  std::string name_, slot_;
};

}  // namespace tyer::test
