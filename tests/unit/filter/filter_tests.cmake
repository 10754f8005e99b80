# Tests of lib/bloom and lib/filter.

bloomery_model_fuzzer(fuzz_filter filter_model SIZE_MAX)
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_bloom)
bloomery_unit_test(test_filter)
bloomery_isa_variants(test_filter)
bloomery_unit_test(test_filter_memory)
bloomery_unit_test(test_compact_filter)

bloomery_program(test_rates stat/test_rates.c)
bloomery_statistics(test_rates)

# Model tests: object compared with twin. The fuzzers use the same models.
bloomery_model_program(model_programs .)
add_test(NAME model_filter COMMAND model_programs filter 2000 400)
add_test(NAME model_filter_long COMMAND model_programs filter 30 20000)
add_test(NAME model_filter_soak COMMAND model_programs filter 100000 400 1000000)
set_tests_properties(model_filter_soak PROPERTIES LABELS soak TIMEOUT 7200)
