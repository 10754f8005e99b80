# Objects of every job and engine, from options over their whole range: what is saved loads.
set(kept model/model.c model/keep/kept.c model/keep/kept_filter.c model/keep/kept_map.c model/keep/kept_window.c
  model/keep/kept_counter.c model/keep/kept_index.c support/failing_allocator.c support/recording_io.c)

set(forged model/keep/forged.c model/keep/forge.c ${kept})

bloomery_fuzzer(fuzz_forged ${forged})
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_program(keep_programs model/keep/keep_programs.c model/keep/keep_model.c ${kept})
bloomery_programs(model_keep keep_programs 300 200)
add_test(NAME model_keep_soak COMMAND keep_programs 100000 200 1000000)
set_tests_properties(model_keep_soak PROPERTIES LABELS soak TIMEOUT 7200)

# The same from streams whose contents were changed and whose checksums are right.
bloomery_program(forged_programs model/keep/forged_programs.c ${forged})
bloomery_programs(model_forged forged_programs 1000 1)
add_test(NAME model_forged_soak COMMAND forged_programs 1000000 1000000)
set_tests_properties(model_forged_soak PROPERTIES LABELS soak TIMEOUT 7200)
