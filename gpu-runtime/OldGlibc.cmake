# tilewright_old_glibc(TARGET): what is built here runs with glibc 2.28, too; see
# core/old_glibc.cpp. libdl and libpthread are needed by name, where an old glibc
# has what newer ones have in libc.
option(TILEWRIGHT_OLD_GLIBC
  "What is built with a newer glibc runs with glibc 2.28, too" ON)
find_library(TILEWRIGHT_LIBDL NAMES libdl.so.2)
find_library(TILEWRIGHT_LIBPTHREAD NAMES libpthread.so.0)
mark_as_advanced(TILEWRIGHT_LIBDL TILEWRIGHT_LIBPTHREAD)
set(tilewright_old_glibc_source ${CMAKE_CURRENT_LIST_DIR}/core/old_glibc.cpp)

function(tilewright_old_glibc target)
  # Sanitizers have functions of these names themselves.
  if(NOT TILEWRIGHT_OLD_GLIBC OR NOT TILEWRIGHT_LIBDL OR
     NOT TILEWRIGHT_LIBPTHREAD OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    return()
  endif()
  target_sources(${target} PRIVATE ${tilewright_old_glibc_source})
  target_link_libraries(${target} PRIVATE
    -Wl,--push-state,--no-as-needed ${TILEWRIGHT_LIBDL}
    ${TILEWRIGHT_LIBPTHREAD} -Wl,--pop-state)
endfunction()
