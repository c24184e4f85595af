// The compiled part of Boost.Asio, for a build in which no engine brings it along.
#include <boost/asio/impl/src.hpp>
