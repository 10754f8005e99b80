# completions/ in the build directory: what shells complete, from the help of the programs. They must
# run on this machine.
if(CMAKE_CROSSCOMPILING)
  return()
elseif(NOT BLOOMERY_PYTHON)
  message(WARNING "There is no python3, so completions for shells are not built")
  return()
endif()

set(programs bloomery bloomery-bench)
set(completions "")
foreach(program ${programs})
  list(APPEND completions completions/${program}.bash completions/_${program} completions/${program}.fish)
endforeach()
set(started "")
foreach(app dedup flows)
  if(TARGET bloomery-${app})
    list(APPEND started bloomery-${app})
  endif()
endforeach()
add_custom_command(OUTPUT ${completions}
  COMMAND ${BLOOMERY_PYTHON} -B ${PROJECT_SOURCE_DIR}/scripts/completions
    "$<TARGET_FILE:bloomery>" "$<TARGET_FILE:bloomery-bench>" completions
  DEPENDS ${programs} ${started} ${PROJECT_SOURCE_DIR}/scripts/completions
  COMMENT "Generating completions" VERBATIM)
add_custom_target(completions ALL DEPENDS ${completions})
