# Frames, files, logs: unit tests, crash states, golden files, the readers' fuzz programs.
set(recording support/recording_io.c support/crash_states.c)

bloomery_unit_test(test_frame)
bloomery_unit_test(test_file ${recording})
bloomery_unit_test(test_log ${recording} support/failing_allocator.c)
bloomery_unit_test(test_crash ${recording})
