# What `make install` installs, and how other projects find it: pkg-config and find_package().
include(CMakePackageConfigHelpers)

# Only complete jobs: a header is listed here when all its functions exist.
set(BLOOMERY_HEADERS base.h hash.h filter.h map.h window.h counters.h index.h job.h)
list(TRANSFORM BLOOMERY_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/bloomery/)
install(FILES ${BLOOMERY_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bloomery)
install(FILES ${PROJECT_SOURCE_DIR}/include/bloomery.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(BLOOMERY_PROGRAMS)
  include(cmake/install-programs.cmake)
endif()

# Two export sets: users of the shared library need not have libxxhash's development files.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bloomery)
foreach(kind shared static)
  install(TARGETS bloomery_${kind} EXPORT bloomery_${kind}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT bloomery_${kind} NAMESPACE bloomery:: FILE bloomery-${kind}.cmake
    DESTINATION ${package_dir})
endforeach()

# From 0.1 on the interface only grows. In the build tree the files are in a directory
# where find_package() does not look (it also searches beside the programs in PATH).
set(package ${PROJECT_BINARY_DIR}/package)
configure_package_config_file(cmake/bloomery-config.cmake.in ${package}/bloomery-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${package}/bloomery-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${package}/bloomery-config.cmake ${package}/bloomery-config-version.cmake
  DESTINATION ${package_dir})

# The prefix in bloomery.pc is relative to the file, so that an installed tree may be moved.
cmake_path(APPEND pc_dir ${CMAKE_INSTALL_FULL_LIBDIR} pkgconfig)
file(RELATIVE_PATH pc_to_prefix ${pc_dir} ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/bloomery.pc.in bloomery.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/bloomery.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(BLOOMERY_CLUSTER)
  install(FILES ${PROJECT_SOURCE_DIR}/clients/c/bloomery_cluster.h
    ${PROJECT_SOURCE_DIR}/clients/c/bloomery_cluster_counters.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS bloomery_cluster bloomery_cluster_shared
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  configure_file(cmake/bloomery-cluster.pc.in bloomery-cluster.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/bloomery-cluster.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES clients/c/README.md clients/c/map_example.c clients/c/counter_example.c
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/clients/c)
endif()

# The dynamic linker must be told about the shared library. With DESTDIR, that is the task of
# whoever installs the files from there.
install(CODE "set(libdir \"${CMAKE_INSTALL_LIBDIR}\")")
install(SCRIPT cmake/ldconfig.cmake)
