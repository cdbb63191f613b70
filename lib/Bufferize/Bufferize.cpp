// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-bufferize: every tensor value of a vectorized kernel is a version
// of one argument, so each becomes that argument's memref.
//
//   func.func private @k(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
//     %v = vector.transfer_read %x[%i], %pad
//     %u = vector.transfer_write %v, %o[%i]
//     return %u
//   }
// becomes
//   func.func private @k(%x: memref<?xf32>, %o: memref<?xf32>) {
//     %v = vector.transfer_read %x[%i], %pad
//     vector.transfer_write %v, %o[%i]
//     return
//   }
//
// That is right if every read sees the latest version: a read of an older one,
// after a write, would need a copy and is refused. Upstream's one-shot
// bufferization would decide the same but insert the copy.

#include "tilewright/Bufferize/Bufferize.h"
#include "Irregular.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_BUFFERIZEPASS
#include "tilewright/Bufferize/Passes.h.inc"
} // namespace tilewright

static bool isTensor(Type type) { return isa<TensorType>(type); }

namespace {
class Bufferizer {
public:
  explicit Bufferizer(func::FuncOp kernel)
      : kernel(kernel), b(kernel.getContext()) {}

  LogicalResult run();

private:
  LogicalResult visitBlock(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitFor(scf::ForOp loop);
  LogicalResult visitReturn(func::ReturnOp op);
  LogicalResult visitDim(tensor::DimOp dim);
  /// Of a vector out of a tensor.
  template <typename Op> LogicalResult visitRead(Op read);
  LogicalResult visitSlice(tensor::ExtractSliceOp slice);
  LogicalResult visitExtract(tensor::ExtractOp extract);
  LogicalResult visitWrite(vector::TransferWriteOp write);
  LogicalResult visitInsert(tensor::InsertOp insert);
  LogicalResult visitIrregular(Operation *op);
  LogicalResult visitOther(Operation *op);
  /// The memref of a tensor value; null (and an error) where it is none or
  /// where it is not the latest version.
  Value getBuffer(Operation *op, Value tensor);
  /// `version` is the latest from here on.
  void setVersion(Value version, Value argument) {
    argumentOf[version] = argument;
    latest[argument] = version;
  }

  func::FuncOp kernel;
  OpBuilder b;
  /// Tensor value -> the argument that it is a version of.
  llvm::DenseMap<Value, Value> argumentOf;
  /// Tensor argument -> its latest version, and its memref.
  llvm::DenseMap<Value, Value> latest, buffers;
  SmallVector<Operation *> dead;
};
} // namespace

Value Bufferizer::getBuffer(Operation *op, Value tensor) {
  Value argument = argumentOf.lookup(tensor);
  if (!argument) {
    op->emitOpError("works on a tensor that is no argument of the kernel; it "
                    "would need an allocation");
    return {};
  }
  if (latest.lookup(argument) != tensor) {
    op->emitOpError() << "uses argument "
                      << cast<BlockArgument>(argument).getArgNumber()
                      << " as it was before it was written to; it would need "
                         "a copy";
    return {};
  }
  return buffers.lookup(argument);
}

/// One block of a cluster writes `stored`, as it was to write `op`.
static void keepMark(Operation *op, Operation *stored) {
  if (Attribute mark = op->getAttr(kOneBlockAttr))
    stored->setAttr(kOneBlockAttr, mark);
}

/// A dim is the same in every version.
LogicalResult Bufferizer::visitDim(tensor::DimOp dim) {
  Value argument = argumentOf.lookup(dim.getSource());
  if (!argument)
    return dim.emitOpError("asks for a dim of a tensor that is no argument "
                           "of the kernel");
  Value buffer = buffers.lookup(argument);
  dim.getResult().replaceAllUsesWith(
      memref::DimOp::create(b, dim.getLoc(), buffer, dim.getIndex()));
  dead.push_back(dim);
  return success();
}

template <typename Op> LogicalResult Bufferizer::visitRead(Op read) {
  if (!isTensor(read.getBase().getType()))
    return success();
  Value buffer = getBuffer(read, read.getBase());
  if (!buffer)
    return failure();
  read.getBaseMutable().assign(buffer);
  return success();
}

LogicalResult Bufferizer::visitSlice(tensor::ExtractSliceOp slice) {
  Value buffer = getBuffer(slice, slice.getSource());
  if (!buffer)
    return failure();
  Value view = memref::SubViewOp::create(b, slice.getLoc(), buffer, slice.getMixedOffsets(),
                                         slice.getMixedSizes(), slice.getMixedStrides());
  for (Operation *user : llvm::make_early_inc_range(slice->getUsers())) {
    auto read = dyn_cast<vector::TransferReadOp>(user);
    if (!read)
      return user->emitOpError("uses a slice of a tensor, which reads of vectors alone may");
    read.getBaseMutable().assign(view);
  }
  dead.push_back(slice);
  return success();
}

LogicalResult Bufferizer::visitExtract(tensor::ExtractOp extract) {
  Value buffer = getBuffer(extract, extract.getTensor());
  if (!buffer)
    return failure();
  extract.getResult().replaceAllUsesWith(memref::LoadOp::create(
      b, extract.getLoc(), buffer, extract.getIndices()));
  dead.push_back(extract);
  return success();
}

LogicalResult Bufferizer::visitWrite(vector::TransferWriteOp write) {
  if (!isTensor(write.getBase().getType()))
    return success();
  Value buffer = getBuffer(write, write.getBase());
  if (!buffer)
    return failure();
  auto stored = vector::TransferWriteOp::create(
      b, write.getLoc(), TypeRange(), write.getVector(), buffer, write.getIndices(),
      write.getPermutationMapAttr(), write.getMask(), write.getInBoundsAttr());
  keepMark(write, stored);
  setVersion(write.getResult(), argumentOf.lookup(write.getBase()));
  dead.push_back(write);
  return success();
}

LogicalResult Bufferizer::visitInsert(tensor::InsertOp insert) {
  Value buffer = getBuffer(insert, insert.getDest());
  if (!buffer)
    return failure();
  auto stored = memref::StoreOp::create(b, insert.getLoc(), insert.getScalar(), buffer,
                                        insert.getIndices());
  keepMark(insert, stored);
  setVersion(insert.getResult(), argumentOf.lookup(insert.getDest()));
  dead.push_back(insert);
  return success();
}

LogicalResult Bufferizer::visitIrregular(Operation *op) {
  IRMapping memory;
  for (Value operand : op->getOperands()) {
    Value buffer = isTensor(operand.getType()) ? getBuffer(op, operand) : operand;
    if (!buffer)
      return failure();
    memory.map(operand, buffer);
  }
  if (failed(writeIrregular(b, kernel, op, memory)))
    return failure();
  for (auto [result, written] : llvm::zip_equal(
           op->getResults(), cast<DestinationStyleOpInterface>(op).getDpsInits()))
    setVersion(result, argumentOf.lookup(written));
  dead.push_back(op);
  return success();
}

LogicalResult Bufferizer::visitOther(Operation *op) {
  if (isa<scf::YieldOp>(op) && isa<scf::ForOp>(op->getParentOp()))
    return success(); // visitFor's
  if (isIrregular(op))
    return visitIrregular(op);
  if (llvm::any_of(op->getOperandTypes(), isTensor) ||
      llvm::any_of(op->getResultTypes(), isTensor))
    return op->emitOpError("still works on tensors; it would need an "
                           "allocation or a copy");
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(visitBlock(block)))
        return failure();
  return success();
}

LogicalResult Bufferizer::visit(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return visitFor(loop); })
      .Case([&](func::ReturnOp ret) { return visitReturn(ret); })
      .Case([&](tensor::DimOp dim) { return visitDim(dim); })
      .Case([&](IdentityOp identity) {
        // It kept a copy from being folded, which is a write to memory now.
        identity.getResult().replaceAllUsesWith(identity.getSource());
        dead.push_back(identity);
        return success();
      })
      .Case([&](vector::TransferReadOp read) { return visitRead(read); })
      .Case([&](vector::GatherOp gather) { return visitRead(gather); })
      .Case([&](tensor::ExtractSliceOp slice) { return visitSlice(slice); })
      .Case([&](tensor::ExtractOp extract) { return visitExtract(extract); })
      .Case([&](vector::TransferWriteOp write) { return visitWrite(write); })
      .Case([&](tensor::InsertOp insert) { return visitInsert(insert); })
      .Default([&](Operation *other) { return visitOther(other); });
}

LogicalResult Bufferizer::visitBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    b.setInsertionPoint(&op);
    if (failed(visit(&op)))
      return failure();
  }
  return success();
}

LogicalResult Bufferizer::visitFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  SmallVector<Value> carried; // per iter_arg: its argument, or null
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (!isTensor(init.getType())) {
      inits.push_back(init);
      carried.push_back({});
      continue;
    }
    if (!getBuffer(loop, init))
      return failure();
    carried.push_back(argumentOf.lookup(init));
    setVersion(argument, carried.back());
  }

  Block *body = loop.getBody();
  if (failed(visitBlock(*body)))
    return failure();
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  SmallVector<Value> yielded;
  for (auto [number, value] : llvm::enumerate(yield.getOperands())) {
    if (!carried[number]) {
      yielded.push_back(value);
      continue;
    }
    if (argumentOf.lookup(value) != carried[number] ||
        latest.lookup(carried[number]) != value)
      return yield.emitOpError()
             << "operand " << number << " is not the latest version of what "
             << "the loop carries there; it would need a copy";
  }
  for (auto [argument, result] : llvm::zip_equal(carried, loop.getResults()))
    if (argument)
      setVersion(result, argument);
  if (inits.size() == carried.size())
    return success();

  b.setInsertionPoint(loop);
  auto bare = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  bare->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *bareBody = bare.getBody();
  if (!bareBody->empty())
    bareBody->getTerminator()->erase();
  bareBody->getOperations().splice(bareBody->end(), body->getOperations());
  loop.getInductionVar().replaceAllUsesWith(bare.getInductionVar());
  yield->setOperands(yielded);
  unsigned next = 0;
  for (auto [number, argument] : llvm::enumerate(carried)) {
    if (argument)
      continue;
    loop.getRegionIterArg(number).replaceAllUsesWith(
        bare.getRegionIterArg(next));
    loop.getResult(number).replaceAllUsesWith(bare.getResult(next));
    ++next;
  }
  dead.push_back(loop);
  return success();
}

LogicalResult Bufferizer::visitReturn(func::ReturnOp op) {
  unsigned first = kernel.getNumArguments() - op.getNumOperands();
  for (auto [number, value] : llvm::enumerate(op.getOperands())) {
    if (!getBuffer(op, value))
      return failure();
    if (argumentOf.lookup(value) != kernel.getArgument(first + number))
      return op.emitOpError() << "operand " << number
                              << " is not its destination argument; it would "
                                 "need a copy";
  }
  op->setOperands({});
  return success();
}

LogicalResult Bufferizer::run() {
  Block &body = kernel.getBody().front();
  // The memrefs live in new arguments until the old ones have no uses.
  unsigned count = body.getNumArguments(), operand = 0;
  auto views = kernel->getAttrOfType<ArrayAttr>(kViewsAttr);
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument argument = body.getArgument(i);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      if (isTensor(argument.getType()))
        return kernel.emitOpError("arguments must be ranked");
      continue;
    }
    MemRefLayoutAttrInterface layout;
    if (views && operand < views.size())
      layout = dyn_cast<StridedLayoutAttr>(views[operand]);
    ++operand;
    MemRefType memref = MemRefType::get(type.getShape(), type.getElementType());
    if (layout && failed(layout.verifyLayout(type.getShape(), [&] {
          return kernel.emitOpError()
                 << "has a malformed '" << kViewsAttr << "': ";
        })))
      return failure();
    if (layout)
      memref = MemRefType::get(type.getShape(), type.getElementType(), layout);
    BlockArgument buffer = body.addArgument(memref, argument.getLoc());
    buffers[argument] = buffer;
    setVersion(argument, argument);
  }
  if (failed(visitBlock(body)))
    return failure();

  IRRewriter rewriter(kernel.getContext());
  // Dead ops use each other and the arguments of emptied loops.
  for (Operation *op : dead) {
    op->dropAllReferences();
    op->dropAllUses();
  }
  for (Operation *op : dead)
    rewriter.eraseOp(op);
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument argument = body.getArgument(i);
    Value buffer = buffers.lookup(argument);
    if (!buffer)
      continue;
    argument.setType(buffer.getType());
    buffer.replaceAllUsesWith(argument);
  }
  body.eraseArguments(count, body.getNumArguments() - count);
  kernel.setFunctionType(FunctionType::get(
      kernel.getContext(), body.getArgumentTypes(), TypeRange()));
  // Attributes of results go with the results.
  kernel.removeResAttrsAttr();
  return success();
}

LogicalResult tilewright::bufferizeKernel(func::FuncOp kernel) {
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitOpError("a kernel has one block");
  auto ret = dyn_cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  if (!ret || ret.getNumOperands() > kernel.getNumArguments())
    return kernel.emitOpError("a kernel has a destination argument per result");
  return Bufferizer(kernel).run();
}

namespace {
struct BufferizePass
    : public tilewright::impl::BufferizePassBase<BufferizePass> {
  void runOnOperation() override {
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (isKernel(func) && !func.isExternal() && failed(bufferizeKernel(func)))
        return signalPassFailure();
  }
};
} // namespace

void tilewright::populateBufferizePipeline(OpPassManager &pm,
                                           const BufferizeOptions &) {
  pm.addPass(createBufferizePass());
  pm.addPass(createCanonicalizePass("bufferize"));
  pm.addPass(createCSEPass());
}

void tilewright::registerBufferizePasses() {
  registerPass([] { return createBufferizePass(); });
}
