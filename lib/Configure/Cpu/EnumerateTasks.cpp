// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, elementwise kernels and transposes on CPUs: a block is what one task of the
// thread pool computes, by register tiles (`thread`) that are filled along memory.
//
//   row reduction, AVX2:   block = [32, 32],   thread = [2, 32]
//   elementwise, AVX-512:  block = [2, 8192],  thread = [1, 64]
//   transpose, AVX2:       block = [8192, 64], thread = [16, 16]

#include "Cpu.h"
#include "Enumerate.h"
#include "EnumerateCpu.h"
#include "tilewright/Dialect/Divisibility.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Elements that a task touches: large against the cost of handing it to a
/// thread, small enough for the first-level caches.
static constexpr int64_t kTasks[] = {16 * 1024, 2 * 1024};

/// Whether the kernel moves the elements of one tensor and computes nothing.
static bool isCopy(const KernelInfo &info) {
  return llvm::all_of(info.ops, [](linalg::LinalgOp op) {
    return op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 &&
           llvm::hasSingleElement(*op.getBlock());
  });
}

/// Rows of a tile that is transposed, in each tensor that the kernel reads or
/// writes. A row is in a register as it is read or written; a half more than
/// there are registers are fast, what is larger spills and takes LLVM minutes.
static int64_t transposedRows(const KernelInfo &info, int64_t registers) {
  // What is only moved needs no other registers.
  if (isCopy(info))
    return registers;
  llvm::SmallDenseSet<Value> tensors;
  for (linalg::LinalgOp op : info.ops)
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (isa<BlockArgument>(operand) && type && type.getRank() > 1)
        tensors.insert(operand);
    }
  int64_t count = std::max<int64_t>(2, tensors.size());
  return llvm::bit_floor(
      std::max<uint64_t>(1, uint64_t(registers * 3 / 2 / count)));
}

/// A tile that is copied from columns to rows: of registers each way, or of whole cache lines
/// of the result where they are known to divide its rows, two of them next to each other if
/// their elements have 32 or 64 bits. Longer registers are lines themselves. Two halves of a line
/// are read together where lines are known to divide the operand's rows, too: later the line would
/// have to be read again. `rows` and `columns` of the result.
static std::pair<int64_t, int64_t> copiedTile(int64_t rows, int64_t columns, int64_t bytes,
                                              int64_t lanes) {
  constexpr int64_t kLineBytes = 64;
  int64_t line = kLineBytes / bytes;
  if (2 * lanes == line && rows % line == 0 && columns % line == 0)
    return {line, line};
  for (int64_t width : {2 * line, line})
    if (lanes < line && columns % width == 0 && (width == line || bytes >= 4))
      return {lanes, width};
  return {lanes, lanes};
}

/// Of pooling whose windows have rows shorter than a vector: the loop over the result's
/// rows, if what neighbours there start with lies side by side or a short stride apart, and
/// they fill half of a vector.
static std::optional<unsigned> pooledRow(const KernelInfo &info, unsigned innermost,
                                         int64_t lanes) {
  linalg::LinalgOp root = info.getRoot();
  ArrayRef<unsigned> classes = info.getClasses(root);
  if (info.classes[classes[innermost]].parallel ||
      nominalExtent(info, innermost) >= lanes)
    return std::nullopt;
  AffineMap result = root.getMatchingIndexingMap(root.getDpsInitOperand(0));
  if (result.getNumResults() == 0)
    return std::nullopt;
  unsigned row = result.getDimPosition(result.getNumResults() - 1);
  for (OpOperand *input : root.getDpsInputOperands()) {
    auto argument = dyn_cast<BlockArgument>(input->get());
    StridedLayoutAttr view;
    if (argument)
      view = getView(root->getParentOfType<func::FuncOp>(), operandNumber(argument));
    std::optional<unsigned> dim = root.getMatchingIndexingMap(input).getResultPosition(
        getAffineDimExpr(row, root.getContext()));
    if (view && dim && *dim < view.getStrides().size() &&
        llvm::is_contained({1, 2, 4}, view.getStrides()[*dim]) &&
        2 * int64_t(llvm::PowerOf2Ceil(nominalExtent(info, row))) >= lanes)
      return row;
  }
  return std::nullopt;
}

/// Whether results of rows are written that are summed up before.
static bool writesSummedRows(const KernelInfo &info) {
  int64_t sequential = llvm::count_if(
      info.classes, [](const LoopClass &loopClass) { return !loopClass.parallel; });
  return sequential == 1 &&
         llvm::any_of(info.results, [&](OpResult result) {
           auto op = cast<linalg::LinalgOp>(result.getOwner());
           return llvm::any_of(
               llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)),
               [&](auto pair) {
                 auto [iterator, number] = pair;
                 return iterator == utils::IteratorType::parallel &&
                        !info.classes[number].parallel;
               });
         });
}

/// Whether `op` sums up squares of distances, as a variance does: rows are read once for it and
/// for the mean (tilewright-fuse-row-loops).
static bool sumsSquaredDistances(linalg::LinalgOp op) {
  auto sum = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  return llvm::any_of(sum->getOperands(), [](Value value) {
    auto square = value.getDefiningOp<arith::MulFOp>();
    return square && square.getLhs() == square.getRhs() &&
           square.getLhs().getDefiningOp<arith::SubFOp>();
  });
}

/// How rows that are summed up and written are computed.
namespace {
/// Vectors and rows of a register tile.
using TileShape = std::pair<int64_t, int64_t>;

struct SummedRows {
  /// Results are written beside what computes the next rows (tilewright-pipeline-rows).
  bool arePipelined = false;
  /// The largest tile, if not any.
  std::optional<TileShape> largest;
};
} // namespace

/// Bytes of a row that is summed up.
static double rowBytes(const KernelInfo &info) {
  double bytes = bytesPerElement(info.getRoot()->getOperand(0).getType());
  for (const LoopClass &loopClass : info.classes)
    if (!loopClass.parallel)
      bytes *= nominalExtent(loopClass);
  return bytes;
}

static SummedRows summedRows(const KernelInfo &info, TargetAttr target) {
  if (!target.getFact("pipelined_rows", 0) || !writesSummedRows(info))
    return {};
  bool exponentials = llvm::any_of(info.ops, [](linalg::LinalgOp op) {
    return !op.getBlock()->getOps<mlir::math::ExpOp>().empty();
  });
  bool once = llvm::count_if(info.ops, [](linalg::LinalgOp op) {
                return op.getNumReductionLoops() > 0 && !sumsSquaredDistances(op);
              }) == 1;
  // Two loops of normalisations in one need more registers than AVX2 has.
  constexpr int64_t kManyRegisters = 32;
  // What is read for all rows is loaded and converted half as often for four rows as for two.
  constexpr TileShape kFourRows = {2, 4}, kOneRow = {4, 1};
  double bytes = rowBytes(info), room = target.getFact("l1_bytes", 32 * 1024) / 2;
  // The first-level cache keeps so many rows, and as many that are read meanwhile or displace
  // others. One at a time, rows come from it where four would not.
  bool keepsFour = 4 * bytes <= room, keepsAll = 2 * 4 * bytes <= room;
  std::optional<TileShape> one;
  if (keepsFour && !keepsAll)
    one = kOneRow;
  if (exponentials)
    return {/*arePipelined=*/true, one};
  if (once && target.getFact("registers", 16) >= kManyRegisters)
    return {/*arePipelined=*/true, one.value_or(kFourRows)};
  return {/*arePipelined=*/false, keepsFour ? std::optional(kFourRows) : std::nullopt};
}

/// Shapes of register tiles, up to `largest`.
static SmallVector<TileShape> tileShapes(std::optional<TileShape> largest) {
  SmallVector<TileShape> shapes;
  for (int64_t vectors : {8, 4, 2, 1})
    for (int64_t rows : {1, 2, 4})
      if (!largest || TileShape(vectors, rows) == *largest ||
          vectors * rows < largest->first * largest->second)
        shapes.emplace_back(vectors, rows);
  return shapes;
}

namespace {
/// Tasks of register tiles that are filled along memory, of a kernel that reduces or does not.
class TaskConfigs {
public:
  TaskConfigs(const KernelInfo &info, TargetAttr target, bool reduces);
  std::vector<LoweringConfigAttr> list();

private:
  void planTransposed();
  bool leavesColumns(int64_t vectors) const;
  bool isUseful(int64_t vectors, int64_t rows) const;
  int64_t tileExtent(unsigned position, int64_t vectors, int64_t rows) const;
  LoweringConfigAttr makeTask(int64_t task, int64_t vectors, int64_t rows) const;
  bool isParallel(unsigned loop) const { return info.classes[classes[loop]].parallel; }
  int64_t coverOf(unsigned loop) const {
    return isPicked(info, loop) ? 1 : llvm::PowerOf2Ceil(nominalExtent(info, loop));
  }

  const KernelInfo &info;
  TargetAttr target;
  bool reduces;
  int64_t lanes, registers;
  ArrayRef<unsigned> classes;
  /// From the innermost, along which vectors lie; the second has rows of the register tile.
  SmallVector<unsigned> loops;
  /// Iterations of the loops that a task walks along whatever it is.
  double sequential = 1;
  /// Vectors lie along loops that are not reduced: columns.
  bool sumsColumns = false;
  SummedRows summed;
  /// The loop whose elements lie side by side in the operand, where they do not in the result, and
  /// the tile along it and along the result's rows.
  std::optional<unsigned> transposed;
  int64_t transposedLanes = 1, transposedColumns = 1;
  SmallVector<int64_t> tasks;
};
} // namespace

/// Tasks of pipelined rows begin and end with one that nothing runs beside.
static constexpr int64_t kPipelined = 0, kPipelinedSteps = 16;

TaskConfigs::TaskConfigs(const KernelInfo &info, TargetAttr target, bool reduces)
    : info(info), target(target), reduces(reduces), lanes(lanesOf(info, target)),
      registers(target.getFact("registers", 16)), classes(info.getClasses(info.getRoot())),
      loops(loopsFromInnermost(info)), tasks(std::begin(kTasks), std::end(kTasks)) {
  if (!reduces)
    planTransposed();
  for (auto [loop, number] : llvm::enumerate(classes))
    if (!info.classes[number].parallel)
      sequential *= nominalExtent(info, loop);
  if (!reduces)
    return;
  // Vectors along columns are sums of their own: of several rows at a time they would be
  // transposed, and have to be wide instead to hide how long an addition takes.
  if (std::optional<unsigned> row =
          loops.empty() ? std::nullopt : pooledRow(info, loops.front(), lanes)) {
    llvm::erase(loops, *row);
    loops.insert(loops.begin(), *row);
  }
  sumsColumns = !loops.empty() && isParallel(loops.front());
  if (!sumsColumns)
    summed = summedRows(info, target);
  if (summed.arePipelined)
    tasks.insert(tasks.begin(), kPipelined);
}

void TaskConfigs::planTransposed() {
  int64_t rowsOfTile = transposedRows(info, registers);
  transposed = transposedLoop(info);
  transposedLanes = transposedColumns = std::min(lanes, rowsOfTile);
  if (!transposed || !isCopy(info))
    return;
  auto knownExtent = [&](unsigned loop) {
    int64_t extent = info.classes[classes[loop]].extent;
    return ShapedType::isDynamic(extent) ? 1 : nominalExtent(info, loop);
  };
  int64_t bytes = bytesPerElement(info.getRoot().getDpsInits()[0].getType());
  std::tie(transposedLanes, transposedColumns) =
      copiedTile(knownExtent(*transposed), knownExtent(loops.front()), bytes,
                 std::min(target.getFact("vector_bytes", 32) / bytes, rowsOfTile));
}

/// Whether so many vectors are a part of short rows that could be summed as wholes: along many
/// rows, a part of each is read from memory several times slower than what lies side by side.
bool TaskConfigs::leavesColumns(int64_t vectors) const {
  constexpr double kManyRows = 1024;
  int64_t extent = nominalExtent(info, loops.front()), most = std::min<int64_t>(8, registers / 4);
  return sequential >= kManyRows && extent > vectors * lanes && extent <= most * lanes &&
         extent % lanes == 0 && llvm::isPowerOf2_64(extent / lanes);
}

/// Whether a register tile of so many vectors and rows is worth a config.
bool TaskConfigs::isUseful(int64_t vectors, int64_t rows) const {
  if (vectors == 8 && !sumsColumns)
    return false;
  // Operands and results of the tile stay in registers.
  if (vectors * rows * 4 > registers)
    return false;
  // Rows side by side are so many more streams of memory: of what is only read and
  // written, where a row has vectors enough.
  if (rows > 1 && !reduces && !transposed && !loops.empty() &&
      nominalExtent(info, loops.front()) >= 4 * lanes)
    return false;
  if (sumsColumns && leavesColumns(vectors))
    return false;
  return !sumsColumns ||
         !isOddVector(nominalExtent(info, loops.front()),
                      std::min<int64_t>(vectors * lanes, coverOf(loops.front())), lanes);
}

/// The register tile along the loop at `position`.
int64_t TaskConfigs::tileExtent(unsigned position, int64_t vectors, int64_t rows) const {
  unsigned loop = loops[position];
  if (info.classes[classes[loop]].sequential)
    return 1;
  if (transposed)
    return loop == *transposed ? transposedLanes : position == 0 ? transposedColumns : 1;
  if (sumsColumns && !isParallel(loop))
    return 1;
  return position == 0 ? vectors * lanes : position == 1 ? rows : 1;
}

LoweringConfigAttr TaskConfigs::makeTask(int64_t task, int64_t vectors, int64_t rows) const {
  SmallVector<int64_t> block(info.getNumConfigLoops(), 1), thread(block);
  for (auto [position, loop] : llvm::enumerate(loops))
    block[loop] = thread[loop] =
        std::min(tileExtent(position, vectors, rows), coverOf(loop));
  // A task goes on along the result's rows; where tiles are transposed along those of
  // the operand, a few tiles side by side: lines that are written next to each other
  // cost less than lines in as many pages.
  constexpr int64_t kSideBySide = 64;
  SmallVector<unsigned> onward = loops;
  if (transposed) {
    unsigned columns = loops.front();
    block[columns] =
        std::max(block[columns], std::min<int64_t>(kSideBySide, coverOf(columns)));
    llvm::erase(onward, *transposed);
    onward.insert(onward.begin(), *transposed);
  }
  int64_t left = task == kPipelined
                     ? kPipelinedSteps * rows
                     : llvm::bit_floor(std::max<uint64_t>(1, uint64_t(task / sequential)));
  for (unsigned loop : onward) {
    if (!isParallel(loop))
      continue;
    block[loop] = std::max(block[loop], std::min(left, coverOf(loop)));
    left = std::max<int64_t>(1, left / block[loop]);
  }
  return makeConfig(info, block, thread);
}

std::vector<LoweringConfigAttr> TaskConfigs::list() {
  std::vector<LoweringConfigAttr> configs;
  addChunked(info, target, lanes, configs);
  for (int64_t task : tasks)
    for (auto [vectors, rows] : tileShapes(summed.largest))
      if (isUseful(vectors, rows))
        addUnique(configs, makeTask(task, vectors, rows));
  return configs;
}

static std::vector<LoweringConfigAttr>
enumerateTasks(const KernelInfo &info, TargetAttr target, bool reduces) {
  return TaskConfigs(info, target, reduces).list();
}

std::vector<LoweringConfigAttr> CpuReduction::enumerate(const KernelInfo &info,
                                                        TargetAttr target) const {
  return enumerateTasks(info, target, /*reduces=*/true);
}

std::vector<LoweringConfigAttr> CpuStreaming::enumerate(const KernelInfo &info,
                                                        TargetAttr target) const {
  return enumerateTasks(info, target, /*reduces=*/false);
}
