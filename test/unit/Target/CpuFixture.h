// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TEST_CPUFIXTURE_H
#define TILEWRIGHT_TEST_CPUFIXTURE_H

#include "MockRuntime.h"

#include "tilewright/Target/Compile.h"

struct CpuFixture : MockRuntimeTest {
  std::string targetSpec = "cpu:x86-64-v3";
  /// Compiles all kernels of a program in block form for this target.
  bool compile(const std::string &text) {
    TargetRegistry registry = createTargetRegistry();
    DialectRegistry dialects;
    registry.registerDialects(dialects);
    context.appendDialectRegistry(dialects);
    return load(text, [&](ModuleOp module, HostOptions options)
                          -> FailureOr<HostProgram> {
      llvm::Expected<ParsedTarget> target =
          registry.parse(&context, targetSpec);
      if (!target) {
        llvm::consumeError(target.takeError());
        return failure();
      }
      module->setAttr(kTargetAttr, target->variants.front().target);
      for (auto kernel : module.getOps<FunctionOpInterface>()) {
        FailureOr<KernelCode> code =
            compileKernel(registry, kernel, BackendOptions());
        if (failed(code))
          return failure();
        options.objects.push_back({{code->entry}, code->bytes});
      }
      OwningOpRef<ModuleOp> empty(ModuleOp::create(module.getLoc()));
      return compileHost(*empty, options);
    });
  }
  void launch(unsigned kernel, uint32_t blocks, std::vector<uint64_t> params) {
    ASSERT_LT(kernel, exports->numKernels);
    auto function =
        reinterpret_cast<tw_cpu_kernel>(exports->kernels[kernel].address);
    for (uint32_t x = 0; x < blocks; ++x)
      function(params.data(), x, 0, 0);
  }
  static uint64_t address(void *data) { return reinterpret_cast<uint64_t>(data); }
};

#endif
