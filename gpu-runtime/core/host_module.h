// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host program (ELF shared object) in memory, with its functions and kernels.
#ifndef TILEWRIGHT_CORE_HOST_MODULE_H
#define TILEWRIGHT_CORE_HOST_MODULE_H

#include "core/manifest.h"
#include "core/status.h"
#include "tilewright/program_abi.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tilewright::runtime {

class HostModule {
public:
  /// Verifies the ELF structure of the section, loads exactly those bytes
  /// through an anonymous file, queries its exports with `api` and compares
  /// them with the manifest. `externalLibraries` (paths) are loaded first and
  /// may define what the program imports; so are those that its manifest names.
  static Status load(const Artifact::Section &section,
                     const ProgramDesc &program, const TilewrightHostApi &api,
                     const std::vector<std::string> &externalLibraries,
                     std::shared_ptr<HostModule> &result);
  ~HostModule();

  /// Function i of the manifest.
  tw_function function(size_t i) const { return functions[i]; }
  /// Null if there is none of that name.
  tw_cpu_kernel kernel(const std::string &name) const;

private:
  HostModule() = default;
  Status query(const ProgramDesc &program, const TilewrightHostApi &api);

  int file = -1;
  void *handle = nullptr;
  std::vector<void *> libraries;
  std::vector<tw_function> functions;
  std::unordered_map<std::string, tw_cpu_kernel> kernels;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_HOST_MODULE_H
