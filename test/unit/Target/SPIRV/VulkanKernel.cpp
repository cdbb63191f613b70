// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VulkanKernel.h"

#include "tilewright/Distribute/Distribute.h"
#include "tilewright/Target/Compile.h"
#include "tilewright/Target/Target.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace tilewright;
using namespace tilewright::test;
using runtime::Status;

/// The device of the process, opened once; null with the reason in `why`.
static runtime::DriverDevice *getDevice(std::string &why) {
  static std::unique_ptr<runtime::Driver> driver =
      runtime::createVulkanDriver({"vulkan", ""});
  static std::unique_ptr<runtime::DriverDevice> device;
  static std::string reason = [] {
    std::vector<runtime::DeviceInfo> infos = driver->enumerate();
    if (infos.empty() || !infos.front().available)
      return infos.empty() ? std::string("no device") : infos.front().reason;
    Status status = driver->open(0, device);
    if (!status)
      status = device->checkRequirement("subgroup", 8);
    if (status)
      device.reset();
    return status.message();
  }();
  why = reason;
  return device.get();
}

void VulkanKernel::SetUp() {
  std::string why;
  if (!getDevice(why))
    GTEST_SKIP() << why;
}

std::string tilewright::test::launch(int threads) {
  return "attributes {tilewright.kernel, tilewright.launch = "
         "#tilewright.launch<threads = " +
         std::to_string(threads) +
         ", subgroup = 8, tiles = affine_map<() -> (1)>>}";
}

const char *const tilewright::test::kThreadIds = R"(
  %bx = gpu.block_id x
  %lane = gpu.lane_id
  %sg = gpu.subgroup_id : index
  %subgroup = arith.constant 8 : index
  %first = arith.muli %sg, %subgroup : index
  %tid = arith.addi %first, %lane : index
)";

static KernelCode compile(const std::string &text, const std::string &target,
                          bool blockForm, uint32_t &threads) {
  TargetRegistry registry = createTargetRegistry();
  mlir::DialectRegistry dialects;
  registry.registerDialects(dialects);
  dialects.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::gpu::GPUDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect,
                  TilewrightDialect>();
  mlir::MLIRContext context(dialects);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "the kernel does not parse:\n" << text;
    return {};
  }
  llvm::Expected<ParsedTarget> parsed = registry.parse(&context, target);
  if (!parsed) {
    ADD_FAILURE() << llvm::toString(parsed.takeError());
    return {};
  }
  module.get()->setAttr(kTargetAttr, parsed->variants.front().target);
  if (blockForm) {
    mlir::PassManager pm(&context);
    populateDistributePipeline(pm);
    if (mlir::failed(pm.run(*module))) {
      ADD_FAILURE() << "the kernel cannot be distributed:\n" << text;
      return {};
    }
  }
  mlir::FunctionOpInterface kernel = getOnlyKernel(*module);
  threads = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr).getThreads();
  mlir::FailureOr<KernelCode> code = compileKernel(registry, kernel, {});
  if (mlir::failed(code)) {
    ADD_FAILURE() << "the kernel does not compile:\n" << text;
    return {};
  }
  return std::move(*code);
}

static void launchCode(const KernelCode &code, uint32_t threads,
                       const std::vector<Buffer *> &buffers,
                       const std::vector<Scalar> &scalars, uint32_t grid) {
  if (code.bytes.empty())
    return; // has been reported
  std::string why;
  runtime::DriverDevice *device = getDevice(why);
  ASSERT_TRUE(device) << why;
  auto ok = [](Status status) {
    if (status)
      ADD_FAILURE() << status.message();
    return status.isOk();
  };

  runtime::KernelDesc kernel;
  kernel.entry = code.entry;
  for (size_t i = 0; i < buffers.size(); ++i)
    kernel.params.push_back({true, TW_I64});
  std::vector<uint64_t> slots;
  std::vector<uint8_t> packed;
  for (const Scalar &scalar : scalars) {
    kernel.params.push_back({false, scalar.type});
    slots.push_back(scalar.bits);
    size_t size = scalar.type == TW_I64 || scalar.type == TW_F64 ? 8 : 4;
    packed.resize((packed.size() + size - 1) / size * size);
    auto *bytes = reinterpret_cast<const uint8_t *>(&scalar.bits);
    packed.insert(packed.end(), bytes, bytes + size);
  }
  kernel.block = {threads, 1, 1};
  kernel.subgroup = static_cast<uint32_t>(code.subgroup);
  kernel.scalarsInUniform = packed.size() > 128;

  runtime::ModuleDesc desc;
  desc.kind = runtime::ModuleKind::Spirv;
  desc.name = "test";
  desc.bytes = reinterpret_cast<const uint8_t *>(code.bytes.data());
  desc.size = code.bytes.size();
  desc.kernels.push_back(kernel);
  std::unique_ptr<runtime::DriverModule> module;
  std::unique_ptr<runtime::DriverStream> stream;
  if (!ok(device->loadModule(desc, module)) ||
      !ok(device->createStream(stream)))
    return;

  std::vector<std::unique_ptr<runtime::DriverBuffer>> memory(buffers.size());
  std::vector<runtime::BufferBinding> bindings;
  for (size_t i = 0; i < buffers.size(); ++i) {
    uint64_t size = (buffers[i]->size() + 15) / 16 * 16;
    if (!ok(device->allocate(std::max<uint64_t>(size, 16), memory[i])) ||
        !ok(stream->write(*memory[i], 0, buffers[i]->data(),
                          buffers[i]->size())))
      return;
    bindings.push_back({memory[i].get(), 0, size, true});
  }
  runtime::LaunchArgs args;
  args.grid = {grid, 1, 1};
  args.buffers = bindings.data();
  args.numBuffers = bindings.size();
  args.scalars = slots.data();
  args.numScalars = slots.size();
  args.packedScalars = packed.data();
  args.packedSize = packed.size();
  if (!ok(stream->launch(*module, 0, args)))
    return;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!ok(stream->read(buffers[i]->data(), *memory[i], 0,
                         buffers[i]->size())))
      return;
  ok(stream->synchronize(20'000'000'000));
}

void VulkanKernel::run(const std::string &text,
                       const std::vector<Buffer *> &buffers,
                       const std::vector<Scalar> &scalars, uint32_t grid,
                       const std::string &target) {
  uint32_t threads = 0;
  KernelCode code = compile(text, target, /*blockForm=*/false, threads);
  launchCode(code, threads, buffers, scalars, grid);
}

void VulkanKernel::runBlockForm(const std::string &text,
                                const std::vector<Buffer *> &buffers,
                                const std::vector<Scalar> &scalars,
                                uint32_t grid) {
  uint32_t threads = 0;
  KernelCode code =
      compile(text, "vulkan:1.3+subgroup=8", /*blockForm=*/true, threads);
  launchCode(code, threads, buffers, scalars, grid);
}
Buffer VulkanKernel::map(const std::string &in, const std::string &out,
                         const std::string &body, Buffer x, Buffer y,
                         size_t elements, const std::string &target) {
  std::string text = "func.func private @k(%a: memref<?x" + in +
                     ">, %b: memref<?x" + in + ">, %o: memref<?x" + out +
                     ">, %n: index) " + launch(64) + " {" + kThreadIds + R"(
    %c64 = arith.constant 64 : index
    %base = arith.muli %bx, %c64 : index
    %i = arith.addi %base, %tid : index
    %inside = arith.cmpi slt, %i, %n : index
    scf.if %inside {
      %x = memref.load %a[%i] : memref<?x)" +
                     in + R"(>
      %y = memref.load %b[%i] : memref<?x)" +
                     in + ">\n" + body + R"(
      memref.store %r, %o[%i] : memref<?x)" +
                     out + R"(>
    }
    return
  })";
  if (y.empty())
    y = x;
  size_t size = out == "f64" || out == "i64" || out == "index"  ? 8
                : out == "f32" || out == "i32"                  ? 4
                : out == "f16" || out == "bf16" || out == "i16" ? 2
                                                                : 1;
  Buffer result(elements * size);
  run(text, {&x, &y, &result}, {i32(static_cast<int32_t>(elements))},
      static_cast<uint32_t>((elements + 63) / 64), target);
  return result;
}
