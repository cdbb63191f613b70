// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opaque fragments: matrices that a subgroup holds in an arrangement which only
// the matrix instruction knows. In thread form each is one vector of rank 2, a
// register of its layout. Reads and writes of memory in an opaque layout are loads
// and stores of whole matrices, of shared and of global memory. Every way to or
// from another layout leads through shared memory: a subgroup has room for two
// matrices there, used in turn, so that one barrier is enough for each.
//
//   %p = tilewright.convert_layout %acc from <opaque=acc …> to <plain>
// becomes, for each matrix,
//   tilewright.store_fragment %acc0, %scratch[…] stride %c20
//   gpu.barrier
//   %p0 = vector.load %scratch[…] …
//
// What repeats along a dim (a factor for each row) enters by one matrix, which stands
// for all along that dim.
//
//   vector.transfer_write %acc, %out[%i, %j] {tilewright.layouts = [<opaque=acc …>]}
// becomes, for each matrix,
//   tilewright.store_fragment %acc0, %out[%i * %columns + %j …] stride %columns
//
// The plain layout of an opaque one keeps the matrices where they are among
// subgroups and spreads each over the lanes: rows across lanes, up to four
// neighbours in a row by one lane.

#include "ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using layout::Level;
using layout::Mode;

/// The dims of a block vector that are the rows and columns of its matrices.
static std::pair<int, int> matrixDims(const DistributedLayout &opaque) {
  bool swapped = StringRef(opaque.opaqueName()).ends_with(kTransposedSuffix);
  return swapped ? std::pair(1, 0) : std::pair(0, 1);
}

VectorType tilewright::fragmentType(const DistributedLayout &opaque,
                                    Type element) {
  auto [row, column] = matrixDims(opaque);
  std::vector<int64_t> atom = opaque.atomShape();
  return VectorType::get({atom[row], atom[column]}, element);
}

DistributedLayout tilewright::plainLayout(const DistributedLayout &opaque) {
  if (!opaque.isOpaque())
    return opaque;
  std::vector<int64_t> atom = opaque.atomShape();
  int64_t lanes = opaque.numLanes(), rows = atom[0], columns = atom[1];
  int64_t width = 4;
  while (width > 1 && (columns % width || rows * columns < lanes * width))
    width /= 2;
  int64_t across = std::gcd(lanes, columns / width);
  int64_t down = std::gcd(lanes / across, rows);
  DistributedLayout::Modes regs, laneModes;
  auto add = [](DistributedLayout::Modes &modes, Mode mode) {
    if (mode.count > 1)
      modes.push_back(mode);
  };
  add(regs, {width, 1, 1});
  add(regs, {columns / (width * across), 1, width * across});
  add(regs, {rows / down, 0, down});
  for (const Mode &mode : opaque.modes(Level::Register))
    add(regs, mode);
  add(laneModes, {across, 1, width});
  add(laneModes, {down, 0, 1});
  add(laneModes, Mode::replica(lanes / (across * down)));
  return DistributedLayout(opaque.shape(), regs, laneModes,
                           opaque.modes(Level::Warp), opaque.firstWarp());
}

bool tilewright::isSplat(Value value) {
  if (matchPattern(value, m_Constant())) {
    DenseElementsAttr dense;
    return matchPattern(value, m_Constant(&dense)) && dense.isSplat();
  }
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  return broadcast && !laidOutType(broadcast.getSourceType());
}

/// "a", "b" or "acc".
static StringRef useOf(const DistributedLayout &opaque) {
  StringRef use = opaque.opaqueName();
  use.consume_back(kTransposedSuffix);
  return use;
}

/// Where the matrices of a transfer op are in memory.
FailureOr<ThreadCode::FragmentPlaces>
ThreadCode::fragmentPlaces(VectorTransferOpInterface op,
                           const DistributedLayout &layout) {
  Location loc = op.getLoc();
  FailureOr<MemView> mem = view(op.getBase());
  if (failed(mem))
    return failure();
  auto refuse = [&](StringRef why) {
    return op.emitOpError() << "cannot be a cooperative-matrix fragment: " << why;
  };
  if (mem->shared && !mem->shared.getSwizzle().empty())
    return refuse("its shared memory is swizzled");
  if (op.getMask() || op.hasOutOfBoundsDim() || op.hasBroadcastDim() ||
      layout.rank() != 2 || mem->padding)
    return refuse("it has a mask, bounds, padding or broadcast dims");

  // Strides in memory of the vector's dims.
  FragmentPlaces places;
  Index base = mem->offset;
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), mem->strides))
    base = add(loc, base, multiply(loc, mapped(OpFoldResult(index)), stride));
  SmallVector<Index> strides, coordinates = warpCoordinates(layout);
  for (auto [dim, expr] : llvm::enumerate(op.getPermutationMap().getResults())) {
    strides.push_back(mem->strides[cast<AffineDimExpr>(expr).getPosition()]);
    base = add(loc, base, multiply(loc, coordinates[dim], strides[dim]));
  }
  auto [row, column] = matrixDims(layout);
  auto isUnit = [&](int dim) {
    return strides[dim].isConstant() && strides[dim].constant == 1;
  };
  places.transposed = !isUnit(column);
  if (places.transposed && !isUnit(row))
    return refuse("neither rows nor columns are contiguous");
  places.memory = mem->base;
  places.element = mem->element;
  places.stride = materialize(loc, strides[places.transposed ? column : row]);
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
    Index offset = base;
    for (auto [at, stride] : llvm::zip_equal(layout.registerOffset(reg), strides))
      offset = add(loc, offset, multiply(loc, Index(at), stride));
    places.offsets.push_back(materialize(loc, offset));
  }
  return places;
}

LogicalResult ThreadCode::readFragments(vector::TransferReadOp op,
                                        const DistributedLayout &layout) {
  FailureOr<FragmentPlaces> places = fragmentPlaces(op, layout);
  if (failed(places))
    return failure();
  Registers fragments;
  for (Value offset : places->offsets)
    fragments.push_back(LoadFragmentOp::create(
        b, op.getLoc(), fragmentType(layout, places->element), useOf(layout),
        places->memory, offset, places->stride, places->transposed));
  define(op.getVector(), fragments);
  return success();
}

LogicalResult ThreadCode::writeFragments(vector::TransferWriteOp op,
                                         const DistributedLayout &layout) {
  FailureOr<Registers> fragments = registers(op.getVector());
  if (failed(fragments))
    return failure();
  FailureOr<FragmentPlaces> places = fragmentPlaces(op, layout);
  if (failed(places))
    return failure();
  for (auto [offset, fragment] : llvm::zip_equal(places->offsets, *fragments))
    StoreFragmentOp::create(b, op.getLoc(), fragment, places->memory, offset,
                            places->stride, places->transposed);
  return success();
}

/// The body for each fragment, on what is the same for all of its elements.
LogicalResult ThreadCode::mapFragments(MapFragmentsOp op) {
  SmallVector<Registers> operands;
  for (Value fragment : op.getFragments()) {
    FailureOr<Registers> held = registers(fragment);
    if (failed(held))
      return failure();
    operands.push_back(*held);
  }
  Registers results;
  for (size_t reg = 0; reg < operands.front().size(); ++reg) {
    SmallVector<Value> fragments;
    for (const Registers &operand : operands)
      fragments.push_back(operand[reg]);
    auto map = MapFragmentsOp::create(b, op.getLoc(), fragments[0].getType(),
                                      fragments);
    IRMapping mapping = scalars;
    op.getBody().cloneInto(&map.getBody(), mapping);
    results.push_back(map.getResult());
  }
  define(op.getResult(), results);
  return success();
}

/// Whether the elements of `value` are the same along each of its dims.
static std::array<bool, 2> repeatedDims(Value value) {
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  if (!broadcast)
    return {false, false};
  auto source = dyn_cast<VectorType>(broadcast.getSourceType());
  if (!source || source.getRank() < 2)
    return {true, !source};
  return {source.getDimSize(0) == 1, source.getDimSize(1) == 1};
}

/// What fragments pass through on their way to and from the plain layout: two buffers of a
/// matrix each, in turns, so that threads meet once for each fragment.
struct ThreadCode::FragmentScratch {
  FragmentScratch(const DistributedLayout &opaque, const DistributedLayout &plain)
      : opaque(opaque), plain(plain), atom(opaque.atomShape()) {}

  const DistributedLayout &opaque, &plain;
  std::vector<int64_t> atom;
  int64_t stride = 0; // of rows, in elements
  std::array<MemView, 2> turns;
  Index base; // of the warp's matrix
  Value rowStride;
  /// The lane's part of a matrix: register 0 of the plain layout.
  Index laneOffset;
  /// Runs of registers of the plain layout, of which so many are a fragment's.
  layout::RegisterRuns runs;
  int64_t share = 0;
  bool transposed = false;
};

ThreadCode::FragmentScratch ThreadCode::fragmentScratch(Location loc, Type element,
                                                        const DistributedLayout &opaque,
                                                        const DistributedLayout &plain) {
  FragmentScratch scratch(opaque, plain);
  // Rows 16 bytes longer than they are, against bank conflicts.
  scratch.stride = scratch.atom[1] + 16 / elementBytes(element);
  int64_t elements = scratch.atom[0] * scratch.stride;
  for (MemView &mem : scratch.turns) {
    mem.base = sharedMemory(loc, element, elements * threads.warps);
    mem.shared = SharedAttr::get(b.getContext(), {});
    mem.element = element;
  }
  scratch.base = multiply(loc, Index(warp()), Index(elements));
  scratch.rowStride = constant(loc, scratch.stride);
  scratch.share = plain.numRegisters() / opaque.numRegisters();
  SmallVector<Index> lane = coordinates(plain, Level::Lane);
  scratch.laneOffset =
      add(loc, multiply(loc, lane[0], Index(scratch.stride)), lane[1]);
  scratch.runs = plain.registerRuns(1, 4);
  scratch.transposed = matrixDims(opaque).first != 0;
  return scratch;
}

/// Where the lane has `run` of a fragment.
Value ThreadCode::scratchOffset(Location loc, const FragmentScratch &scratch,
                                ArrayRef<int64_t> run) {
  std::vector<int64_t> at = scratch.plain.registerOffset(run[0]);
  for (int dim : {0, 1})
    at[dim] %= scratch.atom[dim];
  return materialize(loc, add(loc, add(loc, scratch.base, scratch.laneOffset),
                              Index(at[0] * scratch.stride + at[1])));
}

Registers ThreadCode::unpackFragments(Location loc, const FragmentScratch &scratch,
                                      ArrayRef<Value> fragments) {
  Registers result(scratch.plain.numRegisters());
  for (auto [fragment, value] : llvm::enumerate(fragments)) {
    const MemView &mem = scratch.turns[fragment % 2];
    Value whole = materialize(loc, scratch.base);
    StoreFragmentOp::create(b, loc, value, mem.base, whole, scratch.rowStride,
                            scratch.transposed);
    for (const std::vector<int64_t> &run : scratch.runs.groups) {
      if (run[0] / scratch.share != int64_t(fragment))
        continue;
      Value offset = scratchOffset(loc, scratch, run);
      SmallVector<Value> loaded = load(loc, mem, offset, run.size());
      for (auto [reg, element] : llvm::zip_equal(run, loaded))
        result[reg] = element;
    }
  }
  return result;
}

/// `repeated`: along which dims all elements are the same.
Registers ThreadCode::packFragments(Location loc, const FragmentScratch &scratch,
                                    ArrayRef<Value> elements, std::array<bool, 2> repeated) {
  auto type = fragmentType(scratch.opaque, scratch.turns[0].element);
  Registers result(scratch.opaque.numRegisters());
  std::map<std::vector<int64_t>, int64_t> known; // fragments, by where they differ
  for (int64_t fragment = 0; fragment < int64_t(result.size()); ++fragment) {
    std::vector<int64_t> at = scratch.opaque.registerOffset(fragment);
    for (int dim : {0, 1})
      at[dim] = repeated[dim] ? 0 : at[dim];
    auto [same, isNew] = known.insert({at, fragment});
    if (!isNew) {
      result[fragment] = result[same->second];
      continue;
    }
    const MemView &mem = scratch.turns[known.size() % 2];
    Value whole = materialize(loc, scratch.base);
    {
      OpBuilder::InsertionGuard guard(b);
      if (Value owner = isFirstOwner(loc, scratch.plain)) {
        auto branch = scf::IfOp::create(b, loc, owner, /*withElseRegion=*/false);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      for (const std::vector<int64_t> &run : scratch.runs.groups) {
        if (run[0] / scratch.share != fragment)
          continue;
        Value offset = scratchOffset(loc, scratch, run);
        SmallVector<Value> stored;
        for (int64_t reg : run)
          stored.push_back(elements[reg]);
        store(loc, mem, offset, stored);
      }
    }
    result[fragment] = LoadFragmentOp::create(b, loc, type, useOf(scratch.opaque), mem.base,
                                              whole, scratch.rowStride, scratch.transposed);
  }
  return result;
}

LogicalResult ThreadCode::convertFragments(ConvertLayoutOp op,
                                           const DistributedLayout &from,
                                           const DistributedLayout &to) {
  Location loc = op.getLoc();
  bool unpacks = from.isOpaque();
  const DistributedLayout &opaque = unpacks ? from : to;
  DistributedLayout plain = plainLayout(opaque);
  if (from.isOpaque() == to.isOpaque() || (unpacks ? to : from) != plain)
    return op.emitOpError() << "converts cooperative-matrix fragments to or from another "
                               "than their plain layout";
  FailureOr<Registers> source = registers(op.getSource());
  if (failed(source))
    return failure();
  Type element = cast<VectorType>(op.getSource().getType()).getElementType();
  FragmentScratch scratch = fragmentScratch(loc, element, opaque, plain);
  define(op.getResult(), unpacks ? unpackFragments(loc, scratch, *source)
                                 : packFragments(loc, scratch, *source,
                                                 repeatedDims(op.getSource())));
  return success();
}
