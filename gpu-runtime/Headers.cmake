# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Headers of other projects that the machine has to have; nothing of them is linked. Debian's packages are
# nlohmann-json3-dev, libcli11-dev and libvulkan-dev. Elsewhere: a folder that holds nlohmann/, CLI/ and vulkan/,
#   cmake -S gpu-runtime -B build -DCMAKE_INCLUDE_PATH=FOLDER
# They are found as folders and not as packages so that the exported archives refer to no target of others.
find_path(TILEWRIGHT_JSON_INCLUDE nlohmann/json.hpp REQUIRED
  DOC "JSON for Modern C++, 3.11 or newer (nlohmann-json3-dev)")
find_path(TILEWRIGHT_CLI11_INCLUDE CLI/CLI.hpp REQUIRED
  DOC "CLI11, 2.1 or newer (libcli11-dev)")
find_path(TILEWRIGHT_VULKAN_INCLUDE vulkan/vulkan_core.h REQUIRED
  DOC "Vulkan headers, 1.3 or newer (libvulkan-dev)")
