// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a driver (cpu, cuda, vulkan) implements, and all that core knows of it.
//
//   Driver ── enumerate ──▶ DeviceInfo…         (a missing driver is an answer)
//     └─ open ──▶ DriverDevice ── facts, allocate, load, streams, events
//                   ├─ DriverBuffer             one device allocation
//                   ├─ DriverModule             loaded code with its kernels
//                   ├─ DriverStream             an in-order queue
//                   └─ DriverEvent              a point in a stream, with a
//                   time
//
// Division of labour. Core checks everything that the manifest can tell (rank,
// types, sizes, alignment, overlap, grid and shared-memory limits through
// facts), caches allocations, evaluates expressions, counts references. A
// driver only does what it is told, and may assume:
//  * offsets and sizes lie inside their buffers; no extent of a grid is zero;
//    copies of zero bytes do not arrive;
//  * objects come back to the device that made them, and are destroyed before
//    it; buffers and modules are destroyed only when no stream has unfinished
//    work on them (or the device is lost); events at any time;
//  * a stream is used by one thread at a time; everything else may be called
//    from any thread at any time.
//
// Errors. Each function returns a Status; asynchronous failures come from
// `synchronize`, `wait`, or whichever call meets them first. When the device is
// gone (a fault in a kernel, a deadline passed, the driver says so) the driver
// answers StatusCode::DeviceLost with the first reason from then on, at once,
// and destruction neither blocks nor frees what the device may still touch. A
// driver that can stop its work (cpu and ptxsim do, between two blocks) then does
// so and frees everything when the work has ended.
#ifndef TILEWRIGHT_CORE_DRIVER_H
#define TILEWRIGHT_CORE_DRIVER_H

#include "status.h"
#include "tilewright/program_abi.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

struct tilewright_vulkan_device; // tilewright.h

namespace tilewright::runtime {

using Extent3 = std::array<uint32_t, 3>;

/// No deadline, for the timeouts below (nanoseconds from now).
constexpr uint64_t kForever = UINT64_MAX;
/// How long waits without a deadline of their own (reading a tensor back inside
/// a program, staging memory, destruction) take before the device is given up.
constexpr uint64_t kDefaultTimeoutNs = 600ull * 1000 * 1000 * 1000;

//===----------------------------------------------------------------------===//
// Kernels and modules
//===----------------------------------------------------------------------===//

/// One parameter of a kernel: a buffer, or a scalar of the given type.
struct KernelParam {
  bool isBuffer = false;
  tw_dtype scalarType = TW_I64; // TW_I32, TW_I64, TW_F32, TW_F64 (and 8, 16
                                // bit ones where the target passes them)
  size_t slots = 1; // a structure by value: 64-bit words, one behind the other
};

/// 64-bit words of a tensor map, which is a structure by value.
constexpr size_t kTensorMapSlots = 16;

/// A kernel as the manifest describes it; constant for the module's life.
struct KernelDesc {
  std::string entry;               // name of the entry point in the module
  std::vector<KernelParam> params; // buffers first, then scalars
  Extent3 block = {1, 1, 1};       // threads per block
  Extent3 cluster = {1, 1, 1};     // blocks per cluster
  uint32_t shared = 0;             // dynamic shared memory, bytes per block
  uint32_t subgroup = 0;           // required subgroup size; 0: any
  bool scalarsInUniform = false;   // vulkan: uniform buffer, not push constants
  bool dependentLaunch = false;    // cuda: waits itself for kernels before it

  size_t numBuffers() const {
    size_t n = 0;
    for (const KernelParam &p : params)
      n += p.isBuffer;
    return n;
  }
  /// 64-bit words of all scalars.
  size_t numScalars() const {
    size_t n = 0;
    for (const KernelParam &p : params)
      n += p.isBuffer ? 0 : p.slots;
    return n;
  }
};

enum class ModuleKind {
  Ptx,   // text, without terminating NUL
  Cubin, // a CUDA ELF image
  Spirv, // words of 4 bytes
  Native // no bytes: functions of the host program, see nativeKernels
};

/// Code to load. All pointers are borrowed for the duration of the call.
struct ModuleDesc {
  ModuleKind kind = ModuleKind::Native;
  std::string name; // section of the artifact, for messages
  const uint8_t *bytes = nullptr;
  size_t size = 0;
  std::vector<KernelDesc> kernels;
  std::vector<tw_cpu_kernel> nativeKernels; // Native: one per kernel
  std::shared_ptr<void> nativeCode; // Native: what the functions live in
};

/// A number that a driver's compiler gives for a kernel, in the driver's words.
struct KernelStatistic {
  std::string name, description;
  double value = 0; // exact up to 2^53
};

/// What the code of one kernel takes of a device; -1: the driver does not say.
struct KernelResources {
  int64_t registers = -1;       // of 32 bits, per thread
  int64_t scalarRegisters = -1; // of 32 bits, per subgroup, beside those
  int64_t localBytes = -1;      // per thread, in memory: spills and arrays
  int64_t sharedBytes = -1;     // per block, declared in the code
  int64_t maxThreads = -1;      // per block
  int64_t codeBytes = -1;
  std::vector<KernelStatistic> statistics; // all that the driver names itself
};

class DriverModule {
public:
  virtual ~DriverModule() = default;
  /// What kernel number `kernel` takes on this device; needs no stream. May
  /// compile the kernel, with the checks of a first launch.
  virtual Status resources(uint32_t kernel, KernelResources &result) {
    (void)kernel, (void)result;
    return unsupported("this device does not say what its kernels take");
  }
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// One allocation in device memory.
class DriverBuffer {
public:
  virtual ~DriverBuffer() = default;
  /// Bytes that may be addressed, at least what was asked for.
  virtual uint64_t size() const = 0;
  /// The device address, or 0 where buffers have none (then every buffer is
  /// aligned to 256 bytes or more).
  virtual uint64_t address() const { return 0; }
  /// The memory as the host sees it when host and device share it coherently
  /// (cpu), else null. Core then maps tensors in place.
  virtual void *hostPointer() const { return nullptr; }
  /// What the driver's own API calls the memory (the address; vulkan: a
  /// VkBuffer), and where this buffer begins in it, bytes.
  virtual uint64_t native() const { return address(); }
  virtual uint64_t nativeOffset() const { return 0; }
};

/// The bytes that one buffer parameter may touch.
struct BufferBinding {
  DriverBuffer *buffer = nullptr;
  uint64_t offset = 0;
  uint64_t size = 0; // bytes; rounded up to 16 where the buffer has them
  bool written = false;
};

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

/// A point in a stream.
class DriverEvent {
public:
  virtual ~DriverEvent() = default;
  /// Whether the point has been reached; true for an event never recorded.
  virtual Status query(bool &done) = 0;
  /// Waits until it is reached. A deadline that passes is DeadlineExceeded and
  /// leaves the device lost.
  virtual Status wait(uint64_t timeoutNs) = 0;
  /// Device time from `start` to this event; both recorded with timing and
  /// reached.
  virtual Status elapsedSince(DriverEvent &start, uint64_t &nanoseconds) = 0;
};

struct LaunchArgs {
  Extent3 grid = {1, 1, 1};               // blocks
  const BufferBinding *buffers = nullptr; // numBuffers() of the kernel
  size_t numBuffers = 0;
  /// The scalars, twice: one 64-bit slot each (sign- or zero-extended; a
  /// float's bits), and packed in order at natural alignment.
  const uint64_t *scalars = nullptr;
  size_t numScalars = 0;
  const uint8_t *packedScalars = nullptr;
  size_t packedSize = 0;
};

/// An in-order queue. Each call enqueues and returns without waiting for the
/// device, except where the driver must stage or where the text says so. Work
/// in one stream sees all earlier work of that stream.
class DriverStream {
public:
  virtual ~DriverStream() = default;

  /// Host to device. `source` may be reused as soon as the call returns (the
  /// driver stages; it may split and wait to bound its staging memory).
  virtual Status write(DriverBuffer &target, uint64_t offset,
                       const void *source, uint64_t size) = 0;
  /// Device to host. `target` must live, and holds the bytes, when the stream
  /// has been synchronised.
  virtual Status read(void *target, DriverBuffer &source, uint64_t offset,
                      uint64_t size) = 0;
  /// Repeats a pattern of 1, 2 or 4 bytes; offset and size are multiples of it.
  virtual Status fill(DriverBuffer &target, uint64_t offset, uint64_t size,
                      uint32_t pattern, uint32_t patternSize) = 0;
  /// Ones bits in memory that is handed out. A driver that checks accesses puts
  /// them there without work of the device, which would order kernels.
  virtual Status poison(DriverBuffer &target, uint64_t offset, uint64_t size) {
    return fill(target, offset, size, 0xff, 1);
  }
  /// Work from here on may touch the first `size` bytes of the buffer alone, and
  /// finds nothing in them: the buffer serves another purpose now. For drivers
  /// that check accesses; never fails otherwise.
  virtual Status beginUse(DriverBuffer &buffer, uint64_t size) {
    (void)buffer, (void)size;
    return Status::ok();
  }
  /// Device to device; the ranges do not overlap.
  virtual Status copy(DriverBuffer &target, uint64_t targetOffset,
                      DriverBuffer &source, uint64_t sourceOffset,
                      uint64_t size) = 0;
  /// Runs kernel number `kernel` of the module.
  virtual Status launch(DriverModule &module, uint32_t kernel,
                        const LaunchArgs &args) = 0;

  virtual Status record(DriverEvent &event) = 0;
  /// Later work of this stream waits for the event (of any stream).
  virtual Status waitFor(DriverEvent &event) = 0;
  /// Gives what is enqueued to the device without waiting, for drivers that
  /// batch commands.
  virtual Status flush() { return Status::ok(); }
  /// Waits until all work is done, and reports what failed. A deadline that
  /// passes is DeadlineExceeded and leaves the device lost. After any failure
  /// nothing is written to the targets of earlier reads.
  virtual Status synchronize(uint64_t deadlineNs) = 0;
  /// The queue in the driver's own API: cuda, the CUstream.
  virtual Status native(uint64_t &handle) const {
    (void)handle;
    return unsupported("this driver's streams have no handle of their own");
  }

  /// The deadline of every other call that has to wait for the device: for room
  /// to stage a transfer, or because a simulated device works inside the call.
  std::atomic<uint64_t> timeoutNs{kDefaultTimeoutNs};
};

//===----------------------------------------------------------------------===//
// Devices and drivers
//===----------------------------------------------------------------------===//

/// A dense or strided tensor and the box that one copy of a tile moves. Arrays
/// begin with the innermost dim; strides, in bytes, with the next one.
struct TensorMapDesc {
  tw_dtype dtype = TW_F32;
  uint64_t address = 0;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box;
  /// Bytes of the swizzle pattern: 0, 32, 64 or 128.
  unsigned swizzle = 0;
  /// What is outside the tensor reads as NaN, not zero.
  bool fillsNaN = false;
  /// Of images (im2col) instead of a box: corners along the dims of space, steps along
  /// all dims, pixels of a copy and channels of each.
  struct Image {
    std::vector<int32_t> lower, upper;
    std::vector<uint32_t> steps;
    uint32_t pixels = 0, channels = 0;
    bool operator<(const Image &other) const {
      return std::tie(lower, upper, steps, pixels, channels) <
             std::tie(other.lower, other.upper, other.steps, other.pixels,
                      other.channels);
    }
  };
  std::optional<Image> image = std::nullopt;
};

class DriverDevice {
public:
  virtual ~DriverDevice() = default;

  /// Ok, or DeviceLost with the first reason.
  virtual Status lost() const { return Status::ok(); }
  /// Gives the device up: waits in other threads end soon. The first reason
  /// stays.
  virtual void lose(const std::string &reason) { (void)reason; }

  /// The value of a `["device", key]` expression: subgroup_size,
  /// multiprocessors, shared_memory (bytes per block, opt-in included),
  /// max_grid_x/y/z, max_block_x/y/z, max_threads (per block), max_binding
  /// (bytes), memory (bytes), sm, ptx, spirv, x86-64-v3, feature:<name>, …
  /// Unknown is 0.
  virtual int64_t fact(std::string_view key) const = 0;
  /// Whether this device meets one entry of the manifest's "requires". The
  /// default wants fact(key) >= value; drivers override it where a fact is not
  /// a minimum (an architecture-specific "sm_90a") or a better reason is known.
  virtual Status checkRequirement(std::string_view key, int64_t value) const {
    int64_t have = fact(key);
    if (have >= value)
      return Status::ok();
    return unsupported("the program requires " + std::string(key) + " " +
                       std::to_string(value) + "; this device has " +
                       std::to_string(have));
  }

  /// At least `size` bytes (never 0) aligned to 256, contents undefined.
  virtual Status allocate(uint64_t size,
                          std::unique_ptr<DriverBuffer> &result) = 0;
  /// Whether importBuffer may take this memory, as far as the driver can tell;
  /// core asks first.
  virtual Status checkImport(uint64_t native, uint64_t size) {
    (void)native, (void)size;
    return Status::ok();
  }
  /// Adopts memory that the caller owns and keeps alive: cpu, a host address;
  /// cuda, a CUdeviceptr; vulkan, a VkBuffer.
  virtual Status importBuffer(uint64_t native, uint64_t size,
                              std::unique_ptr<DriverBuffer> &result) {
    (void)native, (void)size, (void)result;
    return unsupported("this driver does not adopt buffers");
  }

  /// DriverStream::beginUse outside any stream: at once, since nobody uses the
  /// buffer.
  virtual Status beginUse(DriverBuffer &buffer, uint64_t size) {
    (void)buffer, (void)size;
    return Status::ok();
  }

  /// The 128 bytes that a kernel takes for cp.async.bulk.tensor.
  virtual Status encodeTensorMap(const TensorMapDesc &desc,
                                 std::array<uint8_t, 128> &result) {
    (void)desc, (void)result;
    return unsupported("this driver has no tensor maps");
  }

  virtual Status loadModule(const ModuleDesc &desc,
                            std::unique_ptr<DriverModule> &result) = 0;

  virtual Status createStream(std::unique_ptr<DriverStream> &result) = 0;
  /// Adopts the caller's queue: cuda, a CUstream.
  virtual Status importStream(uint64_t native,
                              std::unique_ptr<DriverStream> &result) {
    (void)native, (void)result;
    return unsupported("this driver does not adopt streams");
  }
  virtual Status createEvent(bool timing,
                             std::unique_ptr<DriverEvent> &result) = 0;
};

/// One line of --list-devices.
struct DeviceInfo {
  std::string name;        // "cpu", "cuda:0", "vulkan:1"
  std::string description; // "NVIDIA H200, driver 570.86, 132 SMs, 139 GiB"
  bool available = true;
  std::string reason; // why not, when not
  std::string target; // text for the compiler's --target=, where the driver's
                      // name does not name all that the device can do
  std::string uuid; // 32 hexadecimal digits that tell one device of a kind from
                    // another; empty where the driver does not say
  bool isCpu = false; // computes on this machine's CPU, whatever its driver
  int32_t automatic = 0; // place in the order of "auto", from 1; 0: never
};

/// How a driver is found; every field may be left empty.
struct DriverOptions {
  std::string name;        // name in front of ":0"; cuda serves "ptxsim" too
  std::string libraryPath; // the driver's shared library, instead of the usual
};

class Driver {
public:
  virtual ~Driver() = default;
  virtual const std::string &name() const = 0;
  /// Every device, usable or not. A driver that is not installed gives one
  /// entry, named after the driver, not available, with the reason.
  virtual std::vector<DeviceInfo> enumerate() = 0;
  /// Opens device `index` of enumerate(). The driver outlives its devices.
  virtual Status open(uint32_t index,
                      std::unique_ptr<DriverDevice> &result) = 0;
  /// A device over a context of the caller's (cuda: a CUcontext), and what it
  /// is called.
  virtual Status adoptContext(void *context, DeviceInfo &info,
                              std::unique_ptr<DriverDevice> &result) {
    (void)context, (void)info, (void)result;
    return unsupported("driver " + name() + " has no contexts to adopt");
  }
  /// A device over the caller's VkDevice.
  virtual Status adoptVulkan(const tilewright_vulkan_device &theirs,
                             DeviceInfo &info,
                             std::unique_ptr<DriverDevice> &result) {
    (void)theirs, (void)info, (void)result;
    return unsupported("driver " + name() + " adopts no Vulkan devices");
  }
};

// One factory per driver, each in its own static library (CMake targets
// TilewrightDriverCpu, TilewrightDriverCuda, TilewrightDriverVulkan, linked
// into the runtime where the directory drivers/<name> exists). They never fail:
// a driver that cannot work says why in enumerate().
std::unique_ptr<Driver> createCpuDriver(const DriverOptions &options);
std::unique_ptr<Driver> createCudaDriver(const DriverOptions &options);
std::unique_ptr<Driver> createVulkanDriver(const DriverOptions &options);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_DRIVER_H
