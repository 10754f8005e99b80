# The deduplicating store. The fuzzing build has no program to test.
if(NOT BLOOMERY_DEDUP OR BLOOMERY_FUZZ)
  return()
endif()

add_executable(test_dedup_chunker dedup/test_dedup_chunker.c)
target_include_directories(test_dedup_chunker PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(test_dedup_chunker PRIVATE bloomery_dedup test_support)
target_sources(test_dedup_chunker PRIVATE cli/unit_program.c)
add_test(NAME test_dedup_chunker COMMAND test_dedup_chunker)

# dedup_python(part): dedup/dedup_PART_test.py.
function(dedup_python part)
  add_test(NAME dedup_${part} COMMAND ${BLOOMERY_PYTHON} -B
    ${CMAKE_CURRENT_SOURCE_DIR}/dedup/dedup_${part}_test.py $<TARGET_FILE:bloomery> ${ARGN})
  if(BLOOMERY_SANITIZE)
    set_tests_properties(dedup_${part} PROPERTIES ENVIRONMENT BLOOMERY_SANITIZED=1)
  endif()
endfunction()

foreach(part commands trees)
  dedup_python(${part})
endforeach()
