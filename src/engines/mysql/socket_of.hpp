// The socket of a connection, which Boost.MySQL does not show: boost_mysql.cpp is where its inside is known.
#pragma once

#include <boost/mysql/any_connection.hpp>

namespace tyer::mysql {

int socket_of(boost::mysql::any_connection&) noexcept;  // -1: this version of Boost has it elsewhere

}  // namespace tyer::mysql
