#include "base/mistakes.hpp"

#include <algorithm>
#include <array>

namespace cli {

namespace {

constexpr std::array<mistake, 11> mistakes{
    {{" is a sentinel", "begin the URL with redis+sentinel://, and end it with the name of the master: /mymaster",
      true},
     {" is no sentinel", "name the sentinels in the URL, mostly port 26379; or begin it with redis://", true},
     {"No such master", "correct the name at the end of the URL: SENTINEL MASTERS at a sentinel lists them", true},
     {" is a node of a cluster", "begin the URL with redis+cluster://", true},
     {"cluster support disabled", "begin the URL with redis://", true},
     {" is not a node of a cluster", "begin the URL with redis://", true},
     {" does not speak HTTP/2",
      "that is no etcd, or a proxy that does not pass HTTP/2 on: correct host and port in the URL (etcd's is mostly "
      "2379)",
      true, true},
     {"the server's certificate was not accepted", "", true},
     {"the TLS handshake failed", "", false, true},
     {" cannot be read as ", "correct the name of that file in the URL, or what is in it", true},
     {" is a replica", "name its primary in the URL, or the sentinels with redis+sentinel://", false}}};

}  // namespace

const mistake* mistake_in(std::string_view words) {
  const auto* const at =
      std::ranges::find_if(mistakes, [&](const mistake& m) { return words.find(m.says) != words.npos; });
  return at == mistakes.end() ? nullptr : at;
}

bool is_for_good(std::string_view words) {
  const auto* const known = mistake_in(words);
  return known != nullptr && known->for_good;
}

std::string_view advice_on_replicas(std::string_view words) {
  if (words.find(" replicas have confirmed it within ") == words.npos) return {};
  return "start or mend some (INFO replication at the master lists those that follow it), or lower replicas= in the "
         "URL";
}

bool lacks_a_right(std::string_view words) {
  return words.find("NOPERM") != words.npos || words.find("permission denied") != words.npos;
}

}  // namespace cli
