# What must hold for objects of every job: one test for each job (kept/kept_object.h).
if(BLOOMERY_FUZZ)
  return()
endif()

add_library(kept_kinds STATIC kept/kept_object.c kept/kept_filters.c kept/kept_maps.c
  kept/kept_windows.c kept/kept_counters.c kept/kept_indexes.c)
target_link_libraries(kept_kinds PUBLIC test_support)

bloomery_program(test_kept kept/test_kept.c kept/kept_save_checks.c kept/kept_forged_checks.c
  kept/kept_memory_checks.c)
target_link_libraries(test_kept PRIVATE kept_kinds)
add_dependencies(unit_tests test_kept)
foreach(job filter map window counter index)
  add_test(NAME kept_${job} COMMAND test_kept ${job})
  set_property(TEST kept_${job} APPEND PROPERTY LABELS unit)
endforeach()

bloomery_program(test_kept_threads kept/test_kept_threads.c)
target_link_libraries(test_kept_threads PRIVATE kept_kinds Threads::Threads)
add_test(NAME test_kept_threads COMMAND test_kept_threads)
set_property(TEST test_kept_threads APPEND PROPERTY LABELS unit quick thread)
add_dependencies(unit_tests test_kept_threads)
add_dependencies(quick_tests test_kept_threads)
add_dependencies(thread_tests test_kept_threads)
