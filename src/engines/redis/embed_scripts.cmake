# Turns scripts/NAME.lua into one .cpp:
#   cmake -DNAMES=a;b -DFROM=folder -DTO=file [-DROOM=folder below engines/redis] -P embed_scripts.cmake
#
# A line `-- include other.lua` is replaced by that file; comments and indentation are dropped, since the server keeps the
# text of every script. The SHA1 is that of exactly the bytes that are embedded.

set(rows "")
foreach(name IN LISTS NAMES)
  file(READ ${FROM}/${name}.lua text)
  string(PREPEND text "\n")
  string(REGEX MATCHALL "-- include [a-z_]+\\.lua" includes "${text}")
  foreach(include IN LISTS includes)
    string(REPLACE "-- include " "" file "${include}")
    file(READ ${FROM}/${file} part)
    string(REPLACE "${include}\n" "${part}" text "${text}")
  endforeach()
  string(REGEX REPLACE "\n[ ]*--[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n[ \n]+" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  string(SHA1 sha "${text}")
  string(APPEND rows "const script ${name}{\"${name}\", R\"lua(${text})lua\", \"${sha}\"};\n\n")
endforeach()
string(REPLACE ";" ", &" pointers "${NAMES}")

set(header engines/redis/scripts.hpp)
set(space tyer::redis::scripts)
if(ROOM)
  set(header engines/redis/${ROOM}/scripts.hpp)
  set(space tyer::redis::${ROOM}::scripts)
endif()

file(WRITE ${TO}.new "// Made from scripts/*.lua by embed_scripts.cmake.
#include \"${header}\"

namespace ${space} {

${rows}const std::array<const script*, count> all{&${pointers}};

}  // namespace ${space}
")
file(RENAME ${TO}.new ${TO})
