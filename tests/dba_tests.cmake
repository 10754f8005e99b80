# Tests of the engine dba of the index (lib/index/dba_*, lib/kernel/rows.h).
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_dba_programs)
