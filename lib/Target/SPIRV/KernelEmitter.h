// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns one kernel in thread form (docs/ir.md, section 4) into a spirv.module.
//
// The idea: thread form is small, so each op is rewritten by hand in one walk,
// in program order, and values are kept as *parts*: the SPIR-V scalars that
// stand for a value. An index is one i32, a bool one spirv bool, a bf16 one i16
// (its bits), and vector<8xf16>, for which Vulkan has no type, eight f16.
// SPIR-V vectors therefore exist only between a memory access and its parts:
//
//   %v = vector.load %a[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
//   %x = vector.extract %v[2] : f32 from vector<4xf32>
// becomes
//   %p = spirv.AccessChain %a_vec4[0, %i / 4]
//   %w = spirv.Load "StorageBuffer" %p : vector<4xf32>
//   %x = spirv.CompositeExtract %w[2]
//
// Putting parts back together (`construct`) finds a vector that was just taken
// apart and uses it, so a copy of 16 bytes stays one load and one store. What
// is left unused is erased at the end.
//
// The file KernelEmitter.cpp drives; the other files of this folder each hold
// the ops of one kind.

#ifndef TILEWRIGHT_LIB_TARGET_SPIRV_KERNELEMITTER_H
#define TILEWRIGHT_LIB_TARGET_SPIRV_KERNELEMITTER_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright::spirv_target {

/// The SPIR-V scalars that stand for one value of thread form.
using Parts = llvm::SmallVector<mlir::Value, 4>;

/// What an emit function says about an op.
enum class Outcome {
  Done,
  Failed,  // an error has been emitted
  Unknown, // not an op of this kind
};

/// How one memory access is cut into accesses that SPIR-V has.
struct AccessShape {
  mlir::Type storage;   // scalar as it is in memory: i8 for i1, i16 for bf16
  mlir::Type pointee;   // what one access moves: scalar, vector, or u32 words
  int64_t elements = 1; // thread-form elements per access
};

/// A memref of the kernel and the variables behind it.
struct Memory {
  mlir::Type element;  // of the memref
  bool shared = false; // Workgroup, else StorageBuffer
  int64_t size = 0;    // elements, where static
  int64_t chunk = 1;   // shared: elements per vector of the array
  unsigned binding = 0;
  bool read = false, written = false;
  /// The variable for each type that is accessed (one entry where shared), and
  /// its address at the top of the function.
  llvm::MapVector<mlir::Type, mlir::Value> variables;
};

class KernelEmitter {
public:
  KernelEmitter(mlir::func::FuncOp kernel, TargetAttr target);

  /// Builds the module before the kernel. Errors are emitted at the culprit.
  mlir::FailureOr<mlir::spirv::ModuleOp> emit();

private:
  //===--- KernelEmitter.cpp: walking, values, constants
  //-------------------===//

  mlir::LogicalResult emitBody(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  void eraseUnused();

  Parts parts(mlir::Value value) const;
  Parts parts(mlir::ValueRange values) const;
  mlir::Value part(mlir::Value value) const { return parts(value).front(); }
  void setParts(mlir::Value value, mlir::ArrayRef<mlir::Value> parts);
  /// Gives `results` the parts that stand one after the other in `parts`.
  void setParts(mlir::ValueRange results, mlir::ArrayRef<mlir::Value> parts);

  /// The SPIR-V scalar that a scalar of this type is in registers, or null.
  mlir::Type registerType(mlir::Type type) const;
  /// Appends the part types of a value type; an error where it has none.
  mlir::LogicalResult appendPartTypes(mlir::Operation *op, mlir::Type type,
                                      llvm::SmallVectorImpl<mlir::Type> &types);
  static int64_t numElements(mlir::Type type);
  mlir::Type indexType() const;

  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value constantFloat(mlir::Type type, double value);
  /// The part for element constant `value` of thread form.
  mlir::Value constantPart(mlir::TypedAttr value);

  mlir::Value bitcast(mlir::Value value, mlir::Type type);
  mlir::Value extract(mlir::Value composite, int32_t index);
  mlir::Value construct(mlir::Type type, mlir::ValueRange elements);
  /// The parts as 32-bit words, low part first; their bits fill whole words.
  Parts toWords(mlir::ArrayRef<mlir::Value> parts);
  Parts fromWords(mlir::ArrayRef<mlir::Value> words, mlir::Type type);
  mlir::Value select(mlir::Value c, mlir::Value t, mlir::Value f);

  //===--- Interface.cpp, EntryPoint.cpp: variables, ids, the entry point
  //--===//

  mlir::LogicalResult declareArguments();
  mlir::LogicalResult declareScalars(mlir::ArrayRef<mlir::BlockArgument> args);
  void declareShared();
  mlir::LogicalResult collectAccesses();
  mlir::Value addressOf(mlir::spirv::GlobalVariableOp variable);
  mlir::Value builtin(mlir::spirv::BuiltIn id, int64_t component);
  mlir::LogicalResult declareEntryPoint();

  //===--- Memory.cpp
  //------------------------------------------------------===//

  Outcome emitMemory(mlir::Operation *op);
  mlir::FailureOr<AccessShape> accessShape(mlir::Operation *op,
                                           const Memory &memory, int64_t count,
                                           int64_t alignment);
  mlir::Type storageType(mlir::Type element) const;
  mlir::Value pointer(Memory &memory, const AccessShape &shape,
                      mlir::Value index, int64_t offset);
  mlir::Value exactQuotient(mlir::Value term, int64_t by);
  mlir::Value divideIndex(mlir::Value index, int64_t by, int depth = 4);
  Parts fromStorage(mlir::Value loaded, const AccessShape &shape,
                    mlir::Type element);
  mlir::Value toStorage(mlir::ArrayRef<mlir::Value> elements,
                        const AccessShape &shape, mlir::Type element);

  //===--- Vectors.cpp
  //-----------------------------------------------------===//

  Outcome emitVector(mlir::Operation *op);
  /// The bits of `source` as parts of another type.
  Parts bitcastParts(mlir::ArrayRef<mlir::Value> source, mlir::Type to);

  //===--- Fragments.cpp: cooperative matrices
  //-----------------------------===//

  Outcome emitFragment(mlir::Operation *op);
  Outcome emitFragmentAccess(mlir::Operation *op);
  mlir::Value emitWholeArithmetic(mlir::Operation *op, mlir::ValueRange args);
  mlir::Value emitWholeBody(MapFragmentsOp map, mlir::Type type);
  mlir::Value emitEachComponent(MapFragmentsOp map, mlir::Type type);
  mlir::Value emitFragmentConversion(mlir::Operation *op, mlir::Type type);
  /// A vector of rank 2: a matrix that the subgroup holds.
  static bool isFragment(mlir::Type type);
  mlir::spirv::CooperativeMatrixType
  fragmentType(mlir::Type type, mlir::spirv::CooperativeMatrixUseKHR use) const;
  mlir::Value splatFragment(mlir::Type type, mlir::Value scalar);
  void chooseSigns();
  void useVulkanMemoryModel();

  //===--- Control.cpp
  //-----------------------------------------------------===//

  Outcome emitControl(mlir::Operation *op);
  Outcome emitFor(mlir::scf::ForOp op);
  Outcome emitIf(mlir::scf::IfOp op);
  Outcome emitWhile(mlir::scf::WhileOp op);

  //===--- Subgroup.cpp: ids, barriers, shuffles
  //---------------------------===//

  Outcome emitSubgroup(mlir::Operation *op);
  Outcome emitShuffle(mlir::gpu::ShuffleOp op);
  void emitBarrier();

  //===--- Elementwise.cpp, Integers.cpp, Floats.cpp, Casts.cpp
  //------------===//
  // Elementwise ops. Each handles one scalar: `args` are the operands' parts;
  // null means that the op is not one of theirs.

  Outcome emitElementwise(mlir::Operation *op);
  mlir::Value emitScalar(mlir::Operation *op, mlir::ValueRange args);
  Outcome emitExtended(mlir::Operation *op);
  mlir::Value emitBool(mlir::Operation *op, mlir::ValueRange args);
  mlir::Value emitInteger(mlir::Operation *op, mlir::ValueRange args);
  mlir::Value emitCompare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs,
                          mlir::Value rhs);
  mlir::Value emitBitCount(mlir::Operation *op, mlir::Value value);
  mlir::Value emitFloat(mlir::Operation *op, mlir::ValueRange args);
  mlir::Value emitCompare(mlir::arith::CmpFPredicate predicate, mlir::Value lhs,
                          mlir::Value rhs);
  mlir::Value emitMinMax(mlir::Operation *op, mlir::Value lhs, mlir::Value rhs);
  mlir::Value emitCast(mlir::Operation *op, mlir::Value arg, mlir::Type from,
                       mlir::Type to);
  mlir::Value convertInteger(mlir::Value value, mlir::Type to, bool isSigned);
  mlir::Value widenBF16(mlir::Value bits);
  mlir::Value narrowBF16(mlir::Value value);
  mlir::Value roundToOddF32(mlir::Value f64);

  /// Creates an op of one result and, where `exact`, forbids its contraction.
  template <typename OpTy, typename... Args> mlir::Value make(Args &&...args) {
    auto op = OpTy::create(b, loc, std::forward<Args>(args)...);
    return op->getResult(0);
  }
  template <typename OpTy, typename... Args>
  mlir::Value makeExact(Args &&...args) {
    auto op = OpTy::create(b, loc, std::forward<Args>(args)...);
    if (!contract)
      op->setAttr("no_contraction", b.getUnitAttr());
    return op->getResult(0);
  }

  mlir::func::FuncOp kernel;
  TargetAttr target;
  int64_t version;       // 11, 12, 13
  bool index64;          // tilewright.index_bits = 64
  bool contractAllowed;  // tilewright.fp has "contract"
  bool contract = false; // for the op being emitted
  bool signedSums = false; // fragments of i32 have a sign
  mlir::OpBuilder b;     // inside the function
  mlir::OpBuilder top;   // where the function begins: constants, addresses
  mlir::Location loc;
  mlir::spirv::ModuleOp module;
  mlir::spirv::FuncOp function;
  llvm::SmallVector<mlir::spirv::GlobalVariableOp> interface;
  llvm::DenseMap<mlir::Value, Parts> values;
  llvm::MapVector<mlir::Value, Memory> memories;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
  llvm::DenseMap<std::pair<uint32_t, int64_t>, mlir::Value> builtins;
};

} // namespace tilewright::spirv_target

#endif
