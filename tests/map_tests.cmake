# Tests of lib/map: facade, dictionary, frames, and both engines through one model.
set(map_model model/model.c model/map_model.c model/map_model_keys.c model/map_twin.c
  support/failing_allocator.c)

bloomery_fuzzer(fuzz_map ${map_model})
if(BLOOMERY_FUZZ)
  return()
endif()

# Object against twin, in so many answers.
bloomery_program(map_programs model/map_programs.c ${map_model})
add_test(NAME model_map COMMAND map_programs 10000000 400)
add_test(NAME model_map_long COMMAND map_programs 20000000 8000 1000000)
add_test(NAME model_map_soak COMMAND map_programs 500000000 2000 2000000)
set_tests_properties(model_map_soak PROPERTIES LABELS soak TIMEOUT 3600)

bloomery_unit_test(test_dictionary support/failing_allocator.c)
bloomery_unit_test(test_map support/failing_allocator.c)
bloomery_unit_test(test_map_memory support/failing_allocator.c)
bloomery_unit_test(test_map_save support/failing_allocator.c support/repair.c)
bloomery_program(test_map_rates stat/test_map_rates.c support/band.c support/failing_allocator.c)
add_test(NAME test_map_rates COMMAND test_map_rates)

# Real data: Debian's index of files in packages. Size is what it is about, so not under a sanitizer.
if(NOT BLOOMERY_SANITIZE)
  bloomery_program(contents_map soak/contents_map.c support/band.c)
  add_test(NAME contents_map COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/soak/contents_map.sh
    $<TARGET_FILE:contents_map> ${CMAKE_CURRENT_BINARY_DIR}/contents)
  set_tests_properties(contents_map PROPERTIES LABELS soak TIMEOUT 3600 SKIP_RETURN_CODE 77)
endif()
