# Balancing, without servers.
if(BLOOMERY_PROGRAMS)
  bloomery_unit_test(test_slab_balance)
  target_include_directories(test_slab_balance PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(test_slab_balance PRIVATE bloomery_balance)
endif()
