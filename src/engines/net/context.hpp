// An io_context that has the descriptors it needs from the beginning.
//
// Asio takes them at the first use, and when none is left it throws an exception of its own, wherever that is. Here an engine
// that cannot be had is refused when it is made, in Tyer's words.
#pragma once

#include <boost/asio/io_context.hpp>

namespace tyer::net {

struct context : boost::asio::io_context {  // for one thread at a time
  context();                                // throws tyer::error
};

}  // namespace tyer::net
