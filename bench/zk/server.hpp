// What the server counts, by its own word: the bench asks the one who knows.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

class zk_server {
 public:
  explicit zk_server(const std::string& uri);  // zk://host:port, the first if there are several

  std::uint64_t requests() const;     // packets that this server was sent
  std::uint64_t writes() const;       // transactions of all servers
  std::uint64_t connections() const;  // open just now, less that of this question

 private:
  std::string ask(const std::string& word) const;
  std::uint64_t number(const std::string& key) const;

  std::string host_, port_;
};

}  // namespace bench
