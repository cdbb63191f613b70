# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# TILEWRIGHT_STATIC_COMPILER: tilewright-compile as one file without shared
# libraries, which starts in a few milliseconds. It is made of the same objects;
# only the libraries differ: archives of LLVM, MLIR and lld, of which the linker
# takes what is used.
# Without the option the target tilewright-compile-static is there on demand.
option(TILEWRIGHT_STATIC_COMPILER
  "Link tilewright-compile statically too, and install that one" OFF)

# tilewright_add_static_tool(NAME OUTPUT SOURCES... LINK LIBS...)
function(tilewright_add_static_tool name output)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  # lld's archives ask for the shared LLVM, zlib and zstd: not where this is set.
  define_property(TARGET PROPERTY TILEWRIGHT_STATIC)
  foreach(library lldELF lldCommon)
    get_target_property(wanted ${library} INTERFACE_LINK_LIBRARIES)
    set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES
      "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:TILEWRIGHT_STATIC>>>:${wanted}>")
  endforeach()
  file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS}
    ${CMAKE_SOURCE_DIR}/cmake/StaticStubs.cpp)
  target_link_libraries(${name} PRIVATE ${ARG_LINK}
    -Wl,--start-group lldELF lldCommon ${archives} -Wl,--end-group
    -l:libz.a -l:libzstd.a)
  target_link_options(${name} PRIVATE -static -Wl,--gc-sections
    -Wl,--wrap=__register_frame_info,--wrap=__deregister_frame_info)
  if(NOT TILEWRIGHT_STATIC_COMPILER)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  set_target_properties(${name} PROPERTIES TILEWRIGHT_STATIC ON OUTPUT_NAME ${output}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/static)
  tilewright_reuse_headers(${name})
endfunction()
