// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Promotion of matrix-product operands to shared memory.
//
//   %n = tilewright.mma %va, %vb, %c … : vector<64x16xf32>, vector<16x64xf32>, …
// becomes, with promote = [0, 1],
//   %sa = memref.alloc() : memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>   (top of the kernel)
//   %sb = memref.alloc() : memref<16x64xf32, #tilewright.shared>
//   vector.transfer_write %va, %sa … permutation_map = (d0, d1) -> (d1, d0)
//   vector.transfer_write %vb, %sb …
//   %n = tilewright.mma %sa, %sb, %c …
//
// Rows lie so that no two lanes meet in a bank: swizzled where the layout library
// finds a swizzle (ChooseTile.cpp), else padded.

#include "tilewright/Dialect/Strategies.h"
#include "tilewright/Promote/Promote.h"
#include "ChooseTile.h"
#include "KeepRows.h"
#include "VectorParts.h"
#include "WriteAttentionRings.h"
#include "WriteRing.h"

#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/UserNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {
#define GEN_PASS_DEF_PROMOTEPASS
#define GEN_PASS_REGISTRATION
#include "tilewright/Promote/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static LoweringConfigAttr getConfig(MmaOp op) {
  return op->getParentOfType<func::FuncOp>()->getAttrOfType<LoweringConfigAttr>(
      kConfigAttr);
}

/// Strides of rows 16 bytes apart from a multiple of the banks.
static MemRefType paddedTile(ArrayRef<int64_t> shape, Type element,
                             bool padded) {
  MLIRContext *context = element.getContext();
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim) {
    strides[dim] = strides[dim + 1] * shape[dim + 1];
    if (padded && dim == int64_t(shape.size()) - 2)
      strides[dim] += 16 / bytes;
  }
  MemRefLayoutAttrInterface layout;
  if (padded)
    layout = StridedLayoutAttr::get(context, 0, strides);
  return MemRefType::get(shape, element, layout, SharedAttr::get(context, {}));
}

/// Whether the rows of a tile that has the vector's dims in `order` are columns of
/// the memory that the vector is read from.
static bool isTransposed(Value vector, ArrayRef<unsigned> order) {
  // Elementwise ops on an operand do not change the order of its dims: go on to what is read.
  while (Operation *op = vector.getDefiningOp()) {
    if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
      AffineMap map = read.getPermutationMap();
      auto last = dyn_cast<AffineDimExpr>(map.getResult(order.back()));
      return !last || last.getPosition() + 1 != map.getNumDims();
    }
    Value next;
    for (Value operand : op->getOperands())
      if (operand.getType() == vector.getType() ||
          (isa<VectorType>(operand.getType()) &&
           cast<VectorType>(operand.getType()).getShape() ==
               cast<VectorType>(vector.getType()).getShape()))
        next = operand;
    if (!next)
      return false;
    vector = next;
  }
  return false;
}

SharedTile tilewright::sharedTileOf(MmaOp op, unsigned operand) {
  auto vector = cast<ShapedType>(op->getOperand(operand).getType());
  AffineMap map = cast<AffineMapAttr>(op.getMaps()[operand]).getValue();
  AffineMap acc = cast<AffineMapAttr>(op.getMaps()[2]).getValue();
  MLIRContext *context = op.getContext();

  // Reduction dims first, then the accumulator's in its order; a matrix
  // instruction takes neighbours along the reduction: that dim last.
  auto rank = [&](unsigned dim) -> int64_t {
    AffineExpr loop = map.getResult(dim);
    for (auto [position, expr] : llvm::enumerate(acc.getResults()))
      if (expr == loop)
        return position;
    return op.getInstruction() ? int64_t(acc.getNumResults()) : -1;
  };
  // Where matrices are loaded in either direction, memory's own order stays.
  TargetAttr target = getTarget(op);
  auto instruction =
      MatrixInstruction::parse(context, op.getInstruction().value_or(""));
  bool asItIs = (instruction && instruction->opaque) ||
                (op.getInstruction() && target &&
                 target.getFacts().contains("load_matrices") &&
                 vector.getElementTypeBitWidth() == 16);
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, map.getNumResults()));
  if (!asItIs)
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(rank(a), a) < std::pair(rank(b), b);
    });

  SmallVector<int64_t> shape;
  for (unsigned dim : order)
    shape.push_back(vector.getDimSize(dim));
  bool padded = op.getInstruction().has_value() ||
                (!order.empty() && order.back() + 1 != order.size());
  SharedTile tile;
  bool opaque = instruction && instruction->opaque; // read by rows, not by lanes
  bool loadsBytes = op.getInstruction() && !opaque && target &&
                    target.getFacts().contains("load_matrices") &&
                    vector.getElementTypeBitWidth() == 8;
  if ((asItIs && !opaque) || loadsBytes)
    if (auto choice = chooseTile(op, shape, vector.getElementType(),
                                 loadsBytes && isTransposed(op->getOperand(operand), order))) {
      tile.transposed = loadsBytes && isTransposed(op->getOperand(operand), order);
      tile.type = choice->type;
      tile.conflicts = choice->conflicts;
    }
  if (!tile.type)
    tile.type = paddedTile(shape, vector.getElementType(), padded);
  // Memory dim i holds operand dim order[i]: vector dim d sits at memory dim
  // position of d in order.
  SmallVector<AffineExpr> results(order.size()), loops;
  for (auto [position, dim] : llvm::enumerate(order)) {
    results[dim] = getAffineDimExpr(position, context);
    loops.push_back(map.getResult(dim));
  }
  tile.memoryToOperand = AffineMap::get(order.size(), 0, results, context);
  tile.map = AffineMap::get(map.getNumDims(), 0, loops, context);
  return tile;
}

/// What --explain says of a tile.
static void explainTile(MmaOp op, unsigned operand, const SharedTile &tile) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  if (!kernel || !tile.conflicts)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << numberOperand(op->getOpOperand(operand)) << " in shared memory: ";
  llvm::interleave(tile.type.getShape(), os, "x");
  os << "x" << tile.type.getElementType();
  auto space = cast<SharedAttr>(tile.type.getMemorySpace());
  if (ArrayRef<int64_t> swizzle = space.getSwizzle(); !swizzle.empty()) {
    os << ", swizzle [";
    llvm::interleaveComma(swizzle, os);
    os << "]";
  } else if (!tile.type.getLayout().isIdentity()) {
    os << ", padded rows";
  } else {
    os << ", plain rows";
  }
  if (tile.transposed)
    os << ", transposed while staging: its sums are not along the rows of memory, and "
          "bytes are loaded by pairs of neighbours along them";
  os << "; " << *tile.conflicts
     << " bank conflicts by calculation in what fills and reads it";
  addExplanation(kernel, text);
}

/// Whether `operand` of attention's second product, what the softmax made of the
/// first one's result, stays in registers: a warp's instruction takes it from there, in
/// a layout that the accumulator's becomes without memory. Fragments of cooperative
/// matrices and FMA go through shared memory.
static bool staysInRegisters(MmaOp op, int64_t operand) {
  auto instruction =
      MatrixInstruction::parse(op.getContext(), op.getInstruction().value_or(""));
  return traitsOf(getConfig(op)).chainsProducts && instruction &&
         !instruction->opaque &&
         !isa_and_nonnull<vector::TransferReadOp, vector::InsertStridedSliceOp>(
             op->getOperand(operand).getDefiningOp());
}

/// The op in front of which `value`, an operand of `op`, is written to shared memory: the
/// outermost loop around `op` that it does not change in, so that it is written once.
static Operation *findPlace(MmaOp op, Value value) {
  Operation *place = op;
  if (!traitsOf(getConfig(op)).chainsProducts)
    return place;
  while (auto loop = dyn_cast<scf::ForOp>(place->getParentOp())) {
    if (!loop.isDefinedOutsideOfLoop(value))
      break;
    place = loop;
  }
  return place;
}

/// Memory for `tile`, allocated by `top`, into which `b` writes `value`.
static Value writeTile(OpBuilder &top, OpBuilder &b, Location loc, Value value,
                       const SharedTile &tile) {
  Value memory = memref::AllocOp::create(top, loc, tile.type);
  SmallVector<bool> inBounds(tile.type.getRank(), true);
  for (const auto &[part, offsets] : partsOf(value)) {
    SmallVector<Value> indices(tile.type.getRank());
    for (auto [dim, offset] : llvm::enumerate(offsets))
      indices[tile.memoryToOperand.getDimPosition(dim)] =
          arith::ConstantIndexOp::create(b, loc, offset);
    vector::TransferWriteOp::create(b, loc, part, memory, indices, tile.memoryToOperand,
                                    inBounds);
  }
  return memory;
}

/// Attention's queries that `promote` leaves to registers come there once, in front of the
/// loop along the keys: through shared memory, out of which a warp's instruction reads
/// its fragments.
static void loadQueries(MmaOp op, Block &entry) {
  Value queries = op.getA();
  auto type = dyn_cast<VectorType>(queries.getType());
  Operation *place = type ? findPlace(op, queries) : op.getOperation();
  auto instruction =
      MatrixInstruction::parse(op.getContext(), op.getInstruction().value_or(""));
  if (place == op || !instruction || instruction->opaque)
    return;
  Location loc = op.getLoc();
  OpBuilder top = OpBuilder::atBlockBegin(&entry), b(place);
  SharedTile tile = sharedTileOf(op, 0);
  explainTile(op, 0, tile);
  Value memory = writeTile(top, b, loc, queries, tile);
  SmallVector<Value> begin(tile.type.getRank(), arith::ConstantIndexOp::create(b, loc, 0));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  SmallVector<bool> inBounds(tile.type.getRank(), true);
  op.getAMutable().assign(vector::TransferReadOp::create(b, loc, type, memory, begin, zero,
                                                         tile.memoryToOperand, inBounds));
}

/// Operands, by number, that are in shared memory as a type, through a map: what products of
/// a dual product share is there once.
using Promoted = DenseMap<std::tuple<Value, int64_t, Type, AffineMap>, Value>;

static LogicalResult promote(MmaOp op, ArrayRef<int64_t> operands,
                             Block &entry, Promoted &promoted) {
  Location loc = op.getLoc();
  OpBuilder top = OpBuilder::atBlockBegin(&entry);
  for (int64_t operand : operands) {
    if (operand > 1)
      return op.emitOpError() << "operand " << operand
                              << " in 'promote' is not an operand; 0 and 1 are";
    Value value = op->getOperand(operand);
    if (!isa<VectorType>(value.getType()) || staysInRegisters(op, operand))
      continue;
    OpBuilder before(findPlace(op, value));
    SharedTile tile = sharedTileOf(op, operand);
    Value &memory = promoted[{value, operand, tile.type, tile.memoryToOperand}];
    if (!memory) {
      explainTile(op, operand, tile);
      memory = writeTile(top, before, loc, value, tile);
    }
    op->setOperand(operand, memory);
    // What is written part by part is not put together.
    eraseParts(value);
    SmallVector<Attribute> maps(op.getMaps().getValue());
    maps[operand] = AffineMapAttr::get(tile.map);
    op.setMapsAttr(top.getArrayAttr(maps));
  }
  return success();
}

bool tilewright::areDual(MmaOp first, MmaOp second) {
  return first != second && first->getBlock() == second->getBlock() &&
         !traitsOf(getConfig(first)).chainsProducts &&
         llvm::all_of(first->getUsers(), [&](Operation *user) {
           Operation *own = first->getBlock()->findAncestorOpInBlock(*user);
           return own && second->isBeforeInBlock(own);
         });
}

LogicalResult tilewright::promoteOperands(func::FuncOp kernel) {
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (!config || config.getPromote().empty() || kernel.isExternal())
    return success();
  if (config.getStrategy() == Strategy::Reduction)
    return keepRows(kernel);
  SmallVector<MmaOp> products;
  kernel.walk([&](MmaOp op) { products.push_back(op); });
  if (config.isWarpSpecialized())
    return writeRing(kernel, products, config);
  if (config.hasRoles())
    return writeAttentionRings(kernel, products, config);
  Promoted promoted;
  for (MmaOp op : products) {
    if (!areDual(products.front(), op))
      promoted.clear();
    if (failed(promote(op, config.getPromote(), kernel.getBody().front(), promoted)))
      return failure();
    if (!llvm::is_contained(config.getPromote(), 0))
      loadQueries(op, kernel.getBody().front());
  }
  // All operands are there before the first of them is multiplied.
  for (MmaOp op : products)
    if (areDual(op, products.back()))
      op->moveBefore(products.back());
  return success();
}

namespace {
struct PromotePass : tilewright::impl::PromotePassBase<PromotePass> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(promoteOperands(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void tilewright::registerPromotePasses() { registerTilewrightPromotePasses(); }

void tilewright::populatePromotePipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createPromotePass());
}
