# BLOOMERY_SANITIZE and BLOOMERY_FUZZ, for everything that is built. -g1 is enough for line numbers
# in reports; full -g would take a sixth more time to compile.
if(BLOOMERY_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "BLOOMERY_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
  endif()
  if(BLOOMERY_SANITIZE OR BLOOMERY_TESTS)
    message(FATAL_ERROR "BLOOMERY_FUZZ brings its own sanitizers and no tests: use a directory of its own")
  endif()
  # Only the fuzzers of tests/CMakeLists.txt link libFuzzer itself.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(BLOOMERY_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  # Tests start programs thousands of times. At a fixed address they have 100,000 relocations fewer to
  # apply, most of them in the tables of the undefined-behaviour sanitizer.
  add_link_options(-fsanitize=address,undefined $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
elseif(BLOOMERY_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -g1)
  add_link_options(-fsanitize=thread)
elseif(BLOOMERY_SANITIZE)
  message(FATAL_ERROR "BLOOMERY_SANITIZE is address, thread or empty")
endif()
