// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions to the driver API about code: modules, libraries, globals, fatbins, compiler messages, cuGetProcAddress.

#include "hardware/Client.h"

#include <fstream>
#include <sstream>
#include <vector>

namespace tilewright::ptxsim::confirm {
namespace {

const char *const text = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 total = 5;
.visible .entry addTotal(.param .u64 data) {
  .reg .b32 %r<4>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [data];
  ld.global.u32 %r1, [total];
  ld.global.u32 %r2, [%rd];
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%rd], %r3;
  ret;
}
)";

void askGlobals(Client &c) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr total = 0, data = 0;
  size_t bytes = 0;
  unsigned value = 0, seven = 7;
  c.must(c.cuModuleLoadData(&module, text), "cuModuleLoadData");
  c.expect("global of a module", CUDA_SUCCESS, c.cuModuleGetGlobal_v2(&total, &bytes, module, "total"));
  c.record("size of the global", "4", std::to_string(bytes), bytes == 4);
  c.expect("global that is not there", CUDA_ERROR_NOT_FOUND, c.cuModuleGetGlobal_v2(&data, &bytes, module, "missing"));
  c.must(c.cuMemcpyDtoH_v2(&value, total, 4), "cuMemcpyDtoH");
  c.record("what the module initialised", "5", std::to_string(value), value == 5);
  c.must(c.cuMemcpyHtoD_v2(total, &seven, 4), "cuMemcpyHtoD");
  c.must(c.cuMemAlloc_v2(&data, 4), "cuMemAlloc");
  c.must(c.cuMemsetD32_v2(data, 35, 1), "cuMemsetD32");
  c.must(c.cuModuleGetFunction(&function, module, "addTotal"), "cuModuleGetFunction");
  void *params[] = {&data};
  c.expect("launch that reads the global", CUDA_SUCCESS,
           c.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
  c.must(c.cuMemcpyDtoH_v2(&value, data, 4), "cuMemcpyDtoH");
  c.record("what the kernel read", "42", std::to_string(value), value == 42);
  c.expect("unloading a module", CUDA_SUCCESS, c.cuModuleUnload(module));
  c.cuMemFree_v2(data);
}

void askLibraries(Client &c) {
  if (!c.cuLibraryLoadData)
    return;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUdeviceptr total = 0;
  size_t bytes = 0;
  c.expect("library", CUDA_SUCCESS, c.cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  c.expect("kernel of a library", CUDA_SUCCESS, c.cuLibraryGetKernel(&kernel, library, "addTotal"));
  c.expect("kernel that the library has not", CUDA_ERROR_NOT_FOUND, c.cuLibraryGetKernel(&kernel, library, "missing"));
  c.expect("global of a library", CUDA_SUCCESS, c.cuLibraryGetGlobal(&total, &bytes, library, "total"));
  unsigned value = 0;
  c.cuMemcpyDtoH_v2(&value, total, 4);
  c.record("what the library initialised", "5", std::to_string(value), value == 5);
  c.expect("unloading a library", CUDA_SUCCESS, c.cuLibraryUnload(library));
}

void askImages(Client &c) {
  CUmodule module = nullptr;
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  c.expect("text with an unknown instruction", CUDA_ERROR_INVALID_PTX,
           c.cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { foo; }", 2, options,
                                values));
  bool hasLine = std::string(log).find("line 4") != std::string::npos;
  c.record("the log names the line", "yes", hasLine ? "yes" : "no", hasLine);
  c.expect("text for a newer device", CUDA_ERROR_NO_BINARY_FOR_GPU,
           c.cuModuleLoadData(&module, ".version 7.8\n.target sm_100\n.address_size 64\n"));
}

/// Plain, LZ4 and Zstandard, as nvcc 13 writes them; the last holds PTX for sm_80 and sm_90.
void askFatbins(Client &c, const std::string &folder) {
  for (const char *name : {"plain", "lz4", "zstd"}) {
    std::ifstream file(folder + "/basics-" + name + ".fatbin", std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    std::string image = bytes.str(), question = std::string("fatbin, ") + name;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUdeviceptr out = 0;
    CUresult loaded = c.cuModuleLoadData(&module, image.data());
    c.expect(question, CUDA_SUCCESS, loaded);
    if (loaded != CUDA_SUCCESS)
      continue;
    c.must(c.cuModuleGetFunction(&function, module, "fibonacciPerThread"), "cuModuleGetFunction");
    c.must(c.cuMemAlloc_v2(&out, 16), "cuMemAlloc");
    int n = 10, values[4] = {};
    void *params[] = {&out, &n};
    c.must(c.cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, params, nullptr), "cuLaunchKernel");
    c.must(c.cuMemcpyDtoH_v2(values, out, 16), "cuMemcpyDtoH");
    c.record(question + ": result", "233", std::to_string(values[3]), values[3] == 233);
    c.cuMemFree_v2(out);
    c.cuModuleUnload(module);
  }
}

void askProcAddress(Client &c) {
  if (!c.cuGetProcAddress_v2)
    return;
  void *function = nullptr;
  CUdriverProcAddressQueryResult status;
  auto get = [&](const char *name, int version, cuuint64_t flags) {
    return c.cuGetProcAddress_v2(name, &function, version, flags, &status);
  };
  c.expect("address of cuMemAlloc", CUDA_SUCCESS, get("cuMemAlloc", 12000, 0));
  bool same = function == reinterpret_cast<void *>(c.cuMemAlloc_v2);
  c.record("it is that of cuMemAlloc_v2", "yes", same ? "yes" : "no", same);
  c.expect("address for streams per thread", CUDA_SUCCESS,
           get("cuMemcpyHtoDAsync", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
  c.expect("address in a version that has no such function", CUDA_ERROR_NOT_FOUND, get("cuLaunchKernelEx", 11000, 0));
  c.record("its status", "2", std::to_string(status), status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  c.expect("address of what nobody knows", CUDA_ERROR_NOT_FOUND, get("cuNoSuchThing", 12000, 0));
  c.record("it is null", "yes", function ? "no" : "yes", !function);
  c.record("its status", "1", std::to_string(status), status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

} // namespace

void askModules(Client &client, const std::string &folder) {
  askGlobals(client);
  askLibraries(client);
  askImages(client);
  askFatbins(client, folder);
  askProcAddress(client);
}

} // namespace tilewright::ptxsim::confirm
