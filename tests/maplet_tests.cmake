# Tests of lib/maplet and of the bit kernels that it stands on.
set(maplet_model model/model.c model/maplet_model.c model/maplet_side.c model/maplet_calls.c
  model/maplet_twin.c support/failing_allocator.c)

bloomery_fuzzer(fuzz_maplet ${maplet_model})
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_bits)

# Object against twin, in so many operations.
bloomery_program(maplet_programs model/maplet_programs.c ${maplet_model})
add_test(NAME model_maplet COMMAND maplet_programs 700000 400)
add_test(NAME model_maplet_long COMMAND maplet_programs 300000 8000 1000000)
add_test(NAME model_maplet_soak COMMAND maplet_programs 10000000 2000 2000000)
set_tests_properties(model_maplet_soak PROPERTIES LABELS soak TIMEOUT 3600)
