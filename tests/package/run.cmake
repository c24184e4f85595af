# What the scripts here have in common: commands that must succeed, and what they must say.

# run(COMMAND ...): the command's output is in `output` afterwards.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# refused(COMMAND ...): the same for a command that must not succeed.
function(refused)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(FATAL_ERROR "should have been refused: ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# What was said must be what was expected. CMake breaks the lines of its messages where it likes.
function(expect text)
  string(REGEX REPLACE "[ \n]+" " " said "${output}")
  string(FIND "${said}" "${text}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "expected '${text}' in:\n${output}")
  endif()
endfunction()

# holds_a_lock(PROGRAM component...): on memory://, and on a real server of each component it was linked with; for the
# other components it says what is missing.
function(holds_a_lock program)
  run(${program} memory://user)
  expect("held")
  foreach(component IN LISTS COMPONENTS)
    if(component IN_LIST ARGN)
      run(${ENGINES} run ${component} -- sh -c "exec ${program} $TYER_URI")
      expect("held")
    else()
      run(${program} ${component}://127.0.0.1:1)
      expect("needs the component tyer::${component}")
    endif()
  endforeach()
endfunction()
