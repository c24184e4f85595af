// The server behind the engine says nothing, and refuses nothing: it stands still (SIGSTOP), with all that it was sent unread.
#pragma once

#include "contract/api/server.hpp"
#include "core/clock.hpp"
#include "engines/memory/store.hpp"

#include <memory>

namespace tyer::contract {

class silence {
 public:
  silence();
  ~silence();
  silence(const silence&) = delete;

  void end();  // it goes on, and reads what it was sent

 private:
  ::contract::server server_;
  core::boot_clock clock_;
  std::shared_ptr<memory::store> store_;  // the server of memory://
  bool over_ = false;
};

}  // namespace tyer::contract
