# Tests of lib/common, lib/hash, lib/kernel, lib/bloom and lib/filter.

bloomery_fuzzer(fuzz_filter)
if(BLOOMERY_FUZZ)
  return()
endif()

# The same program once more for each instruction set; one that the machine lacks is ignored by the
# library, and so is a name that does not exist.
function(bloomery_isa_variants name)
  foreach(isa scalar avx2 avx512 nonsense)
    add_test(NAME ${name}_${isa} COMMAND ${name})
    set_tests_properties(${name}_${isa} PROPERTIES ENVIRONMENT BLOOMERY_ISA=${isa})
  endforeach()
endfunction()

bloomery_unit_test(test_base)
bloomery_unit_test(test_pieces)
bloomery_unit_test(test_sizing)
bloomery_unit_test(test_struct_size)
bloomery_unit_test(test_old_callers)
bloomery_unit_test(test_every_job)

bloomery_unit_test(test_hash)
target_compile_definitions(test_hash PRIVATE
  HASH_VECTORS="${CMAKE_CURRENT_LIST_DIR}/unit/hash_vectors.tsv")
add_test(NAME hash_vectors COMMAND ${BLOOMERY_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/tools/hash_vectors.py
  --check ${CMAKE_CURRENT_LIST_DIR}/unit/hash_vectors.tsv)

bloomery_unit_test(test_kernel)
bloomery_isa_variants(test_kernel)

bloomery_unit_test(test_bloom)
bloomery_unit_test(test_filter)
bloomery_isa_variants(test_filter)
bloomery_unit_test(test_filter_merge)
bloomery_isa_variants(test_filter_merge)
bloomery_unit_test(test_filter_memory)
bloomery_unit_test(test_compact_filter)
add_test(NAME test_compact_filter_soak COMMAND test_compact_filter 4000)
set_tests_properties(test_compact_filter_soak PROPERTIES LABELS soak TIMEOUT 3600)

bloomery_unit_test(test_band)
bloomery_program(test_rates stat/test_rates.c)
bloomery_statistics(test_rates)


# Model tests: object against twin. The models are the fuzzers' too.
bloomery_unit_test(test_model)
target_link_libraries(test_model PRIVATE test_models)
bloomery_model_program(model_programs)
add_test(NAME model_filter COMMAND model_programs filter 2000 400)
add_test(NAME model_filter_long COMMAND model_programs filter 30 20000)
add_test(NAME model_filter_soak COMMAND model_programs filter 100000 400 1000000)
set_tests_properties(model_filter_soak PROPERTIES LABELS soak TIMEOUT 7200)
