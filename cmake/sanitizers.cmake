# BLOOMERY_SANITIZE and BLOOMERY_FUZZ, for everything that is built. Reports name lines, for which
# -g1 is enough; the rest of -g takes a sixth of the time to compile.
if(BLOOMERY_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "BLOOMERY_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
  endif()
  if(BLOOMERY_SANITIZE OR BLOOMERY_TESTS)
    message(FATAL_ERROR "BLOOMERY_FUZZ brings its own sanitizers and no tests: use a folder of its own")
  endif()
  # Programs link the fuzzer itself only where tests/CMakeLists.txt makes a fuzzer of them.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(BLOOMERY_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
elseif(BLOOMERY_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -g1)
  add_link_options(-fsanitize=thread)
elseif(BLOOMERY_SANITIZE)
  message(FATAL_ERROR "BLOOMERY_SANITIZE is address, thread or empty")
endif()
