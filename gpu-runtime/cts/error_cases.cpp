// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must be refused with a reason, and leave the device usable; and the
// kernel that never ends, which costs the device but not the program.
#include "kernels.h"

#include <chrono>

namespace tilewright::cts {

/// One launch of increment, with its result checked.
static void stillWorks(Context &context) {
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  std::unique_ptr<DriverModule> module;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(256, buffer));
  TW_OK(testModule(context, "increment").load(context, module));
  uint32_t out[64] = {};
  TW_OK(stream->fill(*buffer, 0, 256, 4, 4));
  TW_OK(Arguments().write(*buffer).i32(1).launch(*stream, *module, {1, 1, 1}));
  TW_OK(stream->read(out, *buffer, 0, 256));
  TW_OK(stream->synchronize(kForever));
  TW_CHECK(out[0] == 13 && out[63] == 13, std::to_string(out[0]));
}

static void badEntry(Context &context) {
  if (context.driver() == "cpu")
    return context.skip("native kernels are functions, not names");
  TestModule code = testModule(context, "increment");
  code.desc.kernels[0].entry = "no_such_kernel";
  std::unique_ptr<DriverModule> module;
  Status status = code.load(context, module);
  TW_CHECK(status.code() == StatusCode::NotFound, status.message());
  TW_CHECK(status.message().find("no_such_kernel") != std::string::npos,
           "the message names the kernel: " + status.message());
  TW_CHECK(!module, "no module");
  stillWorks(context);
}

static void badCode(Context &context) {
  if (context.driver() == "cpu")
    return context.skip("native kernels are functions, not bytes");
  TestModule good = testModule(context, "increment");
  std::vector<uint8_t> bytes(good.desc.bytes, good.desc.bytes + good.desc.size);
  auto refused = [&](std::vector<uint8_t> code, const char *what) {
    TestModule bad = good;
    bad.desc.bytes = code.data();
    bad.desc.size = code.size();
    std::unique_ptr<DriverModule> module;
    Status status = bad.load(context, module);
    TW_CHECK(!status.isOk() && !status.message().empty(), what);
    TW_CHECK(status.message().find("cts/increment") != std::string::npos,
             "the message names the section: " + status.message());
  };
  refused({}, "no bytes");
  refused({1, 2, 3}, "three bytes");
  refused(std::vector<uint8_t>(400, 0xa5), "bytes that are no code");
  std::vector<uint8_t> truncated = bytes;
  truncated.resize(bytes.size() / 2 / 4 * 4);
  refused(truncated, "half of the module");
  std::vector<uint8_t> broken = bytes;
  for (size_t i = bytes.size() / 3; i < bytes.size() / 3 + 40; ++i)
    broken[i] = 0xff;
  refused(broken, "40 bytes overwritten");
  stillWorks(context);
}

static void wrongKind(Context &context) {
  TestModule code = testModule(context, "increment");
  std::string text = "neither text nor words";
  code.desc.kind =
      context.driver() == "cuda" ? ModuleKind::Spirv : ModuleKind::Ptx;
  code.desc.bytes = reinterpret_cast<const uint8_t *>(text.data());
  code.desc.size = text.size();
  std::unique_ptr<DriverModule> module;
  Status status = code.load(context, module);
  TW_CHECK(!status.isOk() && !status.message().empty(), "wrong kind");
}

static void gridTooLarge(Context &context) {
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  std::unique_ptr<DriverModule> module;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(256, buffer));
  TW_OK(testModule(context, "increment").load(context, module));
  const char *const facts[] = {"max_grid_x", "max_grid_y", "max_grid_z"};
  int tried = 0;
  for (int i = 0; i < 3; ++i) {
    int64_t limit = context.fact(facts[i]);
    TW_CHECK(limit > 0, std::string(facts[i]) + " is a fact");
    if (limit >= UINT32_MAX || context.driver() == "cpu")
      continue;
    Extent3 grid = {1, 1, 1};
    grid[i] = static_cast<uint32_t>(limit) + 1;
    Status status =
        Arguments().write(*buffer).i32(1).launch(*stream, *module, grid);
    TW_CHECK(!status.isOk(), std::string(facts[i]) + " + 1");
    TW_CHECK(status.message().find("increment") != std::string::npos,
             "the message names the kernel: " + status.message());
    ++tried;
  }
  TW_OK(stream->synchronize(kForever));
  stillWorks(context);
  if (tried == 0)
    context.skip("this device takes every grid");
}

static void wrongBlock(Context &context) {
  if (context.driver() == "cpu")
    return context.skip("a cpu kernel loops over its threads itself");
  TestModule code = testModule(context, "increment");
  code.desc.kernels[0].block = {65536, 1, 1};
  std::unique_ptr<DriverModule> module;
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(256, buffer));
  Status status = code.load(context, module);
  if (status.isOk())
    status =
        Arguments().write(*buffer).i32(1).launch(*stream, *module, {1, 1, 1});
  TW_CHECK(!status.isOk() && !status.message().empty(),
           "65536 threads in a block");
  stillWorks(context);
}

static void tooMuchShared(Context &context) {
  if (context.driver() == "cpu")
    return context.skip("cpu kernels have no shared memory");
  TestModule code = testModule(context, "increment");
  code.desc.kernels[0].shared = 64u << 20;
  std::unique_ptr<DriverModule> module;
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(256, buffer));
  Status status = code.load(context, module);
  if (status.isOk())
    status =
        Arguments().write(*buffer).i32(1).launch(*stream, *module, {1, 1, 1});
  TW_CHECK(!status.isOk() && !status.message().empty(),
           "64 MiB of shared memory");
  stillWorks(context);
}

static void wrongSubgroup(Context &context) {
  if (context.driver() == "cpu")
    return context.skip("a cpu kernel has no subgroups");
  TestModule code = testModule(context, "subgroup_sum");
  code.desc.kernels[0].subgroup = 1024;
  std::unique_ptr<DriverModule> module;
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(1024, buffer));
  Status status = code.load(context, module);
  if (status.isOk())
    status = Arguments().read(*buffer).write(*buffer).launch(*stream, *module,
                                                             {1, 1, 1});
  TW_CHECK(status.code() == StatusCode::Unsupported, status.message());
  TW_CHECK(status.message().find("1024") != std::string::npos,
           status.message());
  stillWorks(context);
}

/// What only Vulkan limits: where a binding begins and how far it reaches.
static void bindingLimits(Context &context) {
  if (context.driver() != "vulkan")
    return context.skip("only Vulkan limits bindings");
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  std::unique_ptr<DriverModule> module;
  TW_OK(context.device().createStream(stream));
  TW_OK(testModule(context, "increment").load(context, module));
  TW_OK(context.device().allocate(4096, buffer));
  TW_FAILS(Arguments()
               .bind({buffer.get(), 2, 256, true})
               .i32(1)
               .launch(*stream, *module, {1, 1, 1}),
           StatusCode::Unsupported);
  int64_t limit = context.fact("max_binding");
  TW_CHECK(limit >= 128 << 20, std::to_string(limit));
  if (context.device().allocate(static_cast<uint64_t>(limit) + 16, buffer))
    return context.skip("no memory for more than one binding's range");
  TW_FAILS(Arguments().write(*buffer).i32(1).launch(*stream, *module, {1, 1, 1}),
           StatusCode::Unsupported);
  TW_OK(Arguments()
            .bind({buffer.get(), 0, static_cast<uint64_t>(limit), true})
            .i32(1)
            .launch(*stream, *module, {1, 1, 1}));
  TW_OK(stream->synchronize(kForever));
}

/// Starts what never ends; on the simulator the launch itself misses `deadline`.
static Status launchSpin(Context &context, DriverStream &stream,
                         DriverModule &module, DriverBuffer &flag,
                         uint64_t deadline) {
  if (context.fact("simulator"))
    stream.timeoutNs = deadline;
  // lavapipe ends every loop after 65535 iterations, but not this many blocks.
  if (Status s =
          Arguments().write(flag).launch(stream, module, {65535, 65535, 1}))
    return s;
  return stream.flush();
}

/// What holds once a wait, which began at `begin`, has missed its deadline.
static void checkLost(Context &context, const Status &missed,
                      std::chrono::steady_clock::time_point begin,
                      DriverStream &stream, DriverStream &other,
                      DriverBuffer &buffer, DriverModule &module,
                      DriverEvent &event) {
  double seconds = std::chrono::duration<double>(
                       std::chrono::steady_clock::now() - begin)
                       .count();
  TW_CHECK(missed.code() == StatusCode::DeadlineExceeded, missed.message());
  TW_CHECK(seconds < 5, "the deadline is kept: " + std::to_string(seconds));
  // From now on everything says so, at once.
  TW_FAILS(stream.synchronize(kForever), StatusCode::DeviceLost);
  TW_FAILS(other.fill(buffer, 0, 256, 0, 4), StatusCode::DeviceLost);
  TW_FAILS(Arguments().write(buffer).launch(other, module, {1, 1, 1}),
           StatusCode::DeviceLost);
  TW_FAILS(event.wait(kForever), StatusCode::DeviceLost);
  bool done = false;
  TW_FAILS(event.query(done), StatusCode::DeviceLost);
  std::unique_ptr<DriverBuffer> more;
  TW_FAILS(context.device().allocate(256, more), StatusCode::DeviceLost);
  TW_FAILS(context.device().lost(), StatusCode::DeviceLost);
}

static void missDeadline(Context &context, bool waitsForEvent) {
  std::unique_ptr<DriverStream> stream, other;
  std::unique_ptr<DriverBuffer> buffer;
  std::unique_ptr<DriverModule> module;
  std::unique_ptr<DriverEvent> event;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().createStream(other));
  TW_OK(context.device().createEvent(false, event));
  TW_OK(context.device().allocate(256, buffer));
  TW_OK(testModule(context, "spin").load(context, module));
  TW_OK(stream->fill(*buffer, 0, 256, 0, 4));
  auto begin = std::chrono::steady_clock::now();
  Status status =
      launchSpin(context, *stream, *module, *buffer, 200'000'000);
  if (!context.fact("simulator")) {
    TW_OK(status);
    TW_OK(stream->record(*event));
    TW_OK(stream->flush());
    bool done = true;
    TW_OK(event->query(done));
    TW_CHECK(!done, "the kernel cannot have ended");
    begin = std::chrono::steady_clock::now();
    status = waitsForEvent ? event->wait(200'000'000)
                           : stream->synchronize(200'000'000);
  } else if (status.isOk()) {
    // Its work waits for somebody who asks.
    status = stream->synchronize(200'000'000);
  }
  checkLost(context, status, begin, *stream, *other, *buffer, *module, *event);
  // Destruction neither blocks nor frees what the kernel still reads.
  event.reset();
  stream.reset();
  other.reset();
  module.reset();
  buffer.reset();
}

static void neverEnds(Context &context) { missDeadline(context, false); }
static void eventNeverComes(Context &context) { missDeadline(context, true); }

/// A kernel that faults costs the device, with the reason kept.
static void kernelFaults(Context &context) {
  if (context.driver() != "cuda")
    return context.skip("only cuda tells of bad addresses");
  std::unique_ptr<DriverStream> stream, other;
  std::unique_ptr<DriverBuffer> nowhere, buffer;
  std::unique_ptr<DriverModule> module;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().createStream(other));
  TW_OK(context.device().allocate(256, buffer));
  TW_OK(context.device().importBuffer(64, 256, nowhere));
  TW_OK(testModule(context, "increment").load(context, module));
  Status status =
      Arguments().write(*nowhere).i32(1).launch(*stream, *module, {1, 1, 1});
  if (status.isOk())
    status = stream->synchronize(10'000'000'000);
  TW_CHECK(status.code() == StatusCode::DeviceLost, status.message());
  TW_CHECK(status.message().find("CUDA_ERROR") != std::string::npos,
           "the reason is named: " + status.message());
  Status again = other->fill(*buffer, 0, 256, 0, 4);
  TW_CHECK(again.code() == StatusCode::DeviceLost &&
               again.message() == status.message(),
           "the first reason stays: " + again.message());
}

std::vector<Case> errorCases() {
  return {{"error.bad_kernel_name", badEntry},
          {"error.bad_code", badCode},
          {"error.wrong_kind_of_module", wrongKind},
          {"error.grid_too_large", gridTooLarge},
          {"error.block_too_large", wrongBlock},
          {"error.too_much_shared_memory", tooMuchShared},
          {"error.wrong_subgroup_size", wrongSubgroup},
          {"error.binding_limits", bindingLimits},
          {"error.kernel_faults", kernelFaults, true},
          {"error.kernel_never_ends", neverEnds, true},
          {"error.event_never_comes", eventNeverComes, true}};
}

} // namespace tilewright::cts
