# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What `cmake --install build` copies, in three components that are the Debian
# packages too: `runtime` (the library, and the simulator that it opens), `dev`
# (headers, archives, the CMake package), `tools`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET tilewright)
  set_target_properties(tilewright PROPERTIES EXPORT_NAME runtime)
  set_target_properties(TilewrightRuntime PROPERTIES EXPORT_NAME runtime-static)
  install(TARGETS tilewright EXPORT TilewrightTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
            NAMELINK_COMPONENT dev)
  install(TARGETS TilewrightRuntime TilewrightRuntimeHeaders TilewrightDriverCpu
                  TilewrightDriverCuda TilewrightDriverVulkan
    EXPORT TilewrightTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
  install(TARGETS ptxsim-cuda
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tilewright/ptxsim
    COMPONENT runtime)
  # Its SONAME, for programs that were linked with it.
  install(FILES ${CMAKE_BINARY_DIR}/lib/ptxsim/libtilewright_ptxsim.so.1
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/tilewright/ptxsim COMPONENT runtime)
  install(DIRECTORY gpu-runtime/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT dev)

  set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
  install(EXPORT TilewrightTargets NAMESPACE Tilewright::
    DESTINATION ${config_dir} COMPONENT dev)
  configure_package_config_file(cmake/TilewrightConfig.cmake.in
    ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake INSTALL_DESTINATION ${config_dir}
    PATH_VARS CMAKE_INSTALL_BINDIR)
  write_basic_package_version_file(
    ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake
    ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
    cmake/TilewrightAddProgram.cmake
    DESTINATION ${config_dir} COMPONENT dev)
  install(TARGETS tilewright-run tilewright-inspect COMPONENT tools)
endif()

# Programs with a shared LLVM find it where this machine has it.
if(TILEWRIGHT_STATIC_COMPILER)
  install(TARGETS tilewright-compile-static COMPONENT tools)
else()
  set_target_properties(tilewright-compile PROPERTIES
    INSTALL_RPATH ${LLVM_LIBRARY_DIR})
  install(TARGETS tilewright-compile COMPONENT tools)
endif()
set_target_properties(tilewright-opt tilewright-reduce PROPERTIES
  INSTALL_RPATH ${LLVM_LIBRARY_DIR})
install(TARGETS tilewright-opt tilewright-reduce COMPONENT dev)

install(PROGRAMS tools/tilewright-sweep/tilewright-sweep
  DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
install(DIRECTORY python/src/tilewright_sweep
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright/python COMPONENT tools
  PATTERN __pycache__ EXCLUDE)

set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/tilewright)
install(FILES README.md DESTINATION ${doc_dir} COMPONENT dev)
# Beside every part, as its package is called.
foreach(package runtime/libtilewright0.1 dev/libtilewright-dev tools/tilewright)
  get_filename_component(component ${package} DIRECTORY)
  get_filename_component(folder ${package} NAME)
  install(FILES LICENSE NOTICE COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${folder})
endforeach()
install(DIRECTORY docs/ DESTINATION ${doc_dir}/docs COMPONENT dev
  FILES_MATCHING PATTERN "*.md" PATTERN site EXCLUDE)
install(DIRECTORY examples DESTINATION ${doc_dir} COMPONENT dev)

include(Package)
