// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules and libraries; what is asked of their kernels is in Functions.cpp.

#include "driver/State.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace tilewright::ptxsim {
namespace {

constexpr uint32_t plainSharedLimit = 48u << 10;

CUresult readFile(const char *path, std::string &bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return CUDA_ERROR_FILE_NOT_FOUND;
  // An endless file must not be read to its end.
  constexpr size_t limit = size_t(1) << 30;
  for (char buffer[1 << 16]; file.read(buffer, sizeof(buffer)) || file.gcount() != 0;) {
    bytes.append(buffer, static_cast<size_t>(file.gcount()));
    if (bytes.size() > limit)
      return CUDA_ERROR_INVALID_IMAGE;
  }
  return CUDA_SUCCESS;
}

Image imageOf(const std::string &bytes) { return {reinterpret_cast<const uint8_t *>(bytes.c_str()), bytes.size()}; }

/// Copies the log into the buffer of a JIT option and stores the length where the API says so.
void fillLog(unsigned count, const CUjit_option *options, void **values, CUjit_option buffer, CUjit_option size,
             const std::string &log) {
  char *to = nullptr;
  size_t room = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == buffer)
      to = static_cast<char *>(values[i]);
    if (options[i] == size)
      room = static_cast<size_t>(reinterpret_cast<uintptr_t>(values[i]) & 0xffffffff);
  }
  size_t length = 0;
  if (to && room != 0) {
    length = std::min(room - 1, log.size());
    std::memcpy(to, log.data(), length);
    to[length] = 0;
  }
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == size)
      values[i] = reinterpret_cast<void *>(length);
}

CUresult loadInto(const Image &image, unsigned count, CUjit_option *options, void **values, CUcontext context,
                  const void *owner, CUmod_st &module) {
  if (count != 0 && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  std::string log;
  CUresult result = loadModule(image, context, owner, module, log);
  fillLog(count, options, values, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
  fillLog(count, options, values, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, log);
  if (!log.empty())
    std::fprintf(stderr, "ptxsim: %s\n", log.c_str());
  return result;
}

CUresult moduleOf(const Image &image, unsigned count, CUjit_option *options, void **values, CUmodule &module) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  auto loaded = std::make_unique<CUmod_st>();
  if (CUresult result = loadInto(image, count, options, values, context, context, *loaded))
    return result;
  module = loaded.get();
  context->modules.push_back(std::move(loaded));
  return CUDA_SUCCESS;
}

CUresult libraryOf(const Image &image, unsigned count, CUjit_option *options, void **values, CUlibrary &library) {
  auto created = std::make_unique<CUlib_st>();
  created->module = std::make_unique<CUmod_st>();
  created->module->library = created.get();
  if (CUresult result = loadInto(image, count, options, values, nullptr, created.get(), *created->module))
    return result;
  library = created.get();
  driver().live.insert(library);
  driver().libraries.push_back(std::move(created));
  return CUDA_SUCCESS;
}

CUresult checkLibrary(CUlibrary library) {
  return library && driver().isLive(library) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void forgetModule(CUmod_st &module) {
  driver().live.erase(&module);
  for (const auto &[name, function] : module.functions)
    driver().live.erase(function.get());
}

} // namespace

CUresult loadModule(const Image &image, CUcontext context, const void *owner, CUmod_st &module, std::string &log) {
  std::string text;
  if (CUresult result = extractPtx(image, text, log))
    return result;
  Diagnostic error;
  LoadedModule::Failure failure;
  module.context = context;
  module.loaded =
      LoadedModule::load(std::move(text), *driver().memory, driver().options, owner, error, failure);
  switch (failure) {
  case LoadedModule::Failure::None:
    break;
  case LoadedModule::Failure::InvalidPtx:
    log = error.str();
    return CUDA_ERROR_INVALID_PTX;
  case LoadedModule::Failure::TooNew:
    log = error.str();
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  case LoadedModule::Failure::WrongTarget:
    log = error.str();
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  case LoadedModule::Failure::OutOfMemory:
    log = error.str();
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  for (const auto &[name, program] : module.loaded->kernels()) {
    auto function = std::make_unique<CUfunc_st>();
    function->module = &module;
    function->library = module.library;
    function->program = program.get();
    function->name = name;
    uint32_t fixed = program->staticShared;
    std::copy_n(function->program->kernel->requiredCluster, 3, function->requiredCluster);
    function->maxDynamicShared = fixed < plainSharedLimit ? plainSharedLimit - fixed : 0;
    driver().live.insert(function.get());
    module.functions[name] = std::move(function);
  }
  driver().live.insert(&module);
  return CUDA_SUCCESS;
}

CUresult findFunction(CUmod_st &module, const char *name, CUfunction &function) {
  auto found = module.functions.find(name);
  if (found == module.functions.end())
    return CUDA_ERROR_NOT_FOUND;
  function = found->second.get();
  return CUDA_SUCCESS;
}

namespace api {

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                            void **values) {
  if (!module || !image)
    return CUDA_ERROR_INVALID_VALUE;
  return moduleOf({static_cast<const uint8_t *>(image)}, count, options, values, *module);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return api::cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  return api::cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
  std::string bytes;
  if (!module || !path)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = readFile(path, bytes))
    return result;
  return moduleOf(imageOf(bytes), 0, nullptr, nullptr, *module);
}

CUresult cuModuleUnload(CUmodule module) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  if (!module || !driver().isLive(module) || module->library)
    return CUDA_ERROR_INVALID_HANDLE;
  synchroniseContext(module->context);
  forgetModule(*module);
  auto &modules = module->context->modules;
  modules.erase(std::find_if(modules.begin(), modules.end(), [&](const auto &held) { return held.get() == module; }));
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  if (!mode)
    return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  CUcontext context;
  if (!function || !name)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = currentContext(context))
    return result;
  if (!module || !driver().isLive(module))
    return CUDA_ERROR_INVALID_HANDLE;
  return findFunction(*module, name, *function);
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (!module || !driver().isLive(module))
    return CUDA_ERROR_INVALID_HANDLE;
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  if (!module || !driver().isLive(module))
    return CUDA_ERROR_INVALID_HANDLE;
  uint64_t at, size;
  if (!module->loaded->variable(name, at, size))
    return CUDA_ERROR_NOT_FOUND;
  if (address)
    *address = at;
  if (bytes)
    *bytes = size;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jitOptions, void **jitValues,
                           unsigned jitCount, CUlibraryOption *options, void **values, unsigned count) {
  if (!library || !image || (count != 0 && (!options || !values)))
    return CUDA_ERROR_INVALID_VALUE;
  return libraryOf({static_cast<const uint8_t *>(image)}, jitCount, jitOptions, jitValues, *library);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jitOptions, void **jitValues,
                               unsigned jitCount, CUlibraryOption *options, void **values, unsigned count) {
  std::string bytes;
  if (!library || !path || (count != 0 && (!options || !values)))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = readFile(path, bytes))
    return result;
  return libraryOf(imageOf(bytes), jitCount, jitOptions, jitValues, *library);
}

CUresult cuLibraryUnload(CUlibrary library) {
  if (CUresult result = checkLibrary(library))
    return result;
  driver().queue.waitAll();
  forgetModule(*library->module);
  driver().live.erase(library);
  auto &libraries = driver().libraries;
  libraries.erase(
      std::find_if(libraries.begin(), libraries.end(), [&](const auto &held) { return held.get() == library; }));
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  if (!kernel || !name)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkLibrary(library))
    return result;
  CUfunction function;
  if (CUresult result = findFunction(*library->module, name, function))
    return result;
  *kernel = reinterpret_cast<CUkernel>(function);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkLibrary(library))
    return result;
  *count = static_cast<unsigned>(library->module->functions.size());
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkLibrary(library))
    return result;
  *module = library->module.get();
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
  if (CUresult result = checkLibrary(library))
    return result;
  return api::cuModuleGetGlobal_v2(address, bytes, library->module.get(), name);
}

} // namespace api
} // namespace tilewright::ptxsim
