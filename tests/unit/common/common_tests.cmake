# Tests of lib/common, lib/hash, lib/kernel, and of the shared test code.
if(BLOOMERY_FUZZ)
  return()
endif()

# The same program again for each instruction set; the library ignores one that the machine lacks,
# and an unknown name.
function(bloomery_isa_variants name)
  foreach(isa scalar avx2 avx512 nonsense)
    add_test(NAME ${name}_${isa} COMMAND ${name})
    set_tests_properties(${name}_${isa} PROPERTIES ENVIRONMENT BLOOMERY_ISA=${isa})
  endforeach()
endfunction()

bloomery_unit_test(test_base)
bloomery_unit_test(test_pieces)
bloomery_unit_test(test_records)
bloomery_unit_test(test_sizing)
bloomery_unit_test(test_struct_size)
bloomery_unit_test(test_old_callers)
bloomery_unit_test(test_every_job)

bloomery_unit_test(test_hash)
target_compile_definitions(test_hash PRIVATE
  HASH_VECTORS="${CMAKE_CURRENT_LIST_DIR}/hash_vectors.tsv")
add_test(NAME hash_vectors COMMAND ${BLOOMERY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/tools/hash_vectors.py
  --check ${CMAKE_CURRENT_LIST_DIR}/hash_vectors.tsv)

bloomery_unit_test(test_kernel)
bloomery_isa_variants(test_kernel)

bloomery_unit_test(test_band)
bloomery_unit_test(test_model)
target_link_libraries(test_model PRIVATE test_models)
