// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads a host program from memory; see host_module.h.

#include "core/host_module.h"

#include "core/elf.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace tilewright::runtime {

namespace {

constexpr const char *kQuery = "tilewright_program_query";

std::string dlError() {
  const char *text = dlerror();
  return text ? text : "unknown reason";
}

// dlopen; where the loader found no memory, bad_alloc.
void *openLibrary(const char *path, int flags) {
  errno = 0;
  void *library = dlopen(path, flags);
  if (!library && errno == ENOMEM)
    throw std::bad_alloc();
  return library;
}

/// Opens a library that the program's kernels call. The program finds functions by name
/// among all libraries of the process, so each is looked for in the same way first.
Status openCalled(const LibraryDesc &desc, void *&library) {
  // Threads of its own may run as long as the process: it is not unloaded.
  library = openLibrary(desc.name.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (!library)
    return notFound("its kernels call the library '" + desc.name + "': " + dlError() +
                    "; install it, or compile without --external-blas");
  for (const std::string &function : desc.functions) {
    void *address = dlsym(library, function.c_str());
    if (!address)
      return notFound("its kernels call '" + function + "', which the library '" +
                      desc.name + "' does not define; name one with CBLAS");
    void *first = dlsym(RTLD_DEFAULT, function.c_str());
    Dl_info other = {};
    if (first != address && dladdr(first, &other))
      return unavailable("its kernels call '" + function + "' of the library '" +
                         desc.name + "', but the process has loaded another one, of '" +
                         (other.dli_fname ? other.dli_fname : "?") + "', before");
  }
  return Status::ok();
}

Status writeAll(int file, const uint8_t *data, size_t size) {
  while (size) {
    ssize_t n = write(file, data, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return outOfMemory(std::string("writing the host program to memory: ") +
                         std::strerror(errno));
    data += n;
    size -= static_cast<size_t>(n);
  }
  return Status::ok();
}

} // namespace

Status HostModule::load(const Artifact::Section &section,
                        const ProgramDesc &program,
                        const TilewrightHostApi &api,
                        const std::vector<std::string> &externalLibraries,
                        std::shared_ptr<HostModule> &result) {
  std::string where = "host program '" + section.name + "'";
  if (Status s = verifyHostElf(section.data, section.size))
    return std::move(s).in(where);
  std::unique_ptr<HostModule> module(new HostModule);
  for (const std::string &path : externalLibraries) {
    module->libraries.push_back(nullptr);
    void *library = openLibrary(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
      return notFound("external library: " + dlError());
    module->libraries.back() = library;
  }
  for (const LibraryDesc &desc : program.libraries) {
    module->libraries.push_back(nullptr);
    if (Status s = openCalled(desc, module->libraries.back()))
      return std::move(s).in(where);
  }
  module->file = memfd_create("tilewright-host", MFD_CLOEXEC);
  if (module->file < 0)
    return unavailable(where + ": memfd_create: " + std::strerror(errno));
  if (Status s = writeAll(module->file, section.data, section.size))
    return std::move(s).in(where);
  // The loader knows libraries by name, so the name must not repeat while this
  // one is loaded: the file stays open until then.
  std::string path = "/proc/self/fd/" + std::to_string(module->file);
  module->handle = openLibrary(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module->handle) {
    std::string reason = dlError();
    if (access(path.c_str(), F_OK) != 0)
      return unavailable(where + ": " + path + ": " + std::strerror(errno) +
                         "; programs are loaded by way of /proc, which has to be mounted");
    size_t name = reason.find("undefined symbol: ");
    if (name != std::string::npos)
      return notFound(where + " calls '" + reason.substr(name + 18) +
                      "', which no external library defines; name the library "
                      "(tilewright-run: --external-lib=PATH)");
    return corruptArtifact(where + ": " + reason);
  }
  if (Status s = module->query(program, api))
    return std::move(s).in(where);
  result = std::move(module);
  return Status::ok();
}

Status HostModule::query(const ProgramDesc &program,
                         const TilewrightHostApi &api) {
  auto ask = reinterpret_cast<tw_program_query>(dlsym(handle, kQuery));
  if (!ask)
    return corruptArtifact(std::string("it does not export ") + kQuery);
  const TilewrightProgramExports *exports = ask(TW_PROGRAM_ABI_VERSION, &api);
  if (!exports)
    return unsupported("it refuses the runtime's interface version " +
                       std::to_string(TW_PROGRAM_ABI_VERSION));
  if (exports->version == 0 || exports->version > TW_PROGRAM_ABI_VERSION)
    return unsupported("it has interface version " +
                       std::to_string(exports->version) +
                       "; this runtime knows versions up to " +
                       std::to_string(TW_PROGRAM_ABI_VERSION));
  std::vector<std::string> names;
  for (const FunctionDesc &function : program.functions)
    names.push_back(function.name);
  for (const LoadFunctionDesc &function : program.loadFunctions)
    names.push_back(function.name);
  if (exports->numFunctions != names.size())
    return corruptArtifact("it exports " +
                           std::to_string(exports->numFunctions) +
                           " functions; the manifest has " +
                           std::to_string(names.size()));
  if ((exports->numFunctions && !exports->functions) ||
      (exports->numKernels && !exports->kernels))
    return corruptArtifact("a table of its exports is null");
  for (uint32_t i = 0; i < exports->numFunctions; ++i) {
    const TilewrightNamed &named = exports->functions[i];
    const std::string &name = names[i];
    if (!named.name || !named.address || name != named.name)
      return corruptArtifact("its function " + std::to_string(i) + " is '" +
                             (named.name ? named.name : "") +
                             "'; the manifest has '" + name + "'");
    functions.push_back(reinterpret_cast<tw_function>(named.address));
  }
  for (uint32_t i = 0; i < exports->numKernels; ++i) {
    const TilewrightNamed &named = exports->kernels[i];
    if (!named.name || !named.address)
      return corruptArtifact("its kernel " + std::to_string(i) + " is null");
    kernels[named.name] = reinterpret_cast<tw_cpu_kernel>(named.address);
  }
  return Status::ok();
}

HostModule::~HostModule() {
  if (handle)
    dlclose(handle);
  if (file >= 0)
    close(file);
  for (void *library : libraries)
    if (library)
      dlclose(library);
}

tw_cpu_kernel HostModule::kernel(const std::string &name) const {
  auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : found->second;
}

} // namespace tilewright::runtime
