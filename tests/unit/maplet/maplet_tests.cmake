# Tests of lib/maplet and of the bit kernels that it uses.

# Longer programs may take more than a few seconds.
bloomery_model_fuzzer(fuzz_maplet maplet_model 512)
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_bits)
bloomery_unit_test(test_segment)
bloomery_unit_test(test_segment_encode)
bloomery_unit_test(test_arena)
bloomery_unit_test(test_slots)
bloomery_unit_test(test_table)
bloomery_unit_test(test_table_pages)
bloomery_unit_test(test_maplet)
bloomery_unit_test(test_maplet_plan)
bloomery_unit_test(test_maplet_save)
bloomery_unit_test(test_maplet_values)
bloomery_unit_test(test_maplet_single)
bloomery_unit_test(test_table_save)

bloomery_program(test_maplet_rates stat/test_maplet_rates.c)
bloomery_statistics(test_maplet_rates)

# Object compared with twin, in this many operations.
bloomery_model_program(maplet)
bloomery_programs(model_maplet maplet_programs 6000000 400)
bloomery_programs(model_maplet_long maplet_programs 600000 8000 1000000)
add_test(NAME model_maplet_soak COMMAND maplet_programs 10000000 2000 2000000)
set_tests_properties(model_maplet_soak PROPERTIES LABELS soak TIMEOUT 3600)

# These test memory, so not under a sanitizer.
if(NOT BLOOMERY_SANITIZE)
  bloomery_program(test_maplet_memory_large soak/test_maplet_memory_large.c)
  add_test(NAME test_maplet_memory_large COMMAND test_maplet_memory_large)
  set_tests_properties(test_maplet_memory_large PROPERTIES LABELS soak TIMEOUT 600)
  find_library(BLOOMERY_JEMALLOC libjemalloc.so.2)
  if(BLOOMERY_JEMALLOC)
    add_test(NAME test_maplet_memory_jemalloc COMMAND test_maplet_memory_large)
    set_tests_properties(test_maplet_memory_jemalloc PROPERTIES LABELS soak TIMEOUT 600
      ENVIRONMENT "LD_PRELOAD=${BLOOMERY_JEMALLOC}")
  endif()
  bloomery_program(test_maplet_large soak/test_maplet_large.c)
  add_test(NAME test_maplet_large COMMAND test_maplet_large)
  set_tests_properties(test_maplet_large PROPERTIES LABELS soak TIMEOUT 3600)
endif()
