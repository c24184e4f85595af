# Sources compiled several at a time, with CMAKE_UNITY_BUILD: half of what compiling costs is reading the same headers again.
# asan and tsan do so, and the tests of release. Where nothing is to be had by it (dev, the library in release and in packages), a
# name that two files have, each for itself, is no clash, and a file that forgot an #include is seen.

# tyer_apart(SOURCE...): of the folder that says so; compiled alone, since it has names for itself that a neighbour has too.
function(tyer_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
