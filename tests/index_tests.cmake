# Tests of lib/index: facade, frames, folders, and all engines through one model.
set(index_model model/model.c model/index_model.c model/index_model_elements.c model/index_twin.c
  support/failing_allocator.c support/recording_io.c)

bloomery_fuzzer(fuzz_index ${index_model})
if(BLOOMERY_FUZZ)
  return()
endif()

# Object against twin, in so many operations.
bloomery_program(index_programs model/index_programs.c ${index_model})
add_test(NAME model_index COMMAND index_programs 400000 400)
bloomery_programs(model_index_long index_programs 200000 8000 1000000)
add_test(NAME model_index_soak COMMAND index_programs 10000000 2000 2000000)
set_tests_properties(model_index_soak PROPERTIES LABELS soak TIMEOUT 3600)

bloomery_unit_test(test_index support/failing_allocator.c)
bloomery_unit_test(test_index_memory support/failing_allocator.c support/recording_io.c)
bloomery_unit_test(test_index_save support/failing_allocator.c support/repair.c)
bloomery_unit_test(test_index_sweep support/failing_allocator.c support/repair.c)
bloomery_unit_test(test_index_folder support/failing_allocator.c support/recording_io.c
  support/crash_states.c)
bloomery_program(test_index_rates stat/test_index_rates.c support/band.c
  support/failing_allocator.c)
bloomery_statistics(test_index_rates)
bloomery_thread_test(test_index_threads support/failing_allocator.c)
