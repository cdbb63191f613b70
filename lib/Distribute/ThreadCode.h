// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of one kernel's distribution: who the thread is, what it holds of
// each vector, and where memory lies. The members are implemented by subject:
//   ThreadCode.cpp   ids, coordinates, index arithmetic, barriers, shared memory
//   Arguments.cpp    the signature of the thread form
//   Memory.cpp       views of memory; reads and writes of block vectors
//   UnalignedRuns.cpp  those of rows that begin anywhere
//   Padding.cpp      what is inside of a padded operand
//   AsyncCopy.cpp    copies from global to shared memory without registers
//   TileId.cpp       which tile the block computes
//   Reduce.cpp       multi_reduction: registers, shuffles, shared memory; blocks of a cluster
//   Fragments.cpp    opaque fragments: memory, bodies, conversions
//   ClusterSums.cpp  sums of which the blocks of a cluster have parts
//   Convert.cpp      convert_layout as planned by the layout library
//   ConvertByShuffles.cpp  its plans within a warp
//   Mma.cpp          matrix products by FMA from shared memory
//   MmaInstruction.cpp  matrix products by instructions, on fragments
//   WarpgroupMma.cpp    those of warpgroups, on shared memory
//   Gather.cpp          elements by coordinates that were computed
//   LoadMatrices.cpp    fragments out of shared memory
//   Rings.cpp           stages that are filled and emptied in turn
//   TensorCopies.cpp    what fills them, and results, by copy engines
//   ThreadCopies.cpp    what fills them by threads
//   Distribute.cpp   the walk over the kernel, and its new signature

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_THREADCODE_H
#define TILEWRIGHT_LIB_DISTRIBUTE_THREADCODE_H

#include "LayoutRules.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Layout/Conversion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace tilewright {

/// value + constant, both of index type; a null value is zero.
struct Index {
  mlir::Value value;
  int64_t constant = 0;
  Index(int64_t constant = 0) : constant(constant) {}
  Index(mlir::Value value) : value(value) {}
  bool isConstant() const { return !value; }
};

/// An operand that has elements only where a set over its dims says so.
struct PaddedMemory {
  mlir::IntegerSet inside;
  mlir::SmallVector<Index> symbols;
  mlir::TypedAttr fill;
  /// There may be nothing inside: no element that could be read in place of one.
  bool mayBeEmpty = false;
};

/// Comparisons made so far, by constraint and the coordinates that it speaks of.
using PaddingCache =
    std::map<std::pair<unsigned, std::vector<std::pair<const void *, int64_t>>>,
             mlir::Value>;

/// A strided view of rank-1 memory.
struct MemView {
  mlir::Value base; // memref<?xT> or memref<NxT, #tilewright.shared>
  Index offset;
  mlir::SmallVector<Index> sizes, strides;
  /// What the offset, sizes and strides are known to be multiples of.
  int64_t offsetDivisor = 1;
  mlir::SmallVector<int64_t> sizeDivisors, strideDivisors;
  SharedAttr shared; // null: global memory
  mlir::Type element;
  /// This kernel both reads and writes it.
  bool updated = false;
  std::optional<PaddedMemory> padding;
};

/// A ring: barriers that say of each stage that it is full, then that it is empty.
struct RingCode {
  mlir::Value barriers;
  /// The tiled loop along which blocks of the cluster multicast to each other; none: each
  /// fills its own stages.
  std::optional<unsigned> multicast;
  int64_t stages = 0, stageBytes = 0;
  /// How many threads copy into a stage; 0: copy engines do.
  int64_t copyThreads = 0;
  /// The tiles of stage 0, and elements from stage to stage.
  std::vector<MemView> tiles;
  mlir::SmallVector<int64_t> tileElements;
};

/// What one thread holds of a vector: one scalar per register.
using Registers = mlir::SmallVector<mlir::Value>;

/// Whether a loop carries `accumulator`, f16 sums of an asynchronous instruction, as that
/// has them: by pairs. To take them apart would be to touch them while it is under way.
bool staysPacked(mlir::Value accumulator);

class SharedOffsets;

class ThreadCode {
public:
  ThreadCode(mlir::func::FuncOp source, mlir::func::FuncOp target,
             LaunchAttr launch);

  mlir::func::FuncOp source, target;
  mlir::OpBuilder b;
  ThreadRange threads;
  int64_t accessBytes = 16;
  /// What is written now is not the same for all threads.
  bool isOneThread = false;
  /// Non-vector values of the source kernel in the new one.
  mlir::IRMapping scalars;

  //===--- Values ---------------------------------------------------------===//
  mlir::FailureOr<Registers> registers(mlir::Value vector);
  void define(mlir::Value vector, Registers values) {
    held[vector] = std::move(values);
  }
  /// A view of the source kernel's memref.
  mlir::FailureOr<MemView> view(mlir::Value memref);
  void defineView(mlir::Value memref, MemView value) {
    views[memref] = std::move(value);
  }

  /// Views and scalars for all arguments of the source kernel.
  mlir::LogicalResult mapArguments();

  //===--- Index arithmetic (folds constants) -----------------------------===//
  mlir::Value constant(mlir::Location loc, int64_t value);
  mlir::Value materialize(mlir::Location loc, Index index);
  Index add(mlir::Location loc, Index left, Index right);
  Index multiply(mlir::Location loc, Index left, Index right);
  Index mapped(mlir::OpFoldResult value);
  Index evaluate(mlir::Location loc, mlir::AffineExpr expr,
                 mlir::ArrayRef<Index> dims, mlir::ArrayRef<Index> symbols);
  /// i1: a padded view has an element at `coordinates`; null: anywhere.
  mlir::Value insideOf(mlir::Location loc, const MemView &view,
                       mlir::ArrayRef<Index> coordinates, PaddingCache &known);

  //===--- Who the thread is ----------------------------------------------===//
  mlir::Value lane() { return laneId; }
  mlir::Value warpOfBlock() { return warpId; }
  /// Counted from the first warp of the current range.
  mlir::Value warp();
  /// What follows has coordinates of its own, which no pass finds equal to those so far: they
  /// would be alive all the time in between. All lanes of the block are there.
  void computeCoordinatesAgain(mlir::Location loc);
  /// The thread's part of the coordinates, one Index per dim (register 0).
  mlir::SmallVector<Index> baseCoordinates(const DistributedLayout &layout);
  /// The part of them that comes from the warp.
  mlir::SmallVector<Index> warpCoordinates(const DistributedLayout &layout);
  /// i1: among the lanes, or warps, or both, this thread is the first owner of what
  /// it holds; null if all are.
  mlir::Value isFirstOwner(mlir::Location loc, const DistributedLayout &layout,
                           mlir::ArrayRef<layout::Level> levels = {
                               layout::Level::Lane, layout::Level::Warp});
  void barrier(mlir::Location loc);
  /// Numbers of as many named barriers, which nobody else takes; none if there are
  /// no more.
  std::optional<int64_t> takeBarriers(int64_t count);

  //===--- Clusters -------------------------------------------------------===//
  /// Blocks of a cluster along each tiled loop, and in all.
  llvm::ArrayRef<int64_t> cluster();
  int64_t clusterSize();
  /// Where blocks share rows, says so, and that this one is here.
  bool beginCluster();
  /// Of `tiles` along tiled loop `loop`: how many clusters there are.
  mlir::Value clusterCount(mlir::Location loc, unsigned loop, mlir::Value tiles);
  /// This block's tile along `loop` of the cluster with this number along it.
  mlir::Value tileOfCluster(mlir::Location loc, unsigned loop, mlir::Value number);
  /// This block's place along `loop` in its cluster.
  Index clusterDigit(mlir::Location loc, unsigned loop);
  /// The block of the cluster with this place along `loop`, which differs along it alone.
  mlir::Value blockAlong(mlir::Location loc, unsigned loop, mlir::Value place);
  /// How many blocks fill a stage of `ring` together.
  int64_t sharingBlocks(const RingCode &ring);
  /// A bit for each block of the cluster that differs along `loop` alone.
  mlir::Value clusterBlocks(mlir::Location loc, unsigned loop);

  //===--- Ops, by subject ------------------------------------------------===//
  mlir::LogicalResult read(mlir::vector::TransferReadOp op);
  /// A fragment out of shared memory by load_matrices; false where the layout or
  /// the memory does not allow it.
  bool readMatrices(mlir::vector::TransferReadOp op,
                    const DistributedLayout &layout);
  /// Opaque fragments out of and into memory, as they are, and to and from other
  /// layouts.
  mlir::LogicalResult readFragments(mlir::vector::TransferReadOp op,
                                    const DistributedLayout &layout);
  mlir::LogicalResult writeFragments(mlir::vector::TransferWriteOp op,
                                     const DistributedLayout &layout);
  mlir::LogicalResult mapFragments(MapFragmentsOp op);
  mlir::LogicalResult convertFragments(ConvertLayoutOp op,
                                       const DistributedLayout &from,
                                       const DistributedLayout &to);
  mlir::LogicalResult write(mlir::vector::TransferWriteOp op);
  mlir::LogicalResult gather(mlir::vector::GatherOp op);
  /// Registers of a gather that one load reads.
  layout::RegisterRuns gatherRuns(mlir::vector::GatherOp op, const MemView &mem,
                                  const DistributedLayout &layout);
  /// One of them, from `first` on; `last`: the place of its last element, if the run may be
  /// outside of the tensor.
  mlir::SmallVector<mlir::Value> loadRun(mlir::Location loc, const MemView &mem, const Index &base,
                                         mlir::Value first, mlir::Value last, int64_t length);
  mlir::LogicalResult scalarLoad(mlir::memref::LoadOp op);
  /// Accesses by which blocks wait for each other.
  mlir::LogicalResult takeNumber(TakeNumberOp op);
  mlir::LogicalResult publish(PublishOp op);
  mlir::LogicalResult observe(ObserveOp op);
  mlir::LogicalResult scalarStore(mlir::memref::StoreOp op);
  mlir::LogicalResult allocate(mlir::memref::AllocOp op);
  mlir::LogicalResult subview(mlir::memref::SubViewOp op);
  mlir::LogicalResult asyncCopy(AsyncCopyOp op);
  mlir::LogicalResult tileId(TileIdOp op);
  mlir::LogicalResult tileWalk(TileWalkOp op);
  mlir::LogicalResult workWalk(WorkWalkOp op);
  mlir::LogicalResult workItem(WorkItemOp op);
  mlir::LogicalResult reduce(mlir::vector::MultiDimReductionOp op);
  mlir::LogicalResult reduceOverCluster(ClusterReduceOp op);
  mlir::LogicalResult scatterOverCluster(ClusterScatterOp op);
  mlir::LogicalResult convert(ConvertLayoutOp op);
  /// What a plan without shared memory makes of `source`.
  Registers convertInWarp(mlir::Location loc,
                          const layout::ConversionPlan &plan,
                          const Registers &source);
  mlir::LogicalResult mma(MmaOp op);
  mlir::LogicalResult multiplyByFma(MmaOp op);
  mlir::LogicalResult multiplyByInstruction(MmaOp op);
  mlir::LogicalResult multiplyByWarpgroup(MmaOp op);
  /// Asynchronous instructions have two f16 in a register: sums of that type as
  /// vectors of two, and back; others as they are.
  Registers packPairs(mlir::Location loc, mlir::ValueRange values);
  Registers unpackPairs(mlir::Location loc, mlir::ValueRange values);
  mlir::LogicalResult mmaWait(MmaWaitOp op);
  mlir::LogicalResult ring(RingOp op);
  /// Waits for a stage and defines its tiles: `acquire` and `wait`.
  mlir::LogicalResult enterStage(mlir::Operation *op, mlir::Value ring,
                                 mlir::Value position, bool empty);
  mlir::LogicalResult tileCopy(TileCopyOp op);
  mlir::LogicalResult copyByThreads(TileCopyOp op);
  mlir::LogicalResult tileStore(TileStoreOp op);
  mlir::LogicalResult tileLoad(TileLoadOp op);
  mlir::LogicalResult fill(FillOp op);
  mlir::LogicalResult release(ReleaseOp op);

  /// Element offset of a view at coordinates, swizzle applied.
  mlir::Value elementOffset(mlir::Location loc, const MemView &view,
                            Index unswizzled);
  /// The same at indices of the block form.
  mlir::Value offsetOf(mlir::Location loc, const MemView &view, mlir::ValueRange indices);
  /// Loads / stores `count` neighbouring elements (i1 as bytes).
  mlir::SmallVector<mlir::Value> load(mlir::Location loc, const MemView &view,
                                      mlir::Value offset, int64_t count);
  void store(mlir::Location loc, const MemView &view, mlir::Value offset,
             mlir::ArrayRef<mlir::Value> values);

  /// Shared memory in the arrangement of a shared layout.
  MemView scratch(mlir::Location loc, mlir::Type element,
                  const layout::SharedLayout &layout);
  /// Element offset, before the swizzle, of a thread's first register, and of register
  /// `reg` where that is `base`.
  Index threadOffset(mlir::Location loc, const MemView &view,
                     const DistributedLayout &layout);
  Index registerOffset(mlir::Location loc, const MemView &view,
                       const DistributedLayout &layout, Index base, int64_t reg);
  /// All registers of a block vector to / from memory without bounds, in runs
  /// of at most `width` along `dim`. Only first owners store.
  void storeBlock(mlir::Location loc, const MemView &view,
                  const DistributedLayout &layout,
                  mlir::ArrayRef<mlir::Value> values, int dim, int64_t width);
  Registers loadBlock(mlir::Location loc, const MemView &view,
                      const DistributedLayout &layout, int dim, int64_t width);
  /// A shuffle of any scalar type.
  mlir::Value shuffle(mlir::Location loc, mlir::Value value, mlir::Value offset,
                      mlir::gpu::ShuffleMode mode);

  /// Rank-1 shared memory at the top of the kernel.
  mlir::Value sharedMemory(mlir::Location loc, mlir::Type element,
                           int64_t elements);
  /// Barriers inside the current warps region use this id (0: whole block).
  int64_t barrierId = 0;

private:
  mlir::SmallVector<Index>
  coordinates(const DistributedLayout &layout,
              mlir::ArrayRef<layout::Level> levels);
  struct FragmentPlaces {
    mlir::Value memory, stride; // of rows, if transposed of columns
    mlir::SmallVector<mlir::Value> offsets; // one per register
    mlir::Type element;
    bool transposed = false;
  };
  struct FragmentScratch;
  FragmentScratch fragmentScratch(mlir::Location loc, mlir::Type element,
                                  const DistributedLayout &opaque,
                                  const DistributedLayout &plain);
  mlir::Value scratchOffset(mlir::Location loc, const FragmentScratch &scratch,
                            mlir::ArrayRef<int64_t> run);
  Registers unpackFragments(mlir::Location loc, const FragmentScratch &scratch,
                            mlir::ArrayRef<mlir::Value> fragments);
  Registers packFragments(mlir::Location loc, const FragmentScratch &scratch,
                          mlir::ArrayRef<mlir::Value> elements, std::array<bool, 2> repeated);
  mlir::FailureOr<FragmentPlaces>
  fragmentPlaces(mlir::VectorTransferOpInterface op,
                 const DistributedLayout &layout);
  struct Access;
  mlir::FailureOr<Access> access(mlir::Operation *op, mlir::Value memref,
                                 mlir::OperandRange indices,
                                 mlir::AffineMap map, mlir::ArrayAttr inBounds,
                                 mlir::VectorType type,
                                 const DistributedLayout &layout);
  /// The lanes of a transfer's mask, empty without one. What is masked is accessed element by
  /// element.
  mlir::FailureOr<Registers> maskOf(mlir::Value mask, const DistributedLayout &layout,
                                    Access &access);
  struct UnalignedRuns;
  /// Runs longer than those that alignment allows, if the read may take them.
  std::optional<UnalignedRuns> findUnalignedRead(mlir::vector::TransferReadOp op,
                                                 const Access &access);
  std::optional<UnalignedRuns>
  findUnalignedWrite(mlir::vector::TransferWriteOp op, const Access &access);
  Registers readUnaligned(mlir::Location loc, Access &access,
                          const UnalignedRuns &runs);
  mlir::SmallVector<mlir::Value> readWords(mlir::Location loc, Access &access,
                                           const UnalignedRuns &unaligned);
  mlir::SmallVector<mlir::Value> readMasked(mlir::Location loc, Access &access,
                                            const UnalignedRuns &unaligned,
                                            mlir::Value zeros, mlir::Value none);
  void writeUnaligned(mlir::Location loc, Access &access,
                      const UnalignedRuns &runs, mlir::Value owner,
                      mlir::ArrayRef<mlir::Value> values);
  std::optional<UnalignedRuns> findUnaligned(const Access &access);
  /// i1: reading whole words around what the thread reads stays in the buffer.
  mlir::Value wordsInside(mlir::Location loc, Access &access,
                          const UnalignedRuns &unaligned);
  /// Neighbouring words, of which each takes the place of those `phase` elements
  /// of `bits` bits before it.
  mlir::SmallVector<mlir::Value> shiftWords(mlir::Location loc,
                                            mlir::ArrayRef<mlir::Value> words,
                                            mlir::Value phase, int64_t bits);
  /// How many elements of the run at `reg` are inside.
  mlir::Value validOfRun(mlir::Location loc, Access &access, int64_t reg,
                         int64_t length);
  mlir::Value allInside(mlir::Location loc, Access &access);
  /// i1: the padded view has the elements of a run; null: it is not padded.
  mlir::Value groupInsidePadding(mlir::Location loc, Access &access, int64_t reg);
  mlir::Value fillOf(mlir::Location loc, const MemView &view);
  std::optional<SharedOffsets> swizzledOffsets(mlir::Location loc, const Access &access);
  Registers readRunsOf(mlir::Location loc, Access &access,
                       const layout::RegisterRuns &runs, bool checked,
                       const Registers &mask, mlir::Value padding);
  void writeRunsOf(mlir::Location loc, Access &access,
                   const layout::RegisterRuns &runs, bool checked,
                   const Registers &mask, mlir::Value owner,
                   mlir::ArrayRef<mlir::Value> values);
  Index groupOffset(mlir::Location loc, const Access &access, int64_t reg);
  mlir::SmallVector<mlir::Value> maskedLoad(mlir::Location loc,
                                            const MemView &view,
                                            mlir::Value offset,
                                            mlir::Value inside,
                                            mlir::Value padding, int64_t count);
  mlir::Value groupPredicate(mlir::Location loc, Access &access, int64_t reg);
  mlir::Value isInside(mlir::Location loc, Access &access, int64_t dim, int64_t coordinate);
  Index clampedOffset(mlir::Location loc, Access &access, int64_t reg);

  void enterOneThread(mlir::Location loc);
  /// Goes on in code that one thread of each of the current warpgroups runs, always
  /// the same.
  void enterOneOfGroup(mlir::Location loc);
  /// For the threads of the current warpgroup, the `group`th of its range.
  mlir::LogicalResult groupBarrier(mlir::Operation *op, mlir::Value group);
  /// How many arrivals make a stage of `ring`, that of `op`, empty.
  mlir::FailureOr<int64_t> countReleases(RingOp op, const RingCode &ring);
  /// Shared memory for all stages of a tile of `ring`.
  mlir::LogicalResult addTile(RingOp op, mlir::MemRefType tile, RingCode &ring);
  /// Barriers for stages that are full, and, after `arrivals`, empty.
  void initBarriers(RingOp op, RingCode &ring, int64_t arrivals);
  mlir::Value stageOf(mlir::Location loc, const RingCode &ring,
                      mlir::Value position, bool empty);

  mlir::Value laneId, warpId;
  llvm::DenseMap<mlir::Value, RingCode> rings;
  int64_t nextBarrier = 0;
  /// Nobody has waited yet for the cluster's blocks to begin.
  bool waitsForCluster = false;
  /// By the first warp of a range of warpgroups: the first one's barrier.
  llvm::DenseMap<int64_t, int64_t> groupBarriers;
  /// Pieces that wait to be stored, by element type.
  llvm::DenseMap<mlir::Type, mlir::Value> pieces;
  /// Those that were loaded into that memory, and nothing was stored from it since.
  llvm::SmallDenseSet<mlir::Type, 2> loadedPieces;
  llvm::DenseMap<mlir::Attribute, mlir::Value> tensorMaps;
  /// By operands that are pixels of images: how many the result has along each dim of space.
  llvm::DenseMap<int64_t, mlir::SmallVector<Index>> places;
  mlir::Operation *prologueEnd = nullptr, *coordinatesEnd = nullptr;
  llvm::DenseMap<mlir::Value, Registers> held;
  llvm::DenseMap<mlir::Value, MemView> views;
  std::map<std::string, mlir::SmallVector<Index>> bases;
};

/// The scalar arguments of the thread form: dims of buffers, for each window its
/// strides and its offset, of images open numbers of pixels, then host scalars. Appends the
/// types of all arguments.
mlir::SmallVector<mlir::Attribute>
scalarArguments(mlir::func::FuncOp source,
                mlir::SmallVectorImpl<mlir::Type> &types);

/// The number among the kernel's buffers of what a copy engine reads or writes.
mlir::FailureOr<int64_t> bufferOf(mlir::Operation *op, mlir::Value memory);

/// The tensor map of the pieces of `tile` that go to or from `memory` (TilePieces.cpp).
mlir::FailureOr<TensorMapAttr> pieceMapOf(mlir::Operation *op, mlir::Value memory,
                                          mlir::Type tile);

/// The tensor maps that a kernel's copies need, `#tilewright.tensor_map`, in the
/// order of the arguments that follow the scalars.
mlir::FailureOr<mlir::SmallVector<mlir::Attribute>>
tensorMapArguments(mlir::func::FuncOp source);

/// Whether `expr`, of constant coefficients, becomes more along `dim`.
bool growsAlong(mlir::AffineExpr expr, unsigned dim, unsigned numDims);

/// The type that holds `element` in memory (i1 becomes i8).
mlir::Type memoryElement(mlir::Type element);

/// acc = combine(acc, value), as scalars.
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc,
                    mlir::vector::CombiningKind kind, mlir::Value acc,
                    mlir::Value value);

} // namespace tilewright

#endif
