# Tests of the engine kbf (lib/map/kbf/).
if(BLOOMERY_FUZZ)
  return()
endif()

bloomery_unit_test(test_field)
bloomery_unit_test(test_kbf)
bloomery_unit_test(test_kbf_map)
bloomery_unit_test(test_kbf_save)

bloomery_program(test_kbf_rates stat/test_kbf_rates.c)
target_link_libraries(test_kbf_rates PRIVATE bloomery_papers)
bloomery_statistics(test_kbf_rates 100000)
add_test(NAME test_kbf_rates_soak COMMAND test_kbf_rates 1000000)
set_tests_properties(test_kbf_rates_soak PROPERTIES LABELS soak TIMEOUT 3600)

# The published versions (papers/).
foreach(name test_paper_encoders test_paper_maps test_paper_plan)
  bloomery_program(${name} papers/${name}.c)
  target_link_libraries(${name} PRIVATE bloomery_papers)
  add_test(NAME ${name} COMMAND ${name})
endforeach()
add_test(NAME paper_encoders_long COMMAND test_paper_encoders 4096 29)
set_tests_properties(paper_encoders_long PROPERTIES LABELS soak TIMEOUT 3600)
