# What must hold for objects of every job: one test for each job (conformance/object_kind.h).
if(BLOOMERY_FUZZ)
  return()
endif()

add_library(conformance_objects STATIC conformance/object_kind.c conformance/filter_objects.c conformance/map_objects.c
  conformance/window_objects.c conformance/counter_objects.c conformance/index_objects.c)
target_link_libraries(conformance_objects PUBLIC test_support)

add_library(conformance_checks STATIC conformance/save_checks.c conformance/damage_checks.c conformance/memory_checks.c)
target_link_libraries(conformance_checks PUBLIC conformance_objects)

bloomery_program(test_conformance conformance/test_conformance.c)
target_link_libraries(test_conformance PRIVATE conformance_checks)
add_dependencies(unit_tests test_conformance)
foreach(job filter map window counter index)
  add_test(NAME conformance_${job} COMMAND test_conformance ${job})
  set_property(TEST conformance_${job} APPEND PROPERTY LABELS unit)
endforeach()

bloomery_program(test_conformance_threads conformance/test_conformance_threads.c)
target_link_libraries(test_conformance_threads PRIVATE conformance_objects Threads::Threads)
add_test(NAME test_conformance_threads COMMAND test_conformance_threads)
set_property(TEST test_conformance_threads APPEND PROPERTY LABELS unit quick thread)
add_dependencies(unit_tests test_conformance_threads)
add_dependencies(quick_tests test_conformance_threads)
add_dependencies(thread_tests test_conformance_threads)
