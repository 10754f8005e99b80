# Tests of the engine fbf (lib/window/fbf_*) and of what it is compared with.
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_fbf support/failing_allocator.c)
bloomery_unit_test(test_fbf_memory support/failing_allocator.c support/repair.c)
# Forgotten early: nothing, in so many operations a mode.
add_test(NAME test_fbf_soak COMMAND test_fbf 5000000)
set_tests_properties(test_fbf_soak PROPERTIES LABELS soak TIMEOUT 3600)
