# Frames, files, logs: unit tests, crash states, golden files, the readers' fuzz programs.
bloomery_unit_test(test_frame)
bloomery_unit_test(test_note)
bloomery_unit_test(test_file)
bloomery_unit_test(test_log)
bloomery_unit_test(test_crash)

bloomery_program(golden_write golden/golden_write.c)
bloomery_unit_test(test_golden)
target_compile_definitions(test_golden PRIVATE GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden")
add_test(NAME read_frames COMMAND ${BLOOMERY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tools/check_read_frames.py
  ${CMAKE_CURRENT_SOURCE_DIR}/tools/read_frames.py ${CMAKE_CURRENT_SOURCE_DIR}/golden)

bloomery_fuzzer(fuzz_frame)
bloomery_fuzzer(fuzz_log)
add_test(NAME read_maplet COMMAND ${BLOOMERY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/tools/read_maplet.py
  ${CMAKE_CURRENT_SOURCE_DIR}/golden/maplet.bry 300 12)
