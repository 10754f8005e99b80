# Objects of every job and engine, from options over their whole range: what is saved loads.
set(saved model/model.c model/save/saved_job.c model/save/saved_filter.c model/save/saved_map.c model/save/saved_window.c
  model/save/saved_counter.c model/save/saved_index.c support/failing_allocator.c support/recording_io.c)

set(forged model/save/forged.c model/save/forge.c ${saved})

bloomery_fuzzer(fuzz_forged ${forged})
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_program(save_programs model/save/save_programs.c model/save/save_model.c ${saved})
bloomery_programs(model_save save_programs 300 200)
add_test(NAME model_save_soak COMMAND save_programs 100000 200 1000000)
set_tests_properties(model_save_soak PROPERTIES LABELS soak TIMEOUT 7200)

# The same from streams whose contents were changed and whose checksums are right.
bloomery_program(forged_programs model/save/forged_programs.c ${forged})
bloomery_programs(model_forged forged_programs 1000 1)
add_test(NAME model_forged_soak COMMAND forged_programs 1000000 1000000)
set_tests_properties(model_forged_soak PROPERTIES LABELS soak TIMEOUT 7200)
