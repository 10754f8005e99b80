# Tests on real servers: the installed Redis, and those of Debian's other suites, which scripts/servers
# brings into the build directory. The tests of a server that is not there are skipped and say why.

set(other_servers "")
if(NOT BLOOMERY_SANITIZE) # their allocators and libraries do not go with the sanitizer's
  set(other_servers backports_valkey trixie_redis trixie_valkey sid_redis sid_valkey)
endif()
set(path_redis redis-server)
set(path_backports_valkey ${CMAKE_BINARY_DIR}/servers/bookworm-backports/valkey-server)
foreach(suite IN ITEMS trixie sid)
  foreach(server IN ITEMS redis valkey)
    set(path_${suite}_${server} ${CMAKE_BINARY_DIR}/servers/${suite}/${server}-server)
  endforeach()
endforeach()

# bloomery_server_test(name script [ARGUMENTS argument …] [ON server …])
#
# Adds name_redis, which runs the script with the installed server, the module, the sanitizer's
# library (or "") and these arguments; and name_SERVER for each other server, for make soak unless ON
# has it. The names are in `server_tests` afterwards.
function(bloomery_server_test name script)
  cmake_parse_arguments(PARSE_ARGV 2 given "" "" "ARGUMENTS;ON")
  set(names "")
  foreach(server redis ${other_servers})
    add_test(NAME ${name}_${server} COMMAND ${BLOOMERY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/${script}
      ${path_${server}} $<TARGET_FILE:bloomery_module> "${preload}" ${given_ARGUMENTS})
    set_tests_properties(${name}_${server} PROPERTIES SKIP_RETURN_CODE 77)
    if(NOT server IN_LIST given_ON AND NOT server STREQUAL "redis")
      set_tests_properties(${name}_${server} PROPERTIES LABELS soak TIMEOUT 1800)
    endif()
    list(APPEND names ${name}_${server})
  endforeach()
  set(server_tests ${names} PARENT_SCOPE)
endfunction()
