# Tests of lib/map: interface, dictionary, frames, and both engines with one model.

bloomery_model_fuzzer(fuzz_map map_model SIZE_MAX)
if(BLOOMERY_FUZZ)
  return()
endif()

# Object compared with twin, in this many operations.
bloomery_model_program(map)
bloomery_programs(model_map map_programs 60000 400)
bloomery_programs(model_map_long map_programs 100000 8000 1000000)
add_test(NAME model_map_soak COMMAND map_programs $<IF:$<BOOL:${BLOOMERY_SANITIZE}>,1000000,20000000>
  2000 2000000)
set_tests_properties(model_map_soak PROPERTIES LABELS soak TIMEOUT 7200)

bloomery_unit_test(test_dictionary)
bloomery_unit_test(test_map)
bloomery_unit_test(test_map_memory)
bloomery_unit_test(test_map_rebuild)
add_test(NAME map_rebuild_long COMMAND test_map_rebuild 20000)
set_tests_properties(map_rebuild_long PROPERTIES LABELS soak TIMEOUT 3600)
bloomery_unit_test(test_map_save)
bloomery_unit_test(test_map_sweep)
bloomery_unit_test(test_map_values)
bloomery_program(test_map_rates stat/test_map_rates.c)
bloomery_statistics(test_map_rates)

# An independent reader, in another language; it must also detect a missing key.
function(bloomery_read_map name file keys)
  add_test(NAME ${name} COMMAND ${BLOOMERY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/tools/read_map.py
    ${CMAKE_CURRENT_SOURCE_DIR}/golden/${file} ${keys})
endfunction()
bloomery_read_map(read_map_empty map_empty.bry 0)
bloomery_read_map(read_map_compact map_compact.bry 50)
bloomery_read_map(read_map_numbers map_numbers.bry 50)
bloomery_read_map(read_map_kbf map_kbf.bry 50)
bloomery_read_map(read_map_other map_kbf.bry 51)
set_tests_properties(read_map_other PROPERTIES WILL_FAIL TRUE)

bloomery_program(test_map_growth soak/test_map_growth.c)
add_test(NAME test_map_growth COMMAND test_map_growth)
set_tests_properties(test_map_growth PROPERTIES LABELS soak TIMEOUT 3600)

# Real data: Debian's index of files in packages. It tests the size, so not under a sanitizer.
if(NOT BLOOMERY_SANITIZE)
  bloomery_program(contents_map soak/contents_map.c)
  add_test(NAME contents_map COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/soak/contents_map.sh
    $<TARGET_FILE:contents_map> ${CMAKE_CURRENT_BINARY_DIR}/contents)
  set_tests_properties(contents_map PROPERTIES LABELS soak TIMEOUT 3600 SKIP_RETURN_CODE 77)
endif()
