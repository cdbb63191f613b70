// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads PTX and cubins; the compiler's log becomes the error's text.
#include "cuda_module.h"

#include <cstring>
#include <iterator>
#include <utility>

namespace tilewright::cuda {

/// The log without trailing line ends, its lines joined: messages have one line.
static std::string oneLine(const char *log) {
  std::string text;
  for (const char *c = log; *c; ++c)
    text += *c == '\n' || *c == '\r' ? ' ' : *c;
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

Status CudaModule::compile(const ModuleDesc &desc) {
  std::string image(reinterpret_cast<const char *>(desc.bytes), desc.size);
  if (desc.kind == ModuleKind::Ptx) {
    if (image.find_first_not_of(" \t\r\n") == std::string::npos)
      return corruptArtifact("the PTX text is empty");
    if (image.find('\0') != std::string::npos)
      return corruptArtifact("the PTX text has a NUL character at offset " +
                             std::to_string(image.find('\0')));
  } else if (image.size() < 64 || image.compare(0, 4, "\x7f"
                                                      "ELF") != 0) {
    return corruptArtifact("the cubin is no ELF file");
  }
  char errors[8192] = "", infos[1024] = "";
  CUjit_option options[] = {
      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
      CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  // Sizes are passed in the pointers themselves.
  void *values[] = {errors, reinterpret_cast<void *>(sizeof(errors) - 1), infos,
                    reinterpret_cast<void *>(sizeof(infos) - 1)};
  CUresult r = device.api().cuModuleLoadDataEx(&module, image.c_str(), 4,
                                               options, values);
  if (r == CUDA_SUCCESS)
    return Status::ok();
  module = nullptr;
  Status status = device.check(r, "cuModuleLoadDataEx");
  std::string log = oneLine(errors);
  if (log.empty())
    return status;
  return Status(status.code(), status.message() + ": " + log);
}

Status CudaModule::load(CudaDevice &device, const ModuleDesc &desc,
                        std::unique_ptr<DriverModule> &result) {
  if (desc.kind != ModuleKind::Ptx && desc.kind != ModuleKind::Cubin)
    return unsupported(desc.name + ": the cuda driver loads PTX and cubins");
  if (!desc.bytes)
    return corruptArtifact(desc.name + ": the section is empty");
  ScopedContext scope(device);
  std::unique_ptr<CudaModule> module(new CudaModule(device));
  module->name = desc.name;
  if (Status s = module->compile(desc))
    return std::move(s).in(desc.name);
  for (const KernelDesc &kernelDesc : desc.kernels) {
    Kernel &kernel = module->kernels.emplace_back();
    kernel.desc = kernelDesc;
    kernel.numBuffers = kernelDesc.numBuffers();
    kernel.numScalars = kernelDesc.numScalars();
    CUresult r = device.api().cuModuleGetFunction(
        &kernel.function, module->module, kernelDesc.entry.c_str());
    if (r == CUDA_ERROR_NOT_FOUND)
      return notFound(desc.name + ": no kernel '" + kernelDesc.entry +
                      "' in the module");
    if (Status s = device.check(r, "cuModuleGetFunction"))
      return std::move(s).in(desc.name + ": kernel '" + kernelDesc.entry + "'");
  }
  result = std::move(module);
  return Status::ok();
}

CudaModule::~CudaModule() {
  if (!module || device.isLost())
    return;
  ScopedContext scope(device);
  ignoringErrors([&] {
    return device.check(device.api().cuModuleUnload(module), "cuModuleUnload");
  });
}

Status CudaModule::prepare(Kernel &kernel) {
  const CudaLibrary &api = device.api();
  const KernelDesc &desc = kernel.desc;
  const char *const axes[] = {"max_block_x", "max_block_y", "max_block_z"};
  uint64_t threads = uint64_t(desc.block[0]) * desc.block[1] * desc.block[2];
  for (int i = 0; i < 3; ++i)
    if (desc.block[i] > device.fact(axes[i]))
      return unsupported("its block has " + std::to_string(desc.block[i]) +
                         " threads in " + "xyz"[i] + "; this device takes " +
                         std::to_string(device.fact(axes[i])));
  int maxThreads = 0, staticShared = 0;
  if (Status s = device.check(
          api.cuFuncGetAttribute(&maxThreads,
                                 CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                 kernel.function),
          "cuFuncGetAttribute"))
    return s;
  if (threads > static_cast<uint64_t>(maxThreads))
    return unsupported("its block has " + std::to_string(threads) +
                       " threads; this device runs it with at most " +
                       std::to_string(maxThreads) + " (registers, or the limit "
                                                    "in its code)");
  if (Status s = device.check(
          api.cuFuncGetAttribute(&staticShared,
                                 CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                 kernel.function),
          "cuFuncGetAttribute"))
    return s;
  int64_t shared = int64_t(desc.shared) + staticShared;
  if (shared > device.fact("shared_memory"))
    return unsupported("it uses " + std::to_string(shared) +
                       " bytes of shared memory; this device has " +
                       std::to_string(device.fact("shared_memory")) +
                       " per block");
  // Above 48 KiB dynamic shared memory must be asked for.
  if (desc.shared > 0)
    if (Status s = device.check(
            api.cuFuncSetAttribute(
                kernel.function,
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                static_cast<int>(desc.shared)),
            "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)"))
      return s;
  if (desc.subgroup != 0 && desc.subgroup != device.fact("subgroup_size"))
    return unsupported("it requires subgroups of " +
                       std::to_string(desc.subgroup) + "; a warp has " +
                       std::to_string(device.fact("subgroup_size")));
  uint64_t cluster =
      uint64_t(desc.cluster[0]) * desc.cluster[1] * desc.cluster[2];
  kernel.dependent =
      desc.dependentLaunch && device.fact("dependent_launch") != 0;
  kernel.cluster = cluster > 1;
  if (!kernel.cluster)
    return Status::ok();
  if (device.fact("max_cluster") <= 1)
    return unsupported("it runs in clusters of " + std::to_string(cluster) +
                       " blocks, which this device or driver lacks (sm_90 and "
                       "CUDA 11.8 or later have them)");
  if (cluster > 16)
    return unsupported("it runs in clusters of " + std::to_string(cluster) +
                       " blocks; no device takes more than 16");
  if (cluster > 8)
    return device.check(
        api.cuFuncSetAttribute(
            kernel.function,
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
        "cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED)");
  return Status::ok();
}

Status CudaModule::kernel(uint32_t index, const Kernel *&result) {
  if (index >= kernels.size())
    return invalidArgument(name + ": kernel number " + std::to_string(index) +
                           " of " + std::to_string(kernels.size()));
  Kernel &kernel = kernels[index];
  if (!kernel.ready.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!kernel.ready.load(std::memory_order_relaxed)) {
      if (Status s = prepare(kernel))
        return std::move(s).in("kernel '" + kernel.desc.entry + "'");
      kernel.ready.store(true, std::memory_order_release);
    }
  }
  result = &kernel;
  return Status::ok();
}

Status CudaModule::resources(uint32_t index, KernelResources &result) {
  ScopedContext scope(device);
  const Kernel *found = nullptr;
  if (Status s = kernel(index, found))
    return s;
  const std::pair<CUfunction_attribute, int64_t *> attributes[] = {
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &result.sharedBytes},
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &result.maxThreads},
      {CU_FUNC_ATTRIBUTE_NUM_REGS, &result.registers},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &result.localBytes}};
  // The simulator runs PTX as it is written: it assigns no registers, so that
  // there are no spills, and answers programs that ask for them all the same.
  size_t count = device.fact("simulator") ? 2 : std::size(attributes);
  for (size_t i = 0; i < count; ++i) {
    int value = 0;
    if (Status s = device.check(
            device.api().cuFuncGetAttribute(&value, attributes[i].first,
                                            found->function),
            "cuFuncGetAttribute"))
      return s;
    *attributes[i].second = value;
  }
  return Status::ok();
}

} // namespace tilewright::cuda
