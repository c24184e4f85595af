# Turns scripts/NAME.lua into one .cpp:
#   cmake -DNAMES=a;b -DFROM=folder -DTO=file [-DROOM=folder below engines/redis] -P embed_scripts.cmake
#
# A line `-- include other.lua` is replaced by that file; comments and indentation are dropped, since the server keeps the
# text of every script. The SHA1 is that of exactly the bytes that are embedded.
#
# Of each script there are two: behind `-- cluster: ` stands what only the one for clusters has.

# How lines for clusters are read.
macro(for_clusters where text)
  if("${where}" STREQUAL "cluster")
    string(REPLACE "-- cluster: " "" ${text} "${${text}}")
  else()
    string(REGEX REPLACE "\n[ ]*-- cluster: [^\n]*" "" ${text} "${${text}}")
  endif()
endmacro()

function(embed name where out)
  file(READ ${FROM}/${name}.lua text)
  string(PREPEND text "\n")
  for_clusters(${where} text)
  string(REGEX MATCHALL "-- include [a-z_]+\\.lua" includes "${text}")
  foreach(include IN LISTS includes)
    string(REPLACE "-- include " "" file "${include}")
    file(READ ${FROM}/${file} part)
    string(REPLACE "${include}\n" "${part}" text "${text}")
  endforeach()
  for_clusters(${where} text)
  string(REGEX REPLACE "\n[ ]*--[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n[ \n]+" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  string(SHA1 sha "${text}")
  set(${out} "const script ${name}{\"${name}\", R\"lua(${text})lua\", \"${sha}\"};\n\n" PARENT_SCOPE)
endfunction()

set(rows "")
set(cluster_rows "")
foreach(name IN LISTS NAMES)
  embed(${name} one_server row)
  string(APPEND rows "${row}")
  embed(${name} cluster row)
  string(APPEND cluster_rows "${row}")
endforeach()
string(REPLACE ";" ", &" pointers "${NAMES}")
string(REPLACE ";" ", " names "${NAMES};all")
string(REPLACE ";" ", cluster::" cluster_names "${NAMES};all")

set(header engines/redis/scripts/scripts.hpp)
set(space tyer::redis::scripts)
if(ROOM)
  set(header engines/redis/${ROOM}/scripts.hpp)
  set(space tyer::redis::${ROOM}::scripts)
endif()

file(WRITE ${TO}.new "// Made from scripts/*.lua by embed_scripts.cmake.
#include \"${header}\"

namespace ${space} {

${rows}const std::array<const script*, count> all{&${pointers}};

namespace cluster {
namespace {

${cluster_rows}const std::array<const script*, count> all{&${pointers}};

}  // namespace
}  // namespace cluster

const set on_one_server{${names}}, in_a_cluster{cluster::${cluster_names}};

}  // namespace ${space}
")
file(RENAME ${TO}.new ${TO})
