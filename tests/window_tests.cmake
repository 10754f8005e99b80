# Tests of lib/window: facade, frames, and every engine and mode through one model.
set(window_model model/model.c model/window_model.c model/window_twin.c support/failing_allocator.c)

bloomery_fuzzer(fuzz_window ${window_model})
if(BLOOMERY_FUZZ)
  return()
endif()

# Object against twin, in so many operations for each engine and mode.
bloomery_program(window_programs model/window_programs.c ${window_model})
bloomery_programs(model_window window_programs 1000000 400)
bloomery_programs(model_window_long window_programs 500000 8000 1000000)
add_test(NAME model_window_soak COMMAND window_programs 20000000 2000 2000000)
set_tests_properties(model_window_soak PROPERTIES LABELS soak TIMEOUT 3600)

bloomery_unit_test(test_window support/failing_allocator.c)
bloomery_unit_test(test_window_whole support/failing_allocator.c)
bloomery_unit_test(test_window_memory support/failing_allocator.c)
bloomery_unit_test(test_window_save support/failing_allocator.c support/repair.c)
foreach(golden compact fbf fbf_paper)
  add_test(NAME read_window_${golden} COMMAND ${BLOOMERY_PYTHON} -B
    ${CMAKE_CURRENT_SOURCE_DIR}/tools/read_window.py
    ${CMAKE_CURRENT_SOURCE_DIR}/golden/window_${golden}.bry)
endforeach()
bloomery_program(test_window_rates stat/test_window_rates.c support/band.c)
bloomery_statistics(test_window_rates)

find_package(Threads REQUIRED)
bloomery_thread_test(test_window_threads)
