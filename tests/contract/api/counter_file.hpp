// A file in which processes count together (contract_child with turns).
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace contract {

class counter_file {
 public:
  counter_file() {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0 || ::ftruncate(fd, 64) != 0) throw std::runtime_error("cannot make a file to count in");
    ::close(fd);
  }
  ~counter_file() { ::unlink(path_.c_str()); }
  counter_file(const counter_file&) = delete;
  counter_file& operator=(const counter_file&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "tyer-contract-XXXXXX";
};

}  // namespace contract
