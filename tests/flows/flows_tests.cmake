# `bloomery flows`: the program on captures that the tests write, and its parts.
if(NOT BLOOMERY_FLOWS)
  return()
endif()
bloomery_fuzzer(fuzz_flow_packet cli/unit_program.c)
target_link_libraries(fuzz_flow_packet PRIVATE bloomery_flows)
if(BLOOMERY_FUZZ)
  return()
endif()
foreach(part live packets report states)
  add_test(NAME flows_${part}
    COMMAND ${BLOOMERY_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/flows_${part}_test.py
      $<TARGET_FILE:bloomery>)
endforeach()
set_tests_properties(flows_live PROPERTIES SKIP_RETURN_CODE 77)
