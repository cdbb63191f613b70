// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Resources.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace tilewright;

json::Array toJson(ArrayRef<KernelResources> kernels) {
  json::Array list;
  for (const KernelResources &kernel : kernels)
    list.push_back(json::Object{{"program", kernel.program},
                                {"kernel", kernel.kernel},
                                {"registers", kernel.registers},
                                {"stack", kernel.stack},
                                {"spill_stores", kernel.spillStores},
                                {"spill_loads", kernel.spillLoads},
                                {"shared_static", kernel.sharedStatic},
                                {"shared_dynamic", kernel.sharedDynamic}});
  return list;
}

void printResources(raw_ostream &os, ArrayRef<KernelResources> kernels,
                    bool asJson) {
  if (asJson) {
    os << formatv("{0:2}", json::Value(toJson(kernels))) << "\n";
    return;
  }
  size_t width = 0;
  for (const KernelResources &kernel : kernels)
    width = std::max(width, kernel.kernel.size() + 2);
  StringRef program;
  for (const KernelResources &kernel : kernels) {
    if (program != kernel.program) {
      program = kernel.program;
      os << program
         << std::string(width > program.size() ? width - program.size() : 0, ' ')
         << "  registers  spills (bytes)  stack (bytes)  shared (bytes: "
            "static + dynamic)\n";
    }
    os << "  " << left_justify(kernel.kernel, width - 2)
       << formatv("  {0,9}  {1,14}  {2,13}  {3} + {4}\n", kernel.registers,
                  kernel.spillStores + kernel.spillLoads, kernel.stack,
                  kernel.sharedStatic, kernel.sharedDynamic);
  }
}
