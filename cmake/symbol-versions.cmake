# Symbol versions: a program that calls a function which the installed library does not have yet is
# refused when it starts, with the release that it needs, instead of failing at the call.
function(bloomery_symbol_versions target map)
  if(UNIX AND NOT APPLE)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
  endif()
endfunction()
