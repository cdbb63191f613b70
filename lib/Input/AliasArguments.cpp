// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments that the caller gives away for a result, as jax.jit(…, donate_argnums=…)
// marks them: the result is in the argument's memory, and written there.
//
//   func.func @step(%cache: tensor<8x64xf32> {tf.aliasing_output = 0 : i32}, %new: …) -> (tensor<8x64xf32>, …) {
//     %r = tensor.insert_slice %new into %cache …
//     return %r, …
// becomes
//   func.func @step(%cache: memref<8x64xf32>, %new: …) -> (…) {
//     %t = bufferization.to_tensor %cache restrict writable
//     %r = tensor.insert_slice %new into %t …
//     bufferization.materialize_in_destination %r in restrict writable %cache
//     return …
//
// What reads the argument's old value is done before. Where the function returns that value, it is
// copied before anything is written: here where it is returned as it is, else later
// (tilewright-keep-overwritten), where branches, loops and calls are known to pass it on.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_ALIASARGUMENTSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

static constexpr StringLiteral kAliasingAttr = "tf.aliasing_output";

/// The result that is in the memory of each argument, by its number; -1: none is.
static FailureOr<SmallVector<int64_t>> aliasedResults(func::FuncOp func) {
  SmallVector<int64_t> results;
  llvm::SmallDenseSet<int64_t> taken;
  for (unsigned number = 0; number < func.getNumArguments(); ++number) {
    Type type = func.getArgumentTypes()[number];
    results.push_back(-1);
    Attribute attr = func.getArgAttr(number, kAliasingAttr);
    if (!attr)
      continue;
    auto error = [&]() {
      return func.emitOpError() << "argument " << number << " has '" << kAliasingAttr << "' = "
                                << attr << ", ";
    };
    auto result = dyn_cast<IntegerAttr>(attr);
    if (!result || result.getInt() < 0 || result.getInt() >= int64_t(func.getNumResults()))
      return error() << "which is the number of none of its " << func.getNumResults()
                     << " results";
    results.back() = result.getInt();
    if (!taken.insert(results.back()).second)
      return error() << "as another argument has: a result is in one memory";
    Type other = func.getResultTypes()[results.back()];
    if (!isa<RankedTensorType>(type) || type != other)
      return error() << "and is of type " << type << ", the result of " << other
                     << "; both are one tensor";
  }
  return results;
}

/// The value whose elements `value`, as it is or in another shape, has.
static Value withoutShape(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// What `end` returns of the elements that arguments of `func` have at the beginning, as
/// tensors of their own where another result, or none, is in that argument's memory.
static void copyReturned(OpBuilder &b, func::ReturnOp end, ArrayRef<int64_t> results) {
  b.setInsertionPoint(end);
  for (OpOperand &operand : end->getOpOperands()) {
    auto argument = dyn_cast<BlockArgument>(withoutShape(operand.get()));
    if (!argument)
      continue;
    int64_t result = results[argument.getArgNumber()];
    bool isUnchanged = result == operand.getOperandNumber() && operand.get() == argument;
    if (result >= 0 && !isUnchanged)
      operand.set(bufferization::AllocTensorOp::create(
          b, end.getLoc(), cast<RankedTensorType>(operand.get().getType()),
          /*dynamicSizes=*/ValueRange(), operand.get()));
  }
}

LogicalResult tilewright::aliasArguments(func::FuncOp func) {
  FailureOr<SmallVector<int64_t>> results = aliasedResults(func);
  if (failed(results))
    return failure();
  if (llvm::all_of(*results, [](int64_t result) { return result < 0; }))
    return success();
  auto uses = SymbolTable::getSymbolUses(func, func->getParentOfType<ModuleOp>());
  if (func.isExternal() || !func.getBody().hasOneBlock() || (uses && !uses->empty()))
    return func.emitOpError() << "has '" << kAliasingAttr
                              << "', which only a function with one block has that no other calls; "
                                 "leave it out";
  Block &body = func.getBody().front();
  auto end = cast<func::ReturnOp>(body.getTerminator());
  OpBuilder b(func.getContext());
  copyReturned(b, end, *results);
  llvm::BitVector dropped(func.getNumResults());
  SmallVector<Type> types(func.getArgumentTypes());
  for (auto [number, result] : llvm::enumerate(*results)) {
    if (result < 0)
      continue;
    BlockArgument argument = body.getArgument(number);
    auto tensor = cast<RankedTensorType>(argument.getType());
    Location loc = argument.getLoc();
    types[number] = MemRefType::get(tensor.getShape(), tensor.getElementType());
    argument.setType(types[number]);
    b.setInsertionPointToStart(&body);
    auto value = bufferization::ToTensorOp::create(b, loc, tensor, argument, /*restrict=*/true,
                                                   /*writable=*/true);
    argument.replaceAllUsesExcept(value, value);
    b.setInsertionPoint(end);
    auto store = bufferization::MaterializeInDestinationOp::create(
        b, loc, end.getOperand(result), argument);
    store.setRestrict(true);
    store.setWritable(true);
    dropped.set(result);
    func.removeArgAttr(number, kAliasingAttr);
  }
  end->eraseOperands(dropped);
  SmallVector<Type> kept;
  for (auto [number, type] : llvm::enumerate(func.getResultTypes()))
    if (!dropped[number])
      kept.push_back(type);
  if (failed(func.eraseResults(dropped)))
    return failure();
  func.setFunctionType(b.getFunctionType(types, kept));
  return success();
}

namespace {
struct AliasArgumentsPass
    : public tilewright::impl::AliasArgumentsPassBase<AliasArgumentsPass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(aliasArguments(func)))
        return signalPassFailure();
  }
};
} // namespace
