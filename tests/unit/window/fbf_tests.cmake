# Tests of the engine fbf (lib/window/fbf/) and of what it is compared with.
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_fbf)
bloomery_unit_test(test_fbf_memory)

bloomery_program(test_fbf_rates stat/test_fbf_rates.c)
bloomery_statistics(test_fbf_rates)

# The published row (papers/), and what windows are compared with.
foreach(name test_literal_fbf test_paper_fbf test_paper_fbf_rates)
  bloomery_program(${name} papers/${name}.c)
  target_link_libraries(${name} PRIVATE bloomery_papers)
endforeach()
add_test(NAME test_literal_fbf COMMAND test_literal_fbf)
add_test(NAME test_paper_fbf COMMAND test_paper_fbf)
add_test(NAME test_paper_fbf_soak COMMAND test_paper_fbf 10000000)
set_tests_properties(test_paper_fbf_soak PROPERTIES LABELS soak TIMEOUT 3600)
bloomery_statistics(test_paper_fbf_rates)

bloomery_program(test_window_baselines papers/test_window_baselines.c)
target_link_libraries(test_window_baselines PRIVATE bloomery_bench_parts)
add_test(NAME test_window_baselines COMMAND test_window_baselines)
