// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which back ends this build has. Each folder beside this file that has a
// CMakeLists.txt defines `create<Folder>Backend`, and is named here by CMake.

#include "tilewright/Target/Target.h"

using namespace tilewright;

#include "Backends.inc"

TargetRegistry tilewright::createTargetRegistry() {
  TargetRegistry registry;
  addBackends(registry);
  return registry;
}
