# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Files beside its source that a program is made of: parameters and what is tuned. A
# source that is not there yet says nothing of its parameters.
function(_tilewright_program_files result source)
  set(files "")
  set(named FALSE)
  foreach(option ${ARGN})
    if(option MATCHES "^--(parameters|tuning)=(.+)$")
      if(CMAKE_MATCH_1 STREQUAL parameters)
        set(named TRUE)
      endif()
      get_filename_component(file ${CMAKE_MATCH_2} ABSOLUTE)
      list(APPEND files ${file})
    endif()
  endforeach()
  if(NOT named AND EXISTS ${source})
    # The program names the file, which another version of it may do otherwise.
    file(STRINGS ${source} line REGEX "tilewright.parameters = \"")
    if(line MATCHES "tilewright.parameters = \"([^\"/]+)\"")
      get_filename_component(folder ${source} DIRECTORY)
      list(APPEND files ${folder}/${CMAKE_MATCH_1})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    endif()
  endif()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# What makes the library of an object: C does, where the project has no C++, which
# the runtime as an archive needs to be linked.
function(_tilewright_program_language result name runtime)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  list(FIND languages CXX at)
  if(at GREATER -1)
    set(${result} CXX PARENT_SCOPE)
    return()
  endif()
  set(type "")
  if(TARGET ${runtime})
    get_target_property(type ${runtime} TYPE)
  endif()
  if(type STREQUAL STATIC_LIBRARY)
    message(FATAL_ERROR
      "tilewright_add_program(${name}): ${runtime} is an archive, whose users are "
      "linked as C++: enable CXX (project(... LANGUAGES C CXX)), or take RUNTIME "
      "Tilewright::runtime")
  endif()
  set(${result} C PARENT_SCOPE)
endfunction()

# tilewright_add_program(NAME SOURCE FILE.mlir
#                        [TARGETS TARGET...]    as --target takes them
#                        [OPTIONS OPTION...]    further options of the compiler; names
#                                               of files are from the source folder
#                        [RUNTIME LIBRARY])     default Tilewright::runtime
#
# A library NAME that holds the compiled program. Who links it includes NAME.h,
# calls NAME_load() and the functions of the program, and gets the runtime.
#
# It is compiled again where the source changes, or its parameter file, or a file of
# --tuning.
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
  _tilewright_program_language(language ${name} ${ARG_RUNTIME})
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
  _tilewright_program_files(files ${source} ${ARG_OPTIONS})
  add_custom_command(
    OUTPUT ${folder}/${name}.o ${folder}/${name}.h
    COMMAND Tilewright::compiler ${source} ${target} ${ARG_OPTIONS}
            --name=${name} --emit=object -o ${folder}/${name}.o
    COMMAND Tilewright::compiler ${source} ${one} ${ARG_OPTIONS}
            --name=${name} --emit=header -o ${folder}/${name}.h
    DEPENDS ${source} ${files} Tilewright::compiler VERBATIM
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Compiling ${ARG_SOURCE} with Tilewright")
  set_source_files_properties(${folder}/${name}.o PROPERTIES
    EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${name} STATIC ${folder}/${name}.o ${folder}/${name}.h)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE ${language})
  target_include_directories(${name} INTERFACE ${folder})
  target_link_libraries(${name} INTERFACE ${ARG_RUNTIME})
endfunction()
