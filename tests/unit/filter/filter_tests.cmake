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
bloomery_model_program(filter)
bloomery_programs(model_filter filter_programs 130000 400)
bloomery_programs(model_filter_long filter_programs 100000 20000)
add_test(NAME model_filter_soak COMMAND filter_programs 6500000 400 1000000)
set_tests_properties(model_filter_soak PROPERTIES LABELS soak TIMEOUT 7200)
