// The compiled parts of Boost.Redis, once. Everything else sees only their declarations.
//
// Boost.Redis 1.88 always greets with HELLO 3. So its function for that is compiled under another name, and called for all
// but our connections that are to speak RESP2. Each of the two names is defined once: all of Boost has a namespace of ours
// here (cmake/tyer_boost.cmake), and a program's own Boost.Redis is another one.
#include "engines/redis/connection/resp2.hpp"

#include <boost/redis/connection.hpp>
#include <boost/version.hpp>

static_assert(BOOST_VERSION / 100 == 1088, "later versions have no such function, and another interface");

#define push_hello push_hello_of_boost
#include <boost/redis/src.hpp>
#undef push_hello

namespace boost::redis::detail {

void push_hello(const config& c, request& r) {
  if (c.clientname != tyer::redis::resp2::marker) return push_hello_of_boost(c, r);
  const bool login = !c.password.empty(), database = c.database_index && *c.database_index != 0;
  if (login && c.username == "default") r.push("AUTH", c.password);
  if (login && c.username != "default") r.push("AUTH", c.username, c.password);
  if (database) r.push("SELECT", *c.database_index);
  if (!login && !database) r.push("PING");
}

}  // namespace boost::redis::detail
