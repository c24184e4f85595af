// The compiled parts of Boost.Asio, once. Everything else sees only their declarations.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
