# Tests of lib/window: facade, frames, and every engine and mode through one model.
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_window support/failing_allocator.c)
