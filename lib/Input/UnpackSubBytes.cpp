// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of i4 are weights: they lie in memory two to a byte, the element of
// the even index in the low four bits, and are only read. To everything behind
// this pass they are tensors of bytes with half the innermost dim; an op takes
// the nibbles apart, which what scales them is merged with:
//
//   func.func @f(%w: tensor<80x96xi4>, …)
//     %d = linalg.generic ins(%w, %scale) … { arith.sitofp %x : i4 to f16 … }
//
//   func.func @f(%w: tensor<80x48xi8>, …)
//     %u = linalg.generic {(n, k, h) -> (n, k), (h), (n, k, h)}
//            ins(%w, dense<[0, 4]>) … { shrui, shli by 4, shrsi by 4 }
//     %v = linalg.generic ins(%u, %scale) … { arith.sitofp %x : i8 to f16 … }
//     %d = tensor.collapse_shape %v [[0], [1, 2]] : tensor<80x48x2xf16> …
//
// Where a row has an odd number of elements, the tensor is held as one row, and what
// reads it, as tensor.extract does of any tensor, looks for its nibble:
//
//   func.func @f(%w: tensor<3x5xi4>, …)      // tensor<8xi8>
//     %u = linalg.generic {(i, j) -> (i, j)} outs(… : tensor<3x5xi8>) {
//       %at = i * 5 + j;  %b = tensor.extract %w[%at / 2];  shrui, … by 4 (%at & 1) }
//
// Tensors of i2 lie four to a byte, from the lowest bits on, and are taken apart alike:
// by shifts of 0, 2, 4 and 6, in a dim of four.
//
// Products of i4 themselves become products of bytes, unless the target multiplies
// nibbles (Dispatch/PackInt4Products.cpp); those of i2 always do.

#include "SubBytes.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {
#define GEN_PASS_DEF_UNPACKSUBBYTESPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::sub_bytes;

/// Why elements of `type` cannot share bytes; empty if they can.
static std::string objection(RankedTensorType type) {
  if (isOneRow(type) && !type.hasStaticShape())
    return "has rows of " + std::to_string(type.getShape().back()) +
           " elements, and " + std::to_string(perByte(type)) +
           " of them share a byte; make the innermost dim a multiple of that, "
           "or all dims static";
  return {};
}

/// A reshape that leaves elements in their bytes: the innermost dim stays, or is cut
/// into, or made of, parts of a static size that fills bytes.
static bool movesWholeBytes(Operation *op) {
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  if ((!expand && !collapse) || isOneRow(packedType(op->getOperand(0))))
    return false;
  SmallVector<ReassociationIndices> groups =
      expand ? expand.getReassociationIndices() : collapse.getReassociationIndices();
  if (groups.empty())
    return false;
  int64_t part = (expand ? expand.getResultType() : collapse.getSrcType())
                     .getShape()
                     .back();
  return groups.back().size() == 1 ||
         (!ShapedType::isDynamic(part) && part % perByte(packedType(op->getOperand(0))) == 0);
}

namespace {
/// The values of one function that are tensors of i4 or i2, as bytes.
class Unpacker {
public:
  explicit Unpacker(func::FuncOp func) : func(func), b(func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult check(Value value);
  LogicalResult generalizeReaders(Value value);
  LogicalResult replace(Value value, Value bytes, int64_t innermost);
  LogicalResult reshape(Operation *op, Value bytes);
  LogicalResult read(linalg::GenericOp op, OpOperand &operand, Value bytes);
  LogicalResult read(tensor::ExtractOp op, Value bytes);
  LogicalResult checkReaders(Value element);
  LogicalResult mergeWithReaders();

  func::FuncOp func;
  IRRewriter b;
};
} // namespace

LogicalResult Unpacker::check(Value value) {
  std::string reason = objection(packedType(value));
  if (!reason.empty()) {
    Operation *op = value.getDefiningOp();
    return (op ? op->emitOpError() : func.emitOpError())
           << "has a value of type " << value.getType() << ", which " << reason;
  }
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto op = dyn_cast<linalg::LinalgOp>(user);
    bool reads = op && op.hasPureTensorSemantics() && op.isDpsInput(&use) &&
                 llvm::none_of(op->getResults(), [](Value result) {
                   return packedType(result);
                 });
    if (!reads && !isa<tensor::DimOp, tensor::ExtractOp>(user) && !movesWholeBytes(user))
      return user->emitOpError()
             << "uses a tensor of " << packedType(value).getElementType()
             << ", which structured ops only read (" << perByte(packedType(value))
             << " elements share a byte); extend its elements with linalg.generic first";
  }
  return success();
}

static bool isUnsignedReader(Operation *op) {
  return isa<arith::ExtUIOp, arith::UIToFPOp>(op);
}

LogicalResult Unpacker::checkReaders(Value element) {
  for (Operation *user : element.getUsers())
    if (!isUnsignedReader(user) && !isa<arith::ExtSIOp, arith::SIToFPOp>(user))
      return user->emitOpError() << "computes with " << element.getType()
                                 << ", which is only extended and converted to floats; "
                                    "do so first";
  return success();
}

/// Makes `op` read bytes where it read parts of them.
LogicalResult Unpacker::read(linalg::GenericOp op, OpOperand &operand,
                             Value bytes) {
  BlockArgument element = op.getMatchingBlockArgument(&operand);
  if (failed(checkReaders(element)))
    return failure();
  bool allUnsigned = llvm::all_of(element.getUsers(), isUnsignedReader);
  int64_t all = (1 << bitsOf(packedType(operand.get()))) - 1;
  b.setInsertionPoint(op);
  Value unpacked = unpack(b, bytes, packedType(operand.get()), allUnsigned);
  b.modifyOpInPlace(op, [&] {
    operand.set(unpacked);
    element.setType(b.getI8Type());
  });
  for (Operation *user : llvm::make_early_inc_range(element.getUsers())) {
    if (isUnsignedReader(user) && !allUnsigned) {
      b.setInsertionPoint(user);
      Value mask = arith::ConstantOp::create(b, user->getLoc(),
                                             b.getI8IntegerAttr(all));
      user->setOperand(
          0, arith::AndIOp::create(b, user->getLoc(), element, mask));
    }
    if (user->getResult(0).getType() == element.getType())
      b.replaceOp(user, user->getOperand(0)); // extended to i8
  }
  return success();
}

/// Makes `op` find its element, as each of its readers takes it.
LogicalResult Unpacker::read(tensor::ExtractOp op, Value bytes) {
  if (failed(checkReaders(op.getResult())))
    return failure();
  b.setInsertionPoint(op);
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    Value element =
        elementAt(b, op.getLoc(), bytes, packedType(op.getTensor()),
                  op.getIndices(), isUnsignedReader(user));
    b.modifyOpInPlace(user, [&] { user->setOperand(0, element); });
    if (user->getResult(0).getType() == element.getType())
      b.replaceOp(user, element); // extended to i8
  }
  b.eraseOp(op);
  return success();
}

/// Named ops that read `value` in the general form, whose body can be changed.
LogicalResult Unpacker::generalizeReaders(Value value) {
  SetVector<Operation *> readers;
  for (Operation *user : value.getUsers())
    if (isa<linalg::LinalgOp>(user) && !isa<linalg::GenericOp>(user))
      readers.insert(user);
  for (Operation *op : readers) {
    Attribute config = op->getAttr(kConfigAttr);
    b.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(b, cast<linalg::LinalgOp>(op));
    if (failed(generic))
      return op->emitOpError("has no linalg.generic form; write it as one");
    if (config)
      (*generic)->setAttr(kConfigAttr, config);
  }
  return success();
}

/// The reshape `op` of a tensor of elements that share bytes, as one of `bytes`.
LogicalResult Unpacker::reshape(Operation *op, Value bytes) {
  RankedTensorType type = packedType(op->getResult(0));
  b.setInsertionPoint(op);
  Value result;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
    int64_t innermost = type.getShape().back();
    sizes.back() = ShapedType::isDynamic(innermost)
                       ? tensor::getMixedSizes(b, op->getLoc(), bytes).back()
                       : OpFoldResult(b.getIndexAttr(innermost / perByte(type)));
    result = tensor::ExpandShapeOp::create(b, op->getLoc(), bytesOf(type), bytes,
                                           expand.getReassociationIndices(), sizes);
  } else {
    result = tensor::CollapseShapeOp::create(
        b, op->getLoc(), bytesOf(type), bytes,
        cast<tensor::CollapseShapeOp>(op).getReassociationIndices());
  }
  if (failed(check(op->getResult(0))) ||
      failed(replace(op->getResult(0), result, type.getRank() - 1)))
    return failure();
  b.eraseOp(op);
  return success();
}

/// `bytes` instead of `value`, whose last dim is `innermost`.
LogicalResult Unpacker::replace(Value value, Value bytes, int64_t innermost) {
  if (failed(generalizeReaders(value)))
    return failure();
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  for (OpOperand *use : uses) {
    if (auto dim = dyn_cast<tensor::DimOp>(use->getOwner())) {
      std::optional<int64_t> number = dim.getConstantIndex();
      if (!number)
        return dim.emitOpError() << "of a tensor of " << packedType(value).getElementType()
                                 << " needs a constant index";
      b.setInsertionPoint(dim);
      if (packedType(value).hasStaticShape()) {
        b.replaceOpWithNewOp<arith::ConstantIndexOp>(
            dim, packedType(value).getDimSize(*number));
        continue;
      }
      Value size = tensor::DimOp::create(b, dim.getLoc(), bytes, *number);
      if (*number == innermost)
        size = arith::MulIOp::create(
            b, dim.getLoc(), size,
            arith::ConstantIndexOp::create(b, dim.getLoc(), perByte(packedType(value))));
      b.replaceOp(dim, size);
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(use->getOwner())) {
      if (failed(read(extract, bytes)))
        return failure();
      continue;
    }
    if (movesWholeBytes(use->getOwner())) {
      if (failed(reshape(use->getOwner(), bytes)))
        return failure();
      continue;
    }
    if (failed(read(cast<linalg::GenericOp>(use->getOwner()), *use, bytes)))
      return failure();
  }
  return success();
}

/// An elementwise op that reads the elements works on those of a byte together, so that
/// they are never written on their own.
LogicalResult Unpacker::mergeWithReaders() {
  RewritePatternSet patterns(func.getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(
      patterns, [](OpOperand *operand) {
        auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
        auto reader = dyn_cast<linalg::GenericOp>(operand->getOwner());
        return collapse && reader && reader.getNumReductionLoops() == 0 &&
               !reader->hasAttr(kConfigAttr) &&
               collapse.getSrc().getDefiningOp<linalg::GenericOp>();
      });
  return applyPatternsBounded(
      func, std::move(patterns), "input",
      "merging of unpacked values with their readers");
}

LogicalResult Unpacker::run() {
  SmallVector<Value> values;
  for (BlockArgument argument : func.getArguments())
    if (packedType(argument))
      values.push_back(argument);
  func.walk([&](arith::ConstantOp constant) {
    if (packedType(constant) && isa<DenseIntElementsAttr>(constant.getValue()))
      values.push_back(constant);
  });
  for (Value value : values)
    if (failed(check(value)))
      return failure();
  for (Value value : values) {
    RankedTensorType type = packedType(value), bytes = bytesOf(type);
    int64_t innermost = type.getRank() - 1;
    if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
      SmallVector<int8_t> packed(bytes.getNumElements(), 0);
      size_t number = 0;
      for (const APInt &element :
           cast<DenseIntElementsAttr>(constant.getValue()).getValues<APInt>()) {
        packed[number / perByte(type)] |= element.getZExtValue()
                                          << number % perByte(type) * bitsOf(type);
        ++number;
      }
      b.setInsertionPoint(constant);
      Value held = arith::ConstantOp::create(
          b, constant.getLoc(),
          DenseElementsAttr::get(bytes, ArrayRef<int8_t>(packed)));
      if (failed(replace(constant, held, innermost)))
        return failure();
      b.eraseOp(constant);
      continue;
    }
    auto argument = cast<BlockArgument>(value);
    Block *entry = argument.getOwner();
    BlockArgument held =
        entry->insertArgument(argument.getArgNumber(), bytes, argument.getLoc());
    if (failed(replace(argument, held, innermost)))
      return failure();
    entry->eraseArgument(argument.getArgNumber());
  }
  if (values.empty())
    return success();
  func.setFunctionType(b.getFunctionType(
      func.getBody().front().getArgumentTypes(), func.getResultTypes()));
  return mergeWithReaders();
}

LogicalResult tilewright::unpackSubBytes(func::FuncOp func) {
  return func.isExternal() ? success() : Unpacker(func).run();
}

namespace {
struct UnpackSubBytesPass
    : public tilewright::impl::UnpackSubBytesPassBase<UnpackSubBytesPass> {
  void runOnOperation() override {
    if (failed(unpackSubBytes(getOperation())))
      signalPassFailure();
  }
};
} // namespace
