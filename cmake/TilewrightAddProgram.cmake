# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tilewright_add_program(NAME SOURCE FILE.mlir
#                        [TARGETS TARGET...]    as --target takes them
#                        [OPTIONS OPTION...]    further options of the compiler
#                        [RUNTIME LIBRARY])     default Tilewright::runtime
#
# A library NAME that holds the compiled program. Who links it includes NAME.h,
# calls NAME_load() and the functions of the program, and gets the runtime.
#
#   tilewright_add_program(mlp SOURCE mlp.mlir TARGETS cuda:sm_80 vulkan cpu)
#   target_link_libraries(app PRIVATE mlp)
function(tilewright_add_program name)
  cmake_parse_arguments(ARG "" "SOURCE;RUNTIME" "TARGETS;OPTIONS" ${ARGN})
  if(NOT ARG_SOURCE OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "tilewright_add_program(${name}) takes SOURCE, TARGETS, OPTIONS, RUNTIME")
  endif()
  if(NOT ARG_RUNTIME)
    set(ARG_RUNTIME Tilewright::runtime)
  endif()
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.tilewright)
  file(MAKE_DIRECTORY ${folder})
  set(target "")
  set(one "")
  if(ARG_TARGETS)
    string(REPLACE ";" "," target "--target=${ARG_TARGETS}")
    list(GET ARG_TARGETS 0 one)
    set(one --target=${one}) # the header is the same for all
  endif()
  add_custom_command(
    OUTPUT ${folder}/${name}.o ${folder}/${name}.h
    COMMAND Tilewright::compiler ${source} ${target} ${ARG_OPTIONS}
            --name=${name} --emit=object -o ${folder}/${name}.o
    COMMAND Tilewright::compiler ${source} ${one} ${ARG_OPTIONS}
            --name=${name} --emit=header -o ${folder}/${name}.h
    DEPENDS ${source} Tilewright::compiler VERBATIM
    COMMENT "Compiling ${ARG_SOURCE} with Tilewright")
  set_source_files_properties(${folder}/${name}.o PROPERTIES
    EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${name} STATIC ${folder}/${name}.o ${folder}/${name}.h)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} INTERFACE ${folder})
  target_link_libraries(${name} INTERFACE ${ARG_RUNTIME})
endfunction()
