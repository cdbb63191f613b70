// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host programs: the part of a program that allocates, branches and dispatches,
// compiled to an ELF shared object that imports nothing (docs/abi.md).
//
//   // module: a program after `place` (docs/ir.md, section 1)
//   FailureOr<HostProgram> host = compileHost(module, options);
//
// What the manifest needs comes with it: functions, constants and dispatches,
// each in the order of the numbers that the code uses.

#ifndef TILEWRIGHT_TARGET_HOST_HOST_H
#define TILEWRIGHT_TARGET_HOST_HOST_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LLVM.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
class DialectRegistry;
} // namespace mlir

namespace tilewright {

class CompileObserver;

/// A dispatch's number, if the kernel function has it as an integer attribute;
/// otherwise kernels are numbered in the order in which the module holds them.
inline constexpr llvm::StringLiteral kDispatchIdAttr = "tilewright.dispatch_id";
/// The same of a constant tensor.
inline constexpr llvm::StringLiteral kConstantIdAttr = "tilewright.constant_id";

/// On a tensor.insert_slice whose source a dispatch wrote where it goes.
inline constexpr llvm::StringLiteral kInPlaceAttr = "tilewright.in_place";

/// An object file with CPU kernels, to be linked into the host program.
struct KernelObject {
  /// Variant names as in the manifest; each is a symbol of the object.
  std::vector<std::string> kernels;
  std::string bytes;
};

struct HostOptions {
  std::string triple = "x86_64-unknown-linux-gnu";
  /// LLVM's processor and features for host code.
  std::string cpu = "x86-64";
  std::string features;
  bool debugInfo = false;
  /// Also fill HostProgram::llvm and assembly.
  bool keepText = false;
  std::vector<KernelObject> objects;
  /// Unless empty, also fill HostProgram::object: its symbols are
  /// `<prefix>_query` and, for each CPU kernel, `<prefix>_<kernel>`.
  std::string objectPrefix;
  /// Set by compileReference.
  bool reference = false;
  /// Of compileReference: also functions with error bounds (BoundErrors.h).
  bool bounds = false;
  /// Null: nobody looks on.
  CompileObserver *observer = nullptr;
};

/// A public function, for the manifest: tensors, scalars and memrefs
/// ("buffer") in the order of the source.
struct HostFunction {
  std::string name;
  mlir::FunctionType type;
};

/// A constant that is a result of a function which runs at load.
struct LoadedConstant {
  size_t function; // index in HostProgram::loadFunctions
  int64_t result;
  mlir::ShapedType type;
  std::string identity; // IdentifyLoadedPass's; empty without
};

/// The constants of a program, numbered one after the other: first those with data.
struct HostConstants {
  /// getConstantBytes gives the section of those that are no parameters.
  std::vector<mlir::ElementsAttr> data;
  /// For each of `data`: nothing but functions that run at load reads it.
  std::vector<bool> onlyAtLoad;
  std::vector<LoadedConstant> loaded;
};

struct HostProgram {
  /// The ELF shared object.
  std::string bytes;
  std::string triple;
  std::vector<HostFunction> functions;
  /// Functions without arguments that the runtime calls when it loads the program, in
  /// this order; the object has them behind `functions`.
  std::vector<HostFunction> loadFunctions;
  HostConstants constants;
  /// Index is the dispatch's number: names of the kernel functions.
  std::vector<std::string> dispatches;
  /// The same code as a relocatable object, see HostOptions::objectPrefix.
  std::string object;
  /// What that object defines for others.
  std::vector<std::string> objectSymbols;
  /// Symbols that the user declared external, or that kernels call of a library, and the
  /// code uses.
  std::vector<std::string> imports;
  /// Libraries that kernels call, and which functions of each.
  std::map<std::string, std::set<std::string>> libraries;
  std::string llvm;
  std::string assembly;
};

/// Compiles the host functions of a program. The module is not changed.
mlir::FailureOr<HostProgram> compileHost(mlir::ModuleOp program,
                                         const HostOptions &options);

/// Loads what compileHost uses into `registry`.
void registerHostDialects(mlir::DialectRegistry &registry);

/// Passes from the program form to the LLVM dialect (host functions only; the
/// kernels must have been removed or be declarations).
void buildHostLowering(mlir::OpPassManager &pm, bool debugInfo);

/// Whether a constant's values are in the parameter file: a resource of which the
/// text has no data.
bool isParameter(mlir::Attribute constant);

/// Dense little-endian elements of a constant as the runtime keeps them (i1:
/// one byte each), or failure where the type has no such form.
mlir::FailureOr<std::string> getConstantBytes(mlir::ElementsAttr constant);

/// The runtime's number of an element type (program_abi.h), or 0.
int32_t getDTypeNumber(mlir::Type type);
/// The manifest's name of an element type, or "".
llvm::StringRef getDTypeName(mlir::Type type);

/// Links objects into a shared object that exports tilewright_program_query
/// and imports no more than `allowedImports`; those used are returned in
/// `imports`.
mlir::FailureOr<std::string>
linkHost(mlir::Location loc, llvm::ArrayRef<llvm::StringRef> objects,
         llvm::ArrayRef<std::string> allowedImports,
         std::vector<std::string> &imports, bool debugInfo);

/// Links objects into one relocatable object. Only the symbols of `exported`
/// (old name, new name) stay visible outside; undefined ones stay undefined.
mlir::FailureOr<std::string>
linkRelocatable(mlir::Location loc, llvm::ArrayRef<llvm::StringRef> objects,
                llvm::ArrayRef<std::pair<std::string, std::string>> exported);

/// The support functions and the builtins, as object files for `triple`. `reference`
/// chooses the support functions of the reference target.
llvm::SmallVector<llvm::StringRef> getHostSupportObjects(llvm::StringRef triple,
                                                         bool reference);

} // namespace tilewright

#endif
