# The deduplicating store. The fuzzing build has no program to test.
if(NOT BLOOMERY_DEDUP OR BLOOMERY_FUZZ)
  return()
endif()

foreach(name test_dedup_chunker test_dedup_tree test_dedup_units)
  add_executable(${name} dedup/${name}.c cli/unit_program.c)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE bloomery_dedup test_support)
  add_test(NAME ${name} COMMAND ${name})
endforeach()

# dedup_python(part): dedup/dedup_PART_test.py.
function(dedup_python part)
  add_test(NAME dedup_${part} COMMAND ${BLOOMERY_PYTHON} -B
    ${CMAKE_CURRENT_SOURCE_DIR}/dedup/dedup_${part}_test.py $<TARGET_FILE:bloomery> ${ARGN})
  if(BLOOMERY_SANITIZE)
    set_tests_properties(dedup_${part} PROPERTIES ENVIRONMENT BLOOMERY_SANITIZED=1)
  endif()
endfunction()

dedup_python(trees)
if(BLOOMERY_SANITIZE)
  dedup_python(commands)
  dedup_python(damage 2)
  dedup_python(model 2 20)
else()
  dedup_python(commands $<TARGET_FILE:fast_clock>)
  dedup_python(damage 20)
  dedup_python(model 10 25)
endif()

# Crashes: a library that records the calls is loaded first, which a sanitizer's must be.
if(NOT BLOOMERY_SANITIZE)
  add_library(dedup_record_calls MODULE dedup/record_calls.c)
  target_compile_options(dedup_record_calls PRIVATE -fvisibility=default)
  target_link_libraries(dedup_record_calls PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  dedup_python(crash $<TARGET_FILE:dedup_record_calls> 6 5)

  # The long versions, for `make soak`.
  foreach(part "damage 1000" "model 150 40" "crash $<TARGET_FILE:dedup_record_calls> 1000 2")
    separate_arguments(words UNIX_COMMAND ${part})
    list(POP_FRONT words name)
    add_test(NAME dedup_${name}_long COMMAND ${BLOOMERY_PYTHON} -B
      ${CMAKE_CURRENT_SOURCE_DIR}/dedup/dedup_${name}_test.py $<TARGET_FILE:bloomery> ${words})
    set_property(TEST dedup_${name}_long APPEND PROPERTY LABELS soak)
  endforeach()
endif()
