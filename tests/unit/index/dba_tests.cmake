# Tests of the engine dba of the index (lib/index/dba/, lib/kernel/rows.h).
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_dba)
bloomery_unit_test(test_dba_midway)
bloomery_unit_test(test_dba_widths)
bloomery_unit_test(test_dba_save)
bloomery_unit_test(test_dba_loads)

bloomery_program(test_dba_rates stat/test_dba_rates.c)
bloomery_statistics(test_dba_rates 1024)
add_test(NAME test_dba_rates_soak COMMAND test_dba_rates 65536)
set_tests_properties(test_dba_rates_soak PROPERTIES LABELS soak TIMEOUT 7200)

# Without sanitizers, because it tests memory and speed.
if(NOT BLOOMERY_SANITIZE)
  bloomery_program(test_dba_paper soak/test_dba_paper.c)
  add_test(NAME test_dba_paper COMMAND test_dba_paper)
  set_tests_properties(test_dba_paper PROPERTIES LABELS soak TIMEOUT 3600)
endif()
