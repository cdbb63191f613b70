// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products on CPUs: a block is what one task of the thread pool computes, a
// register tile (`thread`) is what its inner loops keep in vector registers.
//
//   contraction, AVX-512:  block = [256, 256, 256], thread = [8, 32, 8], promote = [0, 1]
//   the same of bytes:      block = [256, 256, 768], thread = [32, 32, 64], promote = [0, 1],
//                           mma = "amx.m16n16k64.s8.s32"
//   read in place:         block = [64, 128, 1],    thread = [8, 32, 1]
//   the same, two of the sum to a byte:  block = [64, 128, 2], thread = [8, 32, 1]
//
// Operands that are promoted are packed into panels, a chunk of the sum at a time: then
// `block` has the length of the chunk and `thread` that of the inner loop's step.
// Sequential loops have no register tile of their own: their block entry is the
// step.

#include "Cpu.h"
#include "Enumerate.h"
#include "EnumerateCpu.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Dialect/Divisibility.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// The widest element that a kernel's ops compute with, in bytes. f8, f16 and
/// bf16 are computed as f32.
static int64_t computedBytes(const KernelInfo &info) {
  int64_t bytes = 1;
  auto see = [&](Type type) {
    if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
      bytes = std::max<int64_t>(bytes, 4);
    else if (type.isIntOrFloat())
      bytes = std::max(bytes, bytesPerElement(type));
  };
  for (linalg::LinalgOp op : info.ops) {
    llvm::for_each(op.getBlock()->getArgumentTypes(), see);
    op.getBlock()->walk([&](Operation *inner) {
      llvm::for_each(inner->getResultTypes(), see);
    });
  }
  return bytes;
}

int64_t tilewright::lanesOf(const KernelInfo &info, TargetAttr target) {
  return std::max<int64_t>(1, target.getFact("vector_bytes", 32) / computedBytes(info));
}

LoweringConfigAttr tilewright::makeConfig(const KernelInfo &info, ArrayRef<int64_t> block,
                                          ArrayRef<int64_t> thread) {
  return LoweringConfigAttr::get(info.getRoot()->getContext(), info.strategy,
                                 block, {}, thread, 1, {}, {},
                                 info.getSplits(), /*raster=*/1);
}

/// Rows of a register tile of two vectors in so many registers: eight (six), or up to a third
/// less if these leave the last tile of `extent` rows whole; with 32 registers up to 13 where
/// so many leave less of it empty. Not of words, of which squares are packed.
static int64_t wholeRows(int64_t extent, int64_t registers, bool words = false) {
  int64_t usual = registers >= 32 ? 8 : 6, most = registers >= 32 && !words ? 13 : usual;
  for (int64_t rows = usual; 3 * rows >= 2 * usual; --rows)
    if (extent % rows == 0)
      return rows;
  int64_t best = usual;
  for (int64_t rows = usual + 1; rows <= most; ++rows)
    if (llvm::alignTo(extent, rows) < llvm::alignTo(extent, best))
      best = rows;
  // More rows are more code: for more than a few hundredths.
  bool pays = 1.03 * llvm::alignTo(extent, best) < llvm::alignTo(extent, usual);
  return pays ? best : usual;
}

/// Vectors of columns that a register tile of eight rows may have: two or one, or three of AVX-512
/// where so many leave less of the last tile of `extent` columns empty.
static SmallVector<int64_t> vectorCounts(int64_t extent, int64_t lanes, TargetAttr target) {
  SmallVector<int64_t> counts{2, 1};
  bool isAvx512 =
      target.getFact("vector_bytes", 32) == 64 && target.getText("triple").empty();
  if (isAvx512 && 1.02 * llvm::alignTo(extent, 3 * lanes) < llvm::alignTo(extent, 2 * lanes))
    counts.insert(counts.begin(), 3);
  return counts;
}

/// Blocks of packed operands, of a register tile `thread` with `rows` rows where there
/// are as many, elements of `bytes` each: the panel of rows has half of the first-level
/// cache, that of columns at most a quarter of the second-level cache.
static void addPackedBlocks(const KernelInfo &info, TargetAttr target,
                            const Contraction &contraction, ArrayRef<int64_t> thread,
                            int64_t rows, int64_t bytes, ArrayRef<int64_t> promote,
                            StringAttr mma, std::vector<LoweringConfigAttr> &configs) {
  unsigned m = contraction.m.back(), n = contraction.n.back(),
           k = contraction.k.back();
  for (int64_t side : {256, 128, 64, 32}) {
    SmallVector<int64_t> block(info.getNumConfigLoops(), 1);
    block[m] = evenPiece(nominalExtent(info, m), std::max(side, thread[m]), thread[m]);
    block[n] = evenPiece(nominalExtent(info, n), std::max(side, thread[n]), thread[n]);
    int64_t chunk = std::min(
        target.getFact("l1_bytes", 32 * 1024) / 2 / (rows * bytes),
        target.getFact("l2_bytes", 256 * 1024) / 4 / (block[n] * bytes));
    if (contraction.k.size() == 2) {
      // A chunk has all of the inner loop, as many of the outer one as fit.
      block[k] = llvm::alignTo(nominalExtent(info, k), thread[k]);
      unsigned outer = contraction.k.front();
      block[outer] = evenPiece(nominalExtent(info, outer),
                               std::max<int64_t>(1, chunk / block[k]), 1);
    } else {
      block[k] = evenPiece(nominalExtent(info, k), std::max(chunk, thread[k]), thread[k]);
    }
    auto config = LoweringConfigAttr::get(
        info.getRoot()->getContext(), info.strategy, block, {}, thread, 1, promote,
        mma, info.getSplits(), /*raster=*/1);
    addUnique(configs, config);
  }
}

/// What dot products of words of `word` elements take of a sum in a step: eight words, or four
/// where these leave less of the last step empty.
static int64_t stepOfWords(int64_t sum, int64_t word) {
  return llvm::alignTo(sum, 8 * word) == llvm::alignTo(sum, 4 * word) ? 8 * word : 4 * word;
}

/// Both operands packed for an instruction that multiplies them as they are.
static void addPanelInstructions(const KernelInfo &info, TargetAttr target,
                                 const Contraction &contraction,
                                 ArrayRef<int64_t> promote, int64_t registers,
                                 std::vector<LoweringConfigAttr> &configs) {
  auto names = target.getFacts().getAs<ArrayAttr>("panel_mma");
  if (!names)
    return;
  unsigned m = contraction.m.back(), n = contraction.n.back(),
           k = contraction.k.back();
  // Rows of the operands are read, not gathered.
  for (auto [number, own] : {std::pair(contraction.a, m), {contraction.b, n}}) {
    AffineMap map = info.getRoot().getMatchingIndexingMap(
        &info.getRoot()->getOpOperand(number));
    unsigned last = map.getDimPosition(map.getNumResults() - 1);
    if (last != own && last != k)
      return;
  }
  for (auto name : names.getAsRange<StringAttr>()) {
    auto instruction = MatrixInstruction::parse(name.getContext(), name);
    if (!instruction || !hasTypesOf(info.getRoot(), contraction, *instruction))
      continue;
    int64_t rowsFull = instruction->tiles ? 32
                                          : wholeRows(nominalExtent(info, m), registers,
                                                      /*words=*/true);
    // Bytes are interleaved by powers of two.
    SmallVector<int64_t> counts{2, 1};
    if (!instruction->tiles && instruction->perWord() == 2)
      counts = vectorCounts(nominalExtent(info, n), instruction->n, target);
    for (int64_t rows : {rowsFull, rowsFull / 2})
      for (int64_t vectors : counts) {
        SmallVector<int64_t> thread(info.getNumConfigLoops(), 1);
        thread[m] = std::min(rows, nominalExtent(info, m));
        thread[n] = vectors * instruction->n;
        thread[k] = instruction->tiles ? instruction->k
                                       : stepOfWords(nominalExtent(info, k), instruction->k);
        addPackedBlocks(info, target, contraction, thread, rows,
                        instruction->operandBits() / 8, promote, name, configs);
      }
  }
}

/// Both operands packed.
static void addPacked(const KernelInfo &info, TargetAttr target, int64_t lanes,
                      int64_t registers, std::vector<LoweringConfigAttr> &configs) {
  if (whyNotPacked(info))
    return;
  Contraction contraction = *matchContractionByRows(info.getRoot());
  unsigned m = contraction.m.back(), n = contraction.n.back(),
           k = contraction.k.back();
  constexpr int64_t kStep = 8, kSmallestSum = 32;
  int64_t rowsMost = nominalExtent(info, m), columnsMost = nominalExtent(info, n),
          sum = sumExtent(info, contraction);
  int64_t bytes = bytesPerElement(info.getRoot().getDpsInits()[0].getType());
  // What is packed is used for several rows.
  if (sum < kSmallestSum || columnsMost < lanes || rowsMost == 1)
    return;
  SmallVector<int64_t> promote{contraction.a, contraction.b};
  llvm::sort(promote);
  int64_t rowsFull = wholeRows(rowsMost, registers);
  addPanelInstructions(info, target, contraction, promote, registers, configs);
  for (int64_t rows : {rowsFull, rowsFull / 2})
    for (int64_t vectors : vectorCounts(columnsMost, lanes, target)) {
      if (isOddVector(columnsMost, vectors * lanes, lanes) ||
          vectors * (rows + 1) >= registers)
        continue;
      SmallVector<int64_t> thread(info.getNumConfigLoops(), 1);
      thread[m] = std::min(rows, rowsMost);
      thread[n] = vectors * lanes;
      thread[k] = contraction.k.size() == 2 ? std::min(kStep, nominalExtent(info, k)) : kStep;
      addPackedBlocks(info, target, contraction, thread, rows, bytes, promote, {}, configs);
      if (!whyNoRowsInPlace(info))
        addPackedBlocks(info, target, contraction, thread, rows, bytes,
                        int64_t(contraction.b), {}, configs);
    }
}

void tilewright::addChunked(const KernelInfo &info, TargetAttr target, int64_t lanes,
                            std::vector<LoweringConfigAttr> &configs) {
  constexpr int64_t kRows = 8, kVectors = 4, kTasks = 2;
  std::optional<ChunkedSum> loops = chunkedSum(info);
  if (!loops)
    return;
  auto [k, n] = *loops;
  int64_t extent = nominalExtent(info, n), sum = nominalExtent(info, k);
  int64_t bytes = bytesPerElement(info.getRoot().getDpsInits()[0].getType());
  int64_t tile = kVectors * lanes;
  if (extent < 2 * tile || sum < 2 * kRows ||
      extent * sum * bytes <= target.getFact("l2_bytes", 256 * 1024))
    return;
  SmallVector<int64_t> block(info.getNumConfigLoops(), 1), thread(block);
  block[k] = kRows;
  thread[n] = tile;
  // The sums of a block stay in the first-level cache, beside what is read.
  int64_t most = target.getFact("l1_bytes", 32 * 1024) / 2 / bytes;
  block[n] = evenPiece(extent, std::min<int64_t>(most, llvm::divideCeil(extent, kTasks)), tile);
  configs.push_back(makeConfig(info, block, thread));
}

/// Blocks of all rows and one tile's columns, which the second-level cache keeps for the
/// next row of tiles: of products whose columns come from memory, as a filter's do. Of
/// columns that are stored in strips, of as many rows as are worth reading a strip for.
static void addColumns(const KernelInfo &info, const Contraction &contraction,
                       int64_t rows, int64_t lanes, int64_t registers,
                       std::vector<LoweringConfigAttr> &configs) {
  constexpr int64_t kRowsMost = 1024;
  unsigned m = contraction.m.back(), n = contraction.n.back();
  bool strips = hasStrips(info.getRoot(), contraction);
  int64_t extent = nominalExtent(info, n), columns = extent, all = 1;
  if (strips)
    columns *= nominalExtent(info, contraction.n.front());
  SmallVector<int64_t> block(info.getNumConfigLoops(), 1), thread(block);
  for (unsigned loop : llvm::reverse(contraction.m)) {
    if (!strips &&
        ShapedType::isDynamic(info.classes[info.getClasses(info.getRoot())[loop]].extent))
      return;
    int64_t most = strips ? std::max<int64_t>(1, kRowsMost / all) : nominalExtent(info, loop);
    block[loop] = std::min(nominalExtent(info, loop), most);
    all *= block[loop];
  }
  if (all > kRowsMost)
    return;
  thread[m] = std::min(rows, block[m]);
  block[m] = llvm::alignTo(block[m], thread[m]);
  for (int64_t vectors : {4, 2, 1}) {
    if (columns < 2 * vectors * lanes || extent < vectors * lanes ||
        vectors * (rows + 1) > registers || isOddVector(extent, vectors * lanes, lanes))
      continue;
    block[n] = thread[n] = vectors * lanes;
    addUnique(configs, makeConfig(info, block, thread));
  }
}

/// Blocks of all columns of a small product: the last tile of a row of tiles alone is cut by
/// the edge, and a quarter of the second-level cache has the columns' operand.
static void addWholeRows(const KernelInfo &info, TargetAttr target,
                         const Contraction &contraction, int64_t rows, int64_t lanes,
                         std::vector<LoweringConfigAttr> &configs) {
  unsigned m = contraction.m.back(), n = contraction.n.back();
  int64_t extent = nominalExtent(info, n), extentM = nominalExtent(info, m);
  OpOperand &columns = info.getRoot()->getOpOperand(contraction.b);
  int64_t bytes =
      sumExtent(info, contraction) * extent * bytesPerElement(columns.get().getType());
  if (contraction.n.size() != 1 ||
      ShapedType::isDynamic(info.classes[info.getClasses(info.getRoot())[n]].extent) ||
      extent <= 2 * lanes || isOddVector(extent, 2 * lanes, lanes) ||
      bytes > target.getFact("l2_bytes", 256 * 1024) / 4)
    return;
  SmallVector<int64_t> block(info.getNumConfigLoops(), 1), thread(block);
  thread[m] = std::min<int64_t>(rows, llvm::PowerOf2Ceil(extentM));
  thread[n] = 2 * lanes;
  block[n] = llvm::alignTo(extent, thread[n]);
  for (int64_t pieces : {4, 1}) {
    block[m] = evenPiece(extentM, llvm::divideCeil(extentM, pieces), thread[m]);
    addUnique(configs, makeConfig(info, block, thread));
  }
}

static std::vector<LoweringConfigAttr>
enumerateContractionCpu(const KernelInfo &info, TargetAttr target, int64_t lanes,
                        int64_t registers) {
  Contraction contraction = *matchContractionByRows(info.getRoot());
  unsigned m = contraction.m.back(), n = contraction.n.back(),
           k = contraction.k.back();
  int64_t maxM = llvm::PowerOf2Ceil(nominalExtent(info, m));
  int64_t maxN = llvm::PowerOf2Ceil(nominalExtent(info, n));
  std::vector<LoweringConfigAttr> configs;
  // Two vectors per row and as many rows as leave registers for operands; of one vector,
  // where the result's rows are short and no whole number of two, more rows, so that sums
  // do not wait for each other.
  int64_t most = wholeRows(nominalExtent(info, m), registers);
  int64_t extent = nominalExtent(info, n);
  bool isNarrow = registers >= 32 && extent < 4 * lanes && extent % (2 * lanes);
  bool hasPairs =
      llvm::is_contained(pairedLoops(info), info.getClasses(info.getRoot())[k]);
  for (int64_t vectors : vectorCounts(extent, lanes, target))
    for (int64_t rows : {vectors == 3               ? std::min<int64_t>(most, 8)
                         : isNarrow && vectors == 1 ? 2 * most
                                                    : most,
                         int64_t(4), int64_t(2), int64_t(1)})
      for (int64_t blocks : {8, 2}) {
        if (isOddVector(extent, vectors * lanes, lanes))
          continue;
        SmallVector<int64_t> block(info.getNumConfigLoops(), 1);
        SmallVector<int64_t> thread(block);
        thread[m] = std::min(rows, maxM);
        thread[n] = std::min(vectors * lanes, maxN);
        block[m] = std::min(thread[m] * blocks, std::max(thread[m], maxM));
        block[n] = thread[n] * std::max<int64_t>(1, blocks / 2);
        block[k] = hasPairs ? 2 : 1;
        addUnique(configs, makeConfig(info, block, thread));
      }
  addColumns(info, contraction, most, lanes, registers, configs);
  addWholeRows(info, target, contraction, most, lanes, configs);
  return configs;
}

std::vector<LoweringConfigAttr> CpuContraction::enumerate(const KernelInfo &info,
                                                          TargetAttr target) const {
  int64_t lanes = lanesOf(info, target), registers = target.getFact("registers", 16);
  auto configs = enumerateContractionCpu(info, target, lanes, registers);
  addPacked(info, target, lanes, registers, configs);
  addChunked(info, target, lanes, configs);
  return configs;
}
