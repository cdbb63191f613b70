// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of an artifact, loaded for one device: its functions can be called
// and its dispatches launched.
//
//   load     select the program (driver, target, requirements), bind device
//            facts, check static limits, load the host code, place constants,
//            run the functions that compute others from these
//   call     check arguments ─▶ host code ─▶ dispatch … ─▶ check results
//   launch   check operands ─▶ checks ─▶ guard picks the variant ─▶ grid ─▶
//   driver
//
// Device code is loaded when its first variant is chosen.
#ifndef TILEWRIGHT_CORE_PROGRAM_H
#define TILEWRIGHT_CORE_PROGRAM_H

#include "core/host_module.h"
#include "core/manifest.h"
#include "core/view.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tilewright::runtime {

class ParameterFile;

struct ProgramOptions {
  std::string target;     // exactly this target of the artifact; empty: any
  bool reference = false; // the reference program instead of the others
  std::vector<std::string> externalLibraries;
  /// The parameter file, or the folder of the one that the artifact names; empty:
  /// the current folder.
  std::string parameters;
  /// Refuse parameters whose SHA-256 is not that of the artifact; reads all of them.
  bool verifyParameters = false;
  /// Place no constants: kernels can be asked about, functions not called.
  bool withoutConstants = false;
};

/// An argument or result of a call: a view, or a scalar's bits (integers sign-
/// extended, floats zero-extended).
struct CallValue {
  ValueKind kind = ValueKind::Scalar;
  View view;
  uint64_t bits = 0;
};

/// What one call has to do, as far as the manifest says; -1: unknown.
struct WorkEstimate {
  int64_t flops = -1;
  int64_t bytes = -1;
  std::vector<int64_t> reductions; // per result
};

using TextSink = std::function<void(std::string_view)>;

/// What a device launches: blocks along each axis, bytes of one binding (0: any).
struct LaunchLimits {
  int64_t grid[3];
  int64_t binding;
};

/// Thread-safe; calls on one stream take turns.
class Program {
public:
  static Status load(std::shared_ptr<Device> device,
                     std::shared_ptr<const Artifact> artifact,
                     const ProgramOptions &options,
                     std::shared_ptr<Program> &result);
  /// Waits for the streams that still run its kernels.
  ~Program();

  const ProgramDesc &desc() const { return program; }
  const std::shared_ptr<Device> &device() const { return owner; }

  /// Calls function number `function`. The results are ready when the stream
  /// has been synchronised. `results` has one element per result.
  Status call(size_t function, Stream &stream, const CallValue *args,
              size_t numArgs, CallValue *results, size_t numResults);
  /// Launches one dispatch by itself.
  Status launch(size_t dispatch, Stream &stream, const View *const *views,
                size_t numViews, const uint64_t *scalars, size_t numScalars);
  Status estimate(size_t function, const CallValue *args, size_t numArgs,
                  WorkEstimate &result) const;
  /// What the kernel of a variant takes on the device; needs no stream.
  Status resources(size_t dispatch, size_t variant, KernelResources &result);

  const std::vector<View> &constants() const { return constantViews; }

  /// A stream of the program's own, for calls without one.
  Status ownStream(std::shared_ptr<Stream> &result);

  void setPrintSink(TextSink sink);
  /// One line per launch: dispatch, variant, grid.
  void setTraceSink(TextSink sink);
  void print(std::string_view text);

private:
  // One module of device code; the variants that live in it are its kernels.
  struct ModuleSlot {
    std::string section; // empty: functions of the host program
    std::vector<KernelDesc> kernels;
    std::mutex mutex;
    bool tried = false;
    Status status;
    std::unique_ptr<DriverModule> module;
  };
  struct VariantPlace {
    int slot = -1; // -1: can never be chosen on this device
    uint32_t kernel = 0;
  };

  Program() = default;
  Status bindVariants();
  Status checkLimits(const VariantDesc &variant) const;
  // program_constants.cpp
  Status placeConstants(const ProgramOptions &options);
  Status openParameters(const ProgramOptions &options,
                        std::shared_ptr<const ParameterFile> &file) const;
  /// Whether its tensors have the values that the program was compiled with.
  Status verifyParameters(const ParameterFile &file) const;
  Status placeParameter(const ConstantDesc &constant,
                        const std::shared_ptr<const ParameterFile> &file,
                        Stream &upload, View &view);
  Status placeSection(const ConstantDesc &constant, Stream &upload, View &view);
  /// Takes what another program has on the device; whether functions have to run for the rest.
  bool takeShared(const ParameterFile *file);
  /// Runs the functions of `at_load` of which something is missing; their results are constants.
  Status computeConstants(Stream &stream);
  /// From here on, others find those that they would place or compute likewise.
  void shareConstants(const ParameterFile *file);
  /// Calls function `number` of the host program with arguments of types `inputs`;
  /// `values` has room for the results. `where` is in front of errors that a later
  /// synchronisation finds.
  Status invoke(size_t number, const std::string &where, Stream &stream,
                const std::vector<ValueType> &inputs, const CallValue *args,
                const std::vector<ValueType> &results, CallValue *values);
  Status checkArguments(const FunctionDesc &function, const CallValue *args,
                        size_t numArgs) const;
  Status chooseVariant(size_t dispatch, const ExpressionValues &values,
                       size_t &variant) const;
  Status requireModule(ModuleSlot &slot);
  void noteStream(Stream &stream);

  // Destroyed from the last to the first: modules before host code and device.
  std::shared_ptr<Device> owner;
  std::shared_ptr<const Artifact> artifact;
  ProgramDesc program;
  std::shared_ptr<HostModule> host; // a lost device may outlive the program
  LaunchLimits limits;
  std::vector<std::unique_ptr<ModuleSlot>> slots;
  std::vector<std::vector<VariantPlace>> places; // [dispatch][variant]
  std::vector<View> constantViews; // by number
  bool withoutConstants = false;

  std::mutex mutex; // of what follows
  std::shared_ptr<Stream> stream;
  std::vector<std::weak_ptr<Stream>> usedOn;
  TextSink printSink, traceSink;
};

/// A scalar as the manifest's type sees it: integers sign-extended from their
/// width (i1: 0 or 1), floats zero-extended.
int64_t normaliseScalar(tw_dtype dtype, uint64_t bits);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_PROGRAM_H
