# `bloomery flows`: the program on captures that the tests write, and its parts.
if(NOT BLOOMERY_FLOWS)
  return()
endif()
bloomery_fuzzer(fuzz_flow_packet cli/unit_program.c)
target_link_libraries(fuzz_flow_packet PRIVATE bloomery_flows)
if(BLOOMERY_FUZZ)
  return()
endif()
# doc/flows.md has the state machine as tables.
add_executable(flow_machine_table flows/flow_machine_table.c cli/unit_program.c)
target_link_libraries(flow_machine_table PRIVATE bloomery_flows)
add_test(NAME flows_pages COMMAND ${BLOOMERY_PYTHON} -B
  ${CMAKE_CURRENT_LIST_DIR}/flows_pages_test.py $<TARGET_FILE:flow_machine_table>
  ${PROJECT_SOURCE_DIR}/doc/flows.md)

bloomery_unit_test(test_flow_tracker cli/unit_program.c)
target_link_libraries(test_flow_tracker PRIVATE bloomery_flows)

foreach(part live packets report states)
  add_test(NAME flows_${part}
    COMMAND ${BLOOMERY_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/flows_${part}_test.py
      $<TARGET_FILE:bloomery>)
endforeach()
set_tests_properties(flows_live PROPERTIES SKIP_RETURN_CODE 77)
