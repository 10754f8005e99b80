# Tests of lib/index: interface, frames, directories, and all engines with one model.

bloomery_model_fuzzer(fuzz_index index_model SIZE_MAX)
if(BLOOMERY_FUZZ)
  return()
endif()

# Object compared with twin, in this many operations.
bloomery_model_program(index)
bloomery_programs(model_index index_programs 400000 400)
bloomery_programs(model_index_long index_programs 200000 8000 1000000)
add_test(NAME model_index_soak COMMAND index_programs 10000000 2000 2000000)
set_tests_properties(model_index_soak PROPERTIES LABELS soak TIMEOUT 3600)

bloomery_unit_test(test_index)
bloomery_unit_test(test_index_memory)
bloomery_unit_test(test_index_save)
bloomery_unit_test(test_index_same)
bloomery_unit_test(test_index_dir)
bloomery_program(test_index_rates stat/test_index_rates.c)
bloomery_statistics(test_index_rates)
