// The compiled parts of Boost.Redis, once. Everything else sees only their declarations.
#include <boost/redis/src.hpp>
