# Objects of every job and engine, from options over their whole range: what is saved loads.

# Compiled once for the three programs.
add_library(saved_models STATIC model/save/saved_job.c model/save/saved_filter.c model/save/saved_map.c
  model/save/saved_window.c model/save/saved_counter.c model/save/saved_index.c model/save/forged.c model/save/forge.c)
target_link_libraries(saved_models PUBLIC test_models)

bloomery_fuzzer(fuzz_forged)
target_link_libraries(fuzz_forged PRIVATE saved_models)
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_program(save_programs model/save/save_programs.c model/save/save_model.c)
target_link_libraries(save_programs PRIVATE saved_models)
bloomery_programs(model_save save_programs 300 200)
add_test(NAME model_save_soak COMMAND save_programs 100000 200 1000000)
set_tests_properties(model_save_soak PROPERTIES LABELS soak TIMEOUT 7200)

# The same from streams whose contents were changed and whose checksums are right.
bloomery_program(forged_programs model/save/forged_programs.c)
target_link_libraries(forged_programs PRIVATE saved_models)
bloomery_programs(model_forged forged_programs 1000 1)
add_test(NAME model_forged_soak COMMAND forged_programs 1000000 1000000)
set_tests_properties(model_forged_soak PROPERTIES LABELS soak TIMEOUT 7200)
