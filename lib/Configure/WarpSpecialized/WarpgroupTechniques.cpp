// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What else a config of warp_specialized may ask for: blocks that compute tile after
// tile (`persistent`), results that leave through shared memory by copy engines
// (`tma_store`), and blocks in clusters that share what they read (`cluster`). What
// tensor maps of results can name is said here, and which of the three a kernel takes
// by default: all that it can. So is what threads can copy (no `tma_copy`).

#include "CostModel.h"
#include "Enumerate.h"
#include "WarpSpecialized.h"
#include "TensorMaps.h"
#include "WarpgroupRegisters.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/UserNames.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;

/// The indexing map of the destination that a result of the kernel is written to.
static AffineMap resultMap(OpResult result) {
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  return op.getMatchingIndexingMap(op.getDpsInitOperand(result.getResultNumber()));
}

bool tilewright::hasTileShape(const KernelInfo &info, OpResult result,
                              const MatrixLoops &loops) {
  AffineMap map = resultMap(result);
  ArrayRef<unsigned> classes = info.getClasses(result.getOwner()),
                     root = info.getClasses(info.getRoot());
  bool hasRows = false, hasColumns = false;
  for (AffineExpr expr : map.getResults()) {
    unsigned number = classes[cast<AffineDimExpr>(expr).getPosition()];
    hasRows |= number == root[loops.m];
    hasColumns |= number == root[loops.n];
  }
  return hasRows && hasColumns;
}

/// Why copy engines cannot store result `number`; empty if they can.
static Refusal whyNotStored(const KernelInfo &info, unsigned number, const MatrixLoops &loops,
                            int64_t columns) {
  OpResult result = info.results[number];
  std::string what = "result " + std::to_string(number);
  BlockArgument argument = info.getDestination(number);
  auto type = cast<RankedTensorType>(argument.getType());
  AffineMap map = resultMap(result);
  ArrayRef<unsigned> classes = info.getClasses(result.getOwner()),
                     root = info.getClasses(info.getRoot());
  auto classOf = [&](unsigned dim) { return classes[map.getDimPosition(dim)]; };
  unsigned rank = type.getRank();
  if (rank < 2 || classOf(rank - 2) != root[loops.m] ||
      classOf(rank - 1) != root[loops.n])
    return refuse(Refused::Layout,
                  what + " does not lie in memory as rows and columns of the tile do");
  if (getView(info.kernel, operandNumber(argument)))
    return refuse(Refused::Layout, what + " is a window of a larger tensor");
  if (Refusal why = whyNoTensorMap(info.kernel, argument))
    return why.after(what);
  int64_t bytes = bytesPerElement(type);
  if (!storePieceOf(columns, bytes).rowBytes)
    return refuse(Refused::Indivisible,
                  what + " has tiles of " + std::to_string(columns * bytes) +
                      " bytes a row; copy engines store multiples of 32 out of swizzled memory");
  return {};
}

Refusal tilewright::whyNotCopiedByThreads(const KernelInfo &info, LoweringConfigAttr config,
                                          int64_t groups) {
  if (config.getTmaCopy())
    return {};
  std::string none = "'tma_copy' is false: ";
  if (llvm::product_of(config.getCluster()) > 1)
    return refuse(Refused::Config,
                  none + "threads copy to their own block, and not to those of a 'cluster'");
  if (!config.getProducer() && !llvm::isPowerOf2_64(groups))
    return refuse(
        Refused::Indivisible,
        none + std::to_string(groups) +
            " warpgroups cannot share the copies of a step evenly; 1, 2, 4 or a 'producer' "
            "can");
  func::FuncOp kernel = info.kernel;
  for (BlockArgument argument : kernel.getArguments())
    if (isa<ShapedType>(argument.getType()) && getImage(kernel, operandNumber(argument)))
      return refuse(Refused::Layout, none + "argument " + std::to_string(argument.getArgNumber()) +
                                         " is pixels of images, which copy engines alone read");
  return {};
}

/// Whether threads have rows of A side by side, as they are neighbours in memory.
static bool hasRowsTogether(const KernelInfo &info, LoweringConfigAttr config,
                            const MatrixLoops &loops) {
  Contraction product = *info.getOriented(config);
  if (!hasAInRegisters(config, product) || chainedProduct(info, config))
    return false;
  OpOperand *copied = copiedOperand(info, product.a, product, loops);
  if (!copied)
    return false;
  auto owner = cast<linalg::LinalgOp>(copied->getOwner());
  AffineMap map = owner.getMatchingIndexingMap(copied);
  return info.getClasses(owner)[map.getDimPosition(map.getNumResults() - 1)] ==
         info.getClasses(info.getRoot())[loops.m];
}

Refusal tilewright::whyNotStoredByEngine(const KernelInfo &info, LoweringConfigAttr config,
                                         const MatrixLoops &loops) {
  if (hasRowsTogether(info, config, loops))
    return refuse(Refused::Layout,
                  "'tma_store': the rows of an operand in registers are neighbours in memory, and "
                  "sums have the order in which threads read them");
  bool any = false;
  for (auto [number, result] : llvm::enumerate(info.results)) {
    if (!hasTileShape(info, result, loops))
      continue;
    any = true;
    if (Refusal why = whyNotStored(info, number, loops, config.getBlock()[loops.n]))
      return why.after("'tma_store': ");
  }
  if (any)
    return {};
  return refuse(Refused::Layout, "'tma_store': no result has the tile's rows and columns");
}

/// Bytes of arrays of barriers, those of `sizes`, as they are placed: the most aligned first.
static int64_t barrierBytes(SmallVector<int64_t> sizes) {
  constexpr int64_t kLeast = 16, kMost = 128;
  auto alignment = [=](int64_t bytes) {
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(bytes), kLeast, kMost);
  };
  llvm::stable_sort(sizes, [&](int64_t left, int64_t right) {
    return alignment(left) > alignment(right);
  });
  int64_t end = 0;
  for (int64_t bytes : sizes)
    end = llvm::alignTo(end, alignment(bytes)) + bytes;
  return end;
}

int64_t tilewright::storeBytes(const KernelInfo &info, LoweringConfigAttr config) {
  if (!config.getTmaStore())
    return 0;
  std::optional<MatrixLoops> loops =
      findMatrixLoops(*info.getOriented(config), config);
  if (!loops)
    return 0;
  llvm::SmallSetVector<Type, 2> types;
  for (OpResult result : info.results)
    if (hasTileShape(info, result, *loops))
      types.insert(getElementTypeOrSelf(result.getType()));
  int64_t groups = entry(config.getWarps(), loops->m, 1) / 4, bytes = 0;
  constexpr int64_t kBarrier = 8;
  llvm::SmallSetVector<Type, 2> loaded;
  for (OpOperand *tile : loadedTiles(info, config)) {
    loaded.insert(getElementTypeOrSelf(tile->get().getType()));
    types.insert(loaded.back());
  }
  // Beside those of the ring.
  int64_t ring = 2 * kBarrier * config.getStages();
  SmallVector<int64_t> barriers(loaded.size(), kBarrier * StorePiece::kTurns * groups);
  barriers.push_back(ring);
  bytes += barrierBytes(std::move(barriers)) - ring;
  for (Type type : types) {
    StorePiece piece = storePieceOf(
        config.getBlock()[loops->n],
        bytesPerElement(RankedTensorType::get({1}, type)));
    bytes += StorePiece::kTurns * groups * piece.rows * piece.rowBytes;
  }
  return bytes;
}

/// Whether a tile of operand `number`, of so many rows and sums, has a part of whole
/// swizzles for each of `blocks`.
static bool hasParts(const KernelInfo &info, linalg::LinalgOp product, unsigned number,
                     int64_t rows, int64_t sums, int64_t blocks) {
  constexpr int64_t kSwizzleRows = 8;
  OpOperand &operand = product->getOpOperand(number);
  AffineMap map = product.getMatchingIndexingMap(&operand);
  if (llvm::is_contained(info.getContraction(product)->k,
                         map.getDimPosition(map.getNumResults() - 1)))
    return rows % (blocks * kSwizzleRows) == 0;
  StorePiece box = storePieceOf(rows, bytesPerElement(operand.get().getType()));
  return (box.columns && rows / box.columns % blocks == 0) ||
         sums % (blocks * kSwizzleRows) == 0;
}

Refusal tilewright::whyNotClustered(const KernelInfo &info, LoweringConfigAttr config,
                                    const MatrixLoops &loops) {
  constexpr int64_t kMostBlocks = 8;
  if (config.getCluster().empty())
    return {};
  linalg::LinalgOp root = info.getRoot(), first = chainedProduct(info, config);
  Contraction product = *info.getOriented(config);
  int64_t most = 1;
  for (auto [loop, blocks] : llvm::enumerate(config.getCluster())) {
    std::string along = "'cluster' has " + std::to_string(blocks) +
                        " blocks along loop " + std::to_string(loop);
    // Parts of a sum: whyNotSummedInCluster.
    if (blocks == 1 || clusterSumLoop(info, config) == unsigned(loop))
      continue;
    if (loop != loops.m && loop != loops.n)
      return refuse(Refused::Config,
                    along + ", which is not the rows or columns of the tile: they share nothing");
    if (most > 1)
      return refuse(Refused::Config,
                    along + ", and others along another loop; a tile is shared along one");
    if (blocks > kMostBlocks || !llvm::isPowerOf2_64(blocks))
      return refuse(Refused::Config, along + "; it must be 2, 4 or 8");
    most = blocks;
    int64_t extent = root.getStaticLoopRanges()[loop];
    if (ShapedType::isStatic(extent) && extent <= config.getBlock()[loop])
      return refuse(Refused::Extents, along + ", which has one tile");
    // The operand without this loop is cut into a part for each block.
    unsigned shared = loop == loops.m ? product.b : product.a;
    if (shared == product.a && hasAInRegisters(config, product))
      return refuse(Refused::Config,
                    along + ", which would share an operand that each computes in registers");
    int64_t rows = config.getBlock()[loop == loops.m ? loops.n : loops.m];
    int64_t sums = config.getBlock()[loops.k];
    if (!hasParts(info, root, shared, rows, sums, blocks) ||
        (first && !hasParts(info, first, info.getContraction(first)->b, sums,
                            chainedStep(first), blocks)))
      return refuse(Refused::Indivisible, along + ", and a tile of " +
                                              numberOperand(root->getOpOperand(shared)) +
                                              " has no part of whole swizzles for each of them");
    // The last cluster may have blocks without a tile, which read and write nothing.
    if ((ShapedType::isDynamic(extent) ||
         llvm::divideCeil(extent, config.getBlock()[loop]) % blocks) &&
        !root.getDpsInits().front().getDefiningOp<linalg::FillOp>())
      return refuse(Refused::Indivisible,
                    along + ", of whose tiles there may be no multiple, and sums begin with "
                            "what is in memory");
  }
  return {};
}

namespace {
/// The techniques of a config beside its tile and ring.
struct Techniques {
  bool persistent = false, tmaStore = false;
  SmallVector<int64_t> cluster;
};
} // namespace

static LoweringConfigAttr with(LoweringConfigAttr config,
                               const Techniques &techniques) {
  return config.withPersistent(techniques.persistent)
      .withCluster(techniques.cluster)
      .withTmaStore(techniques.tmaStore);
}

SmallVector<int64_t> tilewright::sharingBlocks(const KernelInfo &info,
                                               LoweringConfigAttr config,
                                               const MatrixLoops &loops, int64_t blocks) {
  SmallVector<int64_t> extents = info.getRoot().getStaticLoopRanges();
  for (unsigned loop : {loops.m, loops.n}) {
    if (ShapedType::isDynamic(extents[loop]) ||
        llvm::divideCeil(extents[loop], config.getBlock()[loop]) % blocks)
      continue;
    Techniques pair;
    pair.cluster.assign(config.getBlock().size(), 1);
    pair.cluster[loop] = blocks;
    if (!whyNotClustered(info, with(config, pair), loops))
      return pair.cluster;
  }
  return {};
}

SmallVector<LoweringConfigAttr>
tilewright::withTechniques(const KernelInfo &info, LoweringConfigAttr config,
                           bool each) {
  std::optional<MatrixLoops> loops =
      findMatrixLoops(*info.getOriented(config), config);
  if (!loops)
    return {config};
  Techniques all;
  all.persistent = true;
  all.tmaStore = !whyNotStoredByEngine(info, config, *loops);
  all.cluster = sharingBlocks(info, config, *loops, 2);
  SmallVector<LoweringConfigAttr> configs{with(config, all)};
  auto add = [&](const Techniques &techniques) {
    addUnique(configs, with(config, techniques));
  };
  // What results need in shared memory may be what a stage needs.
  Techniques less = all;
  less.tmaStore = false;
  add(less);
  // To be launched in clusters takes time, too.
  less = all;
  less.cluster.clear();
  add(less);
  if (!each)
    return configs;
  less = all;
  less.persistent = false;
  add(less);
  add(Techniques());
  return configs;
}

SmallVector<LoweringConfigAttr>
Warpgroups::neighbours(LoweringConfigAttr config) const {
  SmallVector<LoweringConfigAttr> configs;
  int64_t groups = llvm::product_of(config.getWarps()) / 4;
  // Where there are few tiles they are all at work at the same time.
  if (config.getRaster() > 1)
    for (int64_t raster : {1, 4, 8, 16})
      if (raster != config.getRaster())
        configs.push_back(config.withRaster(raster));
  for (ArrayRef<int64_t> registers : otherRegisters(groups))
    if (registers != config.getRegisters())
      configs.push_back(config.withRegisters(registers));
  if (config.getProducer())
    configs.push_back(config.withoutProducer());
  if (config.getTmaCopy())
    configs.push_back(config.withoutTmaCopy());
  return configs;
}
