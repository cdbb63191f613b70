// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block form with the arguments of the ABI:
//
//   func.func private @k(%a: memref<?x8xf32>, %s: f32, %b: memref<?xi1>)
//     %n = memref.dim %a, %c0
//
//   func.func private @k(%a: memref<?x8xf32>, %b: memref<?xi8>,
//                        %n: index, %m: index, %s: f32)
//       attributes {tilewright.scalars = [#tilewright.dim<0, 0>,
//                     #tilewright.dim<1, 0>, #tilewright.host_scalar<0>]}
//
// Elements of i1 are bytes in memory, but vectors of i1 are bits to LLVM, so
// they are read and written as i8.

#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright {
#define GEN_PASS_DEF_FLATTENARGUMENTSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static Type withI8(Type type) {
  auto i8 = IntegerType::get(type.getContext(), 8);
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(vector.getShape(), i8);
  return i8;
}

/// Reads and writes a buffer of i8 where it was one of i1.
static LogicalResult widenAccess(Operation *op, Value buffer) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  if (isa<memref::DimOp>(op))
    return success();
  if (isa<memref::LoadOp, vector::TransferReadOp, vector::LoadOp>(op)) {
    Value result = op->getResult(0);
    Type narrow = result.getType();
    if (auto read = dyn_cast<vector::TransferReadOp>(op))
      read.getPaddingMutable().assign(arith::ExtUIOp::create(
          builder, loc, withI8(read.getPadding().getType()), read.getPadding()));
    result.setType(withI8(narrow));
    builder.setInsertionPointAfter(op);
    auto bits = arith::TruncIOp::create(builder, loc, narrow, result);
    result.replaceAllUsesExcept(bits, bits);
    return success();
  }
  if (auto gather = dyn_cast<vector::GatherOp>(op)) {
    Type narrow = gather.getType();
    gather.getPassThruMutable().assign(arith::ExtUIOp::create(
        builder, loc, withI8(narrow), gather.getPassThru()));
    gather.getResult().setType(cast<VectorType>(withI8(narrow)));
    builder.setInsertionPointAfter(op);
    auto bits = arith::TruncIOp::create(builder, loc, narrow, gather);
    gather.getResult().replaceAllUsesExcept(bits, bits);
    return success();
  }
  // The stored value is the first operand of every store.
  if (isa<memref::StoreOp, vector::TransferWriteOp, vector::StoreOp>(op) &&
      op->getOperand(0) != buffer) {
    Value value = op->getOperand(0);
    op->setOperand(0, arith::ExtUIOp::create(builder, loc,
                                             withI8(value.getType()), value));
    return success();
  }
  return op->emitOpError("cannot access a buffer of i1 on the CPU");
}

/// Sorts the arguments into buffers and scalars.
static LogicalResult sortArguments(func::FuncOp func, SmallVectorImpl<BlockArgument> &buffers,
                                   SmallVectorImpl<BlockArgument> &scalars) {
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      scalars.push_back(argument);
      continue;
    }
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)) ||
        type.getMemorySpace())
      return func.emitOpError() << "argument " << argument.getArgNumber()
                                << " has type " << type
                                << "; a buffer is a strided memref in global "
                                   "memory";
    buffers.push_back(argument);
  }
  return success();
}

namespace {
/// The arguments that a kernel gets, behind its own until nothing uses those.
struct NewArguments {
  explicit NewArguments(Block &entry) : entry(entry), builder(entry.getParentOp()) {}

  Value add(Type type, Location loc) {
    types.push_back(type);
    return entry.addArgument(type, loc);
  }
  Value addScalar(Attribute what, Type type, Location loc) {
    meaning.push_back(what);
    return add(type, loc);
  }
  /// The sizes, strides and offset of a buffer that are not known; the sizes are returned.
  SmallVector<Value> addLayout(unsigned number, BlockArgument buffer) {
    MLIRContext *context = builder.getContext();
    Type index = builder.getIndexType();
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<Value> sizes(type.getRank());
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        sizes[d] = addScalar(DimAttr::get(context, number, d), index, buffer.getLoc());
    if (type.getLayout().isIdentity())
      return sizes;
    auto [strides, offset] = type.getStridesAndOffset();
    for (auto [d, stride] : llvm::enumerate(strides))
      if (ShapedType::isDynamic(stride))
        addScalar(StrideAttr::get(context, number, d), index, buffer.getLoc());
    addScalar(OffsetAttr::get(context, number), index, buffer.getLoc());
    return sizes;
  }

  Block &entry;
  Builder builder;
  SmallVector<Type> types;
  /// Of each scalar.
  SmallVector<Attribute> meaning;
};
} // namespace

/// Gives what uses a buffer its sizes, and bytes where it has elements of i1.
static LogicalResult rewriteUsers(BlockArgument buffer, ArrayRef<Value> sizes) {
  auto type = cast<MemRefType>(buffer.getType());
  for (Operation *user : llvm::make_early_inc_range(buffer.getUsers())) {
    if (auto dim = dyn_cast<memref::DimOp>(user)) {
      std::optional<int64_t> d = dim.getConstantIndex();
      if (!d || *d < 0 || *d >= type.getRank())
        return dim.emitOpError("needs a constant dim in range");
      OpBuilder b(dim);
      Value size = sizes[*d];
      if (!size)
        size = arith::ConstantIndexOp::create(b, dim.getLoc(),
                                              type.getDimSize(*d));
      dim.replaceAllUsesWith(size);
      dim.erase();
      continue;
    }
    if (type.getElementType().isInteger(1) &&
        failed(widenAccess(user, buffer)))
      return failure();
  }
  return success();
}

static LogicalResult flatten(func::FuncOp func) {
  SmallVector<BlockArgument> buffers, scalars;
  if (failed(sortArguments(func, buffers, scalars)))
    return failure();
  Block &entry = func.getBody().front();
  unsigned old = entry.getNumArguments();
  NewArguments arguments(entry);
  SmallVector<Value> bytes;
  for (BlockArgument buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getElementType().isInteger(1))
      type = MemRefType::Builder(type).setElementType(arguments.builder.getI8Type());
    bytes.push_back(arguments.add(type, buffer.getLoc()));
  }
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    SmallVector<Value> sizes = arguments.addLayout(number, buffer);
    if (failed(rewriteUsers(buffer, sizes)))
      return failure();
    buffer.replaceAllUsesWith(bytes[number]);
  }
  for (auto [number, scalar] : llvm::enumerate(scalars))
    scalar.replaceAllUsesWith(
        arguments.addScalar(HostScalarAttr::get(func.getContext(), number),
                            scalar.getType(), scalar.getLoc()));
  entry.eraseArguments(0, old);
  func.setFunctionType(arguments.builder.getFunctionType(arguments.types, {}));
  func.removeArgAttrsAttr();
  func->setAttr(kScalarsAttr, arguments.builder.getArrayAttr(arguments.meaning));
  return success();
}

namespace {
struct FlattenArgumentsPass
    : tilewright::impl::FlattenArgumentsPassBase<FlattenArgumentsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) || func.isExternal() || func->hasAttr(kScalarsAttr))
      return;
    if (func.getNumResults()) {
      func.emitOpError("must be in block form: memrefs in, no results");
      return signalPassFailure();
    }
    if (failed(flatten(func)))
      signalPassFailure();
  }
};
} // namespace
