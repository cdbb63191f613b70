// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver keeps: one device, its contexts, and the objects behind the API's handles. One lock guards all of it;
// every exported function takes it (see Exports.cpp).

#ifndef TILEWRIGHT_PTXSIM_DRIVER_STATE_H
#define TILEWRIGHT_PTXSIM_DRIVER_STATE_H

#include "driver/Api.h"
#include "driver/Queue.h"
#include "machine/Launch.h"
#include "machine/LoadedModule.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

struct CUstream_st {
  CUcontext context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  tilewright::ptxsim::OperationRef last;
};

struct CUevent_st {
  CUcontext context = nullptr;
  unsigned flags = 0;
  tilewright::ptxsim::OperationRef recorded;
};

struct CUfunc_st {
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  const tilewright::ptxsim::Program *program = nullptr;
  std::string name;
  /// Set by cuFuncSetAttribute; more than 48 KiB of dynamic shared memory needs it.
  uint32_t maxDynamicShared = 0;
  /// Of clusters, by .reqnctapercluster or cuFuncSetAttribute; 0 where nothing is required. More than 8 blocks need leave.
  uint32_t requiredCluster[3] = {0, 0, 0};
  bool nonPortableCluster = false;
};

struct CUmod_st {
  CUcontext context = nullptr;
  CUlibrary library = nullptr;
  std::unique_ptr<tilewright::ptxsim::LoadedModule> loaded;
  std::map<std::string, std::unique_ptr<CUfunc_st>, std::less<>> functions;
};

struct CUlib_st {
  std::unique_ptr<CUmod_st> module;
};

struct CUctx_st {
  unsigned flags = 0;
  unsigned long long id = 0;
  bool isPrimary = false;
  /// The error that a failed launch left; every later call answers it.
  CUresult sticky = CUDA_SUCCESS;
  /// Set without the lock, to end what runs in the context: see ptxsimCancel.
  std::atomic<bool> cancelled{false};
  CUstream_st legacy;
  std::map<uint64_t, std::unique_ptr<CUstream_st>> perThread;
  std::vector<std::unique_ptr<CUstream_st>> streams;
  std::vector<std::unique_ptr<CUevent_st>> events;
  std::vector<std::unique_ptr<CUmod_st>> modules;
  std::map<int, size_t> limits;
};

namespace tilewright::ptxsim {

/// Memory of the host that kernels can access: pinned, registered (the program's own) or managed.
struct HostAllocation {
  enum Kind : uint8_t { Pinned, Registered, Managed } kind = Pinned;
  /// Null when registered.
  std::unique_ptr<uint8_t[]> bytes;
  size_t size = 0;
  unsigned flags = 0;
  CUcontext context = nullptr;
};

/// What a launch was, for ordering later ones.
struct LaunchRecord {
  uint64_t stream = 0;
  uint64_t index = 0;
  /// A kernel's index. Of memory that is handed out again, that of the kernel of the same stream that had used it, which may
  /// still do. 0: of none.
  uint64_t kernel = 0;
  /// Launched as a programmatic dependent.
  bool dependent = false;
};

struct Driver {
  std::recursive_timed_mutex mutex;
  bool initialised = false;
  MachineOptions options;
  std::unique_ptr<DeviceMemory> memory;
  FindingLog findings;
  Queue queue;
  std::unique_ptr<CUctx_st> primary;
  unsigned primaryUses = 0;
  unsigned primaryFlags = 0;
  std::vector<std::unique_ptr<CUctx_st>> contexts;
  std::vector<std::unique_ptr<CUlib_st>> libraries;
  std::unordered_set<const void *> live;
  std::map<uintptr_t, HostAllocation> hostAllocations;
  std::vector<LaunchRecord> launches;
  uint64_t nextStream = 1;
  unsigned long long nextContext = 1;
  uint64_t poolThreshold = 0;

  bool isLive(const void *handle) const { return live.count(handle) != 0; }
};

Driver &driver();

/// The calling thread's stack of contexts.
std::vector<CUcontext> &contextStack();
/// When what the calling thread runs is given up; see ptxsimSetDeadline.
uint64_t &threadDeadline();
/// Whether the running entry is the variant with a default stream per thread.
bool &perThreadDefault();

/// The current context, or the error that calls without one get; a context that a launch has spoilt answers its error.
CUresult currentContext(CUcontext &context);
/// The stream a handle means in the current context.
CUresult resolveStream(CUstream handle, CUstream &stream);

/// Queues work on the stream, after what the stream's rules say.
OperationRef enqueue(CUstream stream, std::function<void(const Operation &)> work,
                     OperationKind kind = OperationKind::Work, std::vector<OperationRef> dependencies = {});
void synchroniseContext(CUcontext context);
/// Ends every object of the context; memory too.
void destroyContents(CUcontext context);

/// The mapped host memory that holds the pointer, or null; and its end.
HostAllocation *findHostAllocation(const void *pointer);
void releaseHost(uintptr_t address);

/// All findings so far to the file that PTXSIM_REPORT names.
void writeReport();
/// Records a failure of asynchronous work and prints the new findings.
void failContext(CUcontext context, CUresult error);
void reportFindings();

/// A program's code. One in memory says itself where it ends; one from a file may be cut off, so its size is known, and
/// a byte of zero stands behind it.
struct Image {
  const uint8_t *bytes = nullptr;
  uint64_t size = UINT64_MAX;
  bool isFile() const { return size != UINT64_MAX; }
};

/// The PTX text of an image: plain text, or the best PTX in a fatbin.
CUresult extractPtx(const Image &image, std::string &text, std::string &why);

/// In the order of the stream (null: at once), the allocation becomes one buffer of undefined contents.
CUresult beginUse(CUdeviceptr address, uint64_t bytes, CUstream stream);
/// A fill with ones bits that orders no launches.
CUresult poison(CUdeviceptr address, uint64_t bytes, CUstream stream);

CUresult loadModule(const Image &image, CUcontext context, const void *owner, CUmod_st &module, std::string &log);
CUresult findFunction(CUmod_st &module, const char *name, CUfunction &function);

CUresult deviceAttribute(int attribute, int &value);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_DRIVER_STATE_H
