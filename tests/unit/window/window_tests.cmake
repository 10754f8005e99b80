# Tests of lib/window: interface, frames, and every engine with one model.

bloomery_model_fuzzer(fuzz_window window_model SIZE_MAX)
if(BLOOMERY_FUZZ)
  return()
endif()

# Object compared with twin, in this many operations for each engine.
bloomery_model_program(window)
bloomery_programs(model_window window_programs 2000000 400)
bloomery_programs(model_window_long window_programs 1000000 8000 1000000)
add_test(NAME model_window_soak COMMAND window_programs 40000000 2000 2000000)
set_tests_properties(model_window_soak PROPERTIES LABELS soak TIMEOUT 3600)

bloomery_unit_test(test_window)
bloomery_unit_test(test_window_merge)
bloomery_unit_test(test_window_memory)
bloomery_unit_test(test_window_save)
foreach(golden compact fbf)
  add_test(NAME read_window_${golden} COMMAND ${BLOOMERY_PYTHON} -B
    ${CMAKE_CURRENT_SOURCE_DIR}/tools/read_window.py
    ${CMAKE_CURRENT_SOURCE_DIR}/golden/window_${golden}.bry)
endforeach()
bloomery_program(test_window_rates stat/test_window_rates.c)
bloomery_statistics(test_window_rates)
