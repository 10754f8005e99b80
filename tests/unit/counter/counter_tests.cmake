# Tests of the counters: names, interface, log and snapshots, crashes. Kills: cli/count_kill.py.

bloomery_fuzzer(fuzz_counter)
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_counter_names)
bloomery_unit_test(test_counter)
bloomery_unit_test(test_counter_dir)
bloomery_unit_test(test_counter_crash)
add_test(NAME counter_crash_soak COMMAND test_counter_crash all)
set_tests_properties(counter_crash_soak PROPERTIES LABELS soak TIMEOUT 3600)
bloomery_unit_test(test_counter_memory)
bloomery_unit_test(test_counter_save)

# Retries of 6 %, with a window and without.
bloomery_program(counter_retries stat/counter_retries.c)
add_test(NAME counter_retries COMMAND counter_retries 200000)
add_test(NAME counter_retries_million COMMAND counter_retries 1000000)
set_tests_properties(counter_retries_million PROPERTIES LABELS soak TIMEOUT 3600)

# Object compared with twin, in this many operations.
bloomery_model_program(counter)
bloomery_programs(model_counter counter_programs 2000000 300)
bloomery_programs(model_counter_long counter_programs 200000 4000 1000000)
add_test(NAME model_counter_soak COMMAND counter_programs 20000000 1000 2000000)
set_tests_properties(model_counter_soak PROPERTIES LABELS soak TIMEOUT 3600)

# Exits with 1 if a report was lost or counted twice.
if(TARGET count_once)
  add_test(NAME example_count_once COMMAND count_once)
endif()
