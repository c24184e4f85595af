// A file of a program that is compiled with -fno-exceptions, beside others that are not.
#include <tyer/sql_fence.hpp>

#include <string>

namespace tyer::testing_api {

std::string made_without_exceptions() { return sql_fence{"fence", "fence_by"}.where(sql_pass::mysql()); }

}  // namespace tyer::testing_api
