# Tests of the counters: names, facade, log and snapshots, what a crash or a kill leaves.
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_counter_names support/failing_allocator.c)
bloomery_unit_test(test_counter support/failing_allocator.c)
bloomery_unit_test(test_counter_folder ${recording} support/failing_allocator.c)
bloomery_unit_test(test_counter_crash ${recording})
bloomery_unit_test(test_counter_memory ${recording} support/failing_allocator.c)
bloomery_unit_test(test_counter_save ${recording} support/failing_allocator.c support/repair.c)
target_compile_definitions(test_counter_save PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/golden")
