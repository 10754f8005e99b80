# Frames, files, logs: unit tests, crash states, golden files, the readers' fuzz programs.
set(recording support/recording_io.c support/crash_states.c)

bloomery_unit_test(test_frame)
bloomery_unit_test(test_file ${recording})
bloomery_unit_test(test_log ${recording} support/failing_allocator.c)
bloomery_unit_test(test_crash ${recording})

add_executable(golden_write golden/golden_write.c support/repair.c ${recording})
target_include_directories(golden_write PRIVATE ${PROJECT_SOURCE_DIR}/lib ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(golden_write PRIVATE bloomery_static PkgConfig::XXHASH m)
bloomery_unit_test(test_golden ${recording})
target_compile_definitions(test_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/golden")
add_test(NAME read_frames COMMAND ${BLOOMERY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tools/check_read_frames.py
  ${CMAKE_CURRENT_SOURCE_DIR}/tools/read_frames.py ${CMAKE_CURRENT_SOURCE_DIR}/golden)

bloomery_fuzzer(fuzz_frame support/repair.c)
bloomery_fuzzer(fuzz_log support/repair.c support/recording_io.c)
add_test(NAME read_maplet COMMAND ${BLOOMERY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/tools/read_maplet.py
  ${CMAKE_CURRENT_SOURCE_DIR}/golden/maplet.bry 300 12)
