# Hardening without measurable cost. Not for sanitizers, which check more.
if(NOT BLOOMERY_SANITIZE AND NOT BLOOMERY_FUZZ)
  include(CheckPIESupported)
  check_pie_supported()
  add_compile_options(-fstack-protector-strong)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_compile_options(-fstack-clash-protection -fcf-protection)
  endif()
  add_link_options(-Wl,-z,relro,-z,now)
  # The fortified functions need an optimising build.
  add_compile_options("$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()
