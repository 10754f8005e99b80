# Tests of the engine kbf (lib/map/field, lib/map/kbf_*).
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_field support/failing_allocator.c)
bloomery_unit_test(test_kbf support/failing_allocator.c)
bloomery_unit_test(test_kbf_map support/failing_allocator.c support/repair.c)
