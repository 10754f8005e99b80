# Tests of clients/c that need no server.
if(BLOOMERY_FUZZ OR NOT BLOOMERY_CLUSTER)
  return()
endif()

foreach(name test_cluster_counters test_cluster_parts test_cluster_payload test_cluster_structs)
  bloomery_unit_test(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE bloomery_cluster)
endforeach()
