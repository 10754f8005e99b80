# The stack that calls of the library need. Sanitizers enlarge frames, and the fuzzers too.
if(BLOOMERY_FUZZ OR BLOOMERY_SANITIZE)
  return()
endif()

set(interface ${CMAKE_CURRENT_SOURCE_DIR}/structure/interface.txt)
set(generator ${CMAKE_CURRENT_SOURCE_DIR}/stack/stack_calls.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${interface} ${generator})
execute_process(COMMAND ${BLOOMERY_PYTHON} -B ${generator} ${interface} --options
  OUTPUT_VARIABLE wrapped COMMAND_ERROR_IS_FATAL ANY)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/stack_calls.c
  COMMAND ${BLOOMERY_PYTHON} -B ${generator} ${interface} ${CMAKE_CURRENT_BINARY_DIR}/stack_calls.c
  DEPENDS ${interface} ${generator})

bloomery_program(test_stack ${CMAKE_CURRENT_LIST_DIR}/test_stack.c ${CMAKE_CURRENT_LIST_DIR}/stack_objects.c ${CMAKE_CURRENT_LIST_DIR}/stack_depth.c
  ${CMAKE_CURRENT_BINARY_DIR}/stack_calls.c)
target_link_libraries(test_stack PRIVATE conformance_checks)
target_link_options(test_stack PRIVATE ${wrapped})
# The names begin with underscores: the linker chooses them. The loops paint and read much memory.
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/stack_calls.c PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/stack_depth.c PROPERTIES COMPILE_OPTIONS -O3)
foreach(job filter map window counter index)
  add_test(NAME stack_${job} COMMAND test_stack ${job})
endforeach()
