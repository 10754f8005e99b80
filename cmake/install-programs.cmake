# Installs the programs, the server module, and their documentation.
set(programs bloomery bloomery-bench)
foreach(name dedup flows)
  if(TARGET bloomery-${name})
    list(APPEND programs bloomery-${name})
  endif()
endforeach()
install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The module for loadmodule in the configuration of a Redis or Valkey server. Servers refuse modules
# without execute permission, which CMake does not set by default on Debian.
install(TARGETS bloomery_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/bloomery
  PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# systemd searches lib/, even if libraries are elsewhere.
configure_file(service/bloomery.service.in bloomery.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bloomery.service DESTINATION lib/systemd/system)

if(TARGET completions)
  set(completions ${PROJECT_BINARY_DIR}/completions)
  foreach(program bloomery bloomery-bench)
    install(FILES ${completions}/${program}.bash
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program})
    install(FILES ${completions}/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${completions}/${program}.fish
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endforeach()
endif()

# The pages keep their directories, so that the links between them work.
install(DIRECTORY doc/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY doc DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS
  PATTERN CMakeLists.txt EXCLUDE)
install(FILES service/bloomery.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
