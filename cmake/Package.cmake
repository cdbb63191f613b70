# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cpack -G DEB: libtilewright0.1, libtilewright-dev, tilewright. What they depend
# on is found out by dpkg-shlibdeps.
set(CPACK_PACKAGE_NAME tilewright)
set(CPACK_PACKAGE_VENDOR Tilewright)
set(CPACK_PACKAGE_CONTACT "The Tilewright authors <tilewright@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "compiler of linalg programs to CUDA, Vulkan and CPU kernels")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime dev tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libtilewright0.1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtilewright-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libtilewright0.1 (= ${PROJECT_VERSION}), tilewright (= ${PROJECT_VERSION})")
# examples/raw read JSON.
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS nlohmann-json3-dev)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME tilewright)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS
  "libtilewright0.1 (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
  "Runtime library of Tilewright: loads artifacts and runs them.")
set(CPACK_COMPONENT_DEV_DESCRIPTION
  "Headers, archives, CMake package, tilewright-opt, tilewright-reduce, documentation, examples.")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
  "The programs tilewright-compile, tilewright-run and tilewright-inspect.")
include(CPack)
