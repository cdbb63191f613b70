# MLIR, the precompiled header, and the functions with which every folder of lib/
# declares itself.

find_program(LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
execute_process(COMMAND ${LLVM_CONFIG} --cmakedir OUTPUT_VARIABLE llvm_cmake_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(cmake_root ${llvm_cmake_dir} DIRECTORY)
set(LLVM_DIR ${llvm_cmake_dir} CACHE PATH "LLVM's CMake package")
set(MLIR_DIR ${cmake_root}/mlir CACHE PATH "MLIR's CMake package")
set(LLD_DIR ${cmake_root}/lld CACHE PATH "lld's CMake package")
find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(LLD REQUIRED CONFIG)
set(MLIR_LINK_MLIR_DYLIB ON)

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(tilewright_llvm_definitions NATIVE_COMMAND
                   "${LLVM_DEFINITIONS}")

# Every compiler library is built alike, so that they can share one
# precompiled header: MLIR's headers are most of the build time.
add_library(TilewrightOptions INTERFACE)
target_include_directories(TilewrightOptions INTERFACE
  ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
target_include_directories(TilewrightOptions SYSTEM INTERFACE
  ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(TilewrightOptions INTERFACE
  ${tilewright_llvm_definitions})
target_compile_options(TilewrightOptions INTERFACE
  -Wall -Wextra -Wno-unused-parameter)

add_library(TilewrightPCH STATIC ${CMAKE_SOURCE_DIR}/cmake/Precompiled.cpp)
target_link_libraries(TilewrightPCH PUBLIC TilewrightOptions)
target_precompile_headers(TilewrightPCH PRIVATE
  ${CMAKE_SOURCE_DIR}/cmake/Precompiled.h)
add_dependencies(TilewrightPCH TilewrightDialectIncGen)

# tilewright_add_library(NAME SOURCES... [LINK LIBS...] [DEPENDS TARGETS...])
function(tilewright_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC TilewrightOptions ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM TilewrightPCH)
  add_dependencies(${name} TilewrightDialectIncGen ${ARG_DEPENDS})
endfunction()

# tilewright_know_tensor_maps(SOURCES...): sources of the calling folder that ask what tensor maps
# can describe, which the compiler shares with the runtime (core/tensor_map_limits.h).
function(tilewright_know_tensor_maps)
  set_source_files_properties(${ARGN} PROPERTIES
    INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/gpu-runtime")
endfunction()

# tilewright_reuse_headers(NAME): a program that reads the precompiled header, which is built with -fPIC, not -fPIE.
function(tilewright_reuse_headers name)
  target_link_libraries(${name} PRIVATE TilewrightOptions)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM TilewrightPCH)
  add_dependencies(${name} TilewrightDialectIncGen)
endfunction()

# tilewright_add_tool(NAME SOURCES... [LINK LIBS...]): a program in build/bin.
function(tilewright_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  tilewright_reuse_headers(${name})
endfunction()

# tilewright_add_unit_tests(NAME SOURCES... [LINK LIBS...]): GoogleTests of the compiler, a test of ctest.
function(tilewright_add_unit_tests name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM GTest::gtest_main)
  tilewright_reuse_headers(${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

find_program(MLIR_TBLGEN NAMES mlir-tblgen-22 REQUIRED)

# tilewright_tablegen(TD OUTPUT FLAGS...): OUTPUT (absolute) from TD (absolute).
function(tilewright_tablegen td output)
  get_filename_component(out_dir ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${out_dir})
  add_custom_command(OUTPUT ${output}
    COMMAND ${MLIR_TBLGEN} ${ARGN} -I ${CMAKE_SOURCE_DIR}/include
            -I ${LLVM_INCLUDE_DIRS} --write-if-changed
            -d ${output}.d -o ${output} ${td}
    DEPENDS ${td} DEPFILE ${output}.d VERBATIM
    COMMENT "Generating ${output}")
endfunction()

# tilewright_add_passes(ROOM): turns include/tilewright/ROOM/Passes.td into
# tilewright/ROOM/Passes.h.inc; the target is Tilewright<ROOM>PassIncGen (any
# slash of ROOM removed).
function(tilewright_add_passes folder)
  string(REPLACE "/" "" flat ${folder})
  set(out ${CMAKE_BINARY_DIR}/include/tilewright/${folder}/Passes.h.inc)
  tilewright_tablegen(${CMAKE_SOURCE_DIR}/include/tilewright/${folder}/Passes.td
                      ${out} -gen-pass-decls -name Tilewright${flat})
  add_custom_target(Tilewright${flat}PassIncGen DEPENDS ${out})
endfunction()
