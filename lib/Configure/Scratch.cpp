// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory that no operand of the config asks for: distribute moves values
// between threads through it. They take turns, so the largest counts; where variables in
// shared memory have a type, the largest of each type. Of those of a few hundred bytes
// (kUnsharedBytes) all do: they take no turns among each other.
//
//   a tile that is read along one dim and written (or combined) along another,
//     a transpose: the tile, rows padded against bank conflicts
//   a reduction that several warps share: a partial result of each warp
//   one that the blocks of a cluster share: a result of each block, at all times
//   a sum of which the blocks of a cluster have parts: a block's part, at all times
//   what a reduction leaves, stored: the result tile
//   tiles of elements of several widths, combined: a thread reads other neighbours of
//     each, and one of them moves, as widened
//   an accumulator of narrow rows a warp, stored: the result tile
//   fragments of a matrix instruction, stored as (or combined with) types of which
//     eight are less than 32 bytes: that tile; the same of other accumulators and
//     types of less than 4 bytes
//
// An upper bound, held against what distribute really takes by
// test/unit/Configure/FootprintTest.cpp.

#include "CostModel.h"
#include "Enumerate.h"
#include "Strategy.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/SharedPlaces.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace tilewright;

/// The vector dims of `operand`'s tile, outermost first, as loop classes.
static SmallVector<unsigned> vectorClasses(const KernelInfo &info,
                                           const TilePlan &plan,
                                           OpOperand &operand) {
  SmallVector<unsigned> classes;
  for (unsigned number : info.getClasses(operand))
    if (plan.classes[number].vector > 1)
      classes.push_back(number);
  return classes;
}

static int64_t elementsOf(const TilePlan &plan, ArrayRef<unsigned> classes) {
  int64_t elements = 1;
  for (unsigned number : classes)
    elements *= plan.classes[number].vector;
  return elements;
}

/// A tile whose rows, along whichever dim, are padded by up to 16 bytes each.
static int64_t paddedBytes(const TilePlan &plan, ArrayRef<unsigned> classes,
                           Type type) {
  int64_t elements = elementsOf(plan, classes), rows = 1;
  for (unsigned number : classes)
    rows = std::max(rows, elements / plan.classes[number].vector);
  return elements * bytesPerElement(type) + rows * 16;
}

/// True for tensors in memory: arguments, and results of the kernel.
static bool isInMemory(const KernelInfo &info, OpOperand &operand) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return false;
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  if (op.isDpsInit(&operand) &&
      llvm::is_contained(info.results, op.getTiedOpResult(&operand)))
    return true;
  return isa<BlockArgument>(operand.get()) &&
         op.payloadUsesValueFromOperand(&operand);
}

/// The class along which the threads' values are neighbours: the accumulator's
/// last dim, or the last dim of the first of the largest tiles that are read.
static std::optional<unsigned> leadingClass(const KernelInfo &info,
                                            const TilePlan &plan,
                                            bool contracts) {
  linalg::LinalgOp root = info.root;
  if (contracts) {
    SmallVector<unsigned> classes =
        vectorClasses(info, plan, *root.getDpsInitOperand(0));
    return classes.empty() ? std::nullopt : std::optional(classes.back());
  }
  std::optional<unsigned> leading;
  int64_t most = 0;
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isInMemory(info, operand) || op.isDpsInit(&operand))
        continue;
      SmallVector<unsigned> classes = vectorClasses(info, plan, operand);
      if (!classes.empty() && elementsOf(plan, classes) > most) {
        most = elementsOf(plan, classes);
        leading = classes.back();
      }
    }
  return leading;
}

/// True if the accumulator of a contraction is spread over so many warps along
/// its last dim that a warp's stores are narrower than a sector of memory: it
/// is stored in another layout then.
static bool storesNarrow(const KernelInfo &info, LoweringConfigAttr config,
                         const TilePlan &plan, OpOperand &init) {
  auto op = cast<linalg::LinalgOp>(init.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&init);
  for (int64_t dim = int64_t(map.getNumResults()) - 1; dim >= 0; --dim) {
    unsigned loop = map.getDimPosition(dim);
    int64_t extent = plan.classes[info.getClasses(op)[loop]].vector;
    if (extent == 0)
      continue;
    int64_t warps = entry(config.getWarps(), loop, 1);
    int64_t bytes = bytesPerElement(init.get().getType());
    return extent / warps * bytes < std::min<int64_t>(32, extent * bytes);
  }
  return false;
}

/// Opaque fragments: each subgroup has room for two matrices of every type that
/// leaves or enters them (distribute, Fragments.cpp).
static int64_t fragmentScratch(const KernelInfo &info, const TilePlan &plan,
                               const MatrixInstruction &instruction) {
  llvm::SmallSetVector<Type, 4> types;
  types.insert(instruction.accumulator);
  if (info.isChained()) // the first one's result
    types.insert(instruction.operands[0]);
  for (OpResult result : info.results)
    types.insert(getElementTypeOrSelf(result.getType()));
  int64_t bytes = 0, m = instruction.m, n = instruction.n;
  for (Type type : types)
    bytes += 2 * plan.threads / plan.subgroup *
             (m * n * bytesPerElement(type) + 16 * std::max(m, n));
  return bytes;
}

/// What reductions of a product's tile pass between warps, and store.
static int64_t reductionScratch(const KernelInfo &info, const TilePlan &plan) {
  llvm::MapVector<Type, int64_t> largest;
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (info.getContraction(op) || op.getNumReductionLoops() == 0)
        continue;
      SmallVector<unsigned> classes = vectorClasses(info, plan, init);
      Type type = getElementTypeOrSelf(init.get());
      int64_t bytes = elementsOf(plan, classes) * bytesPerElement(type) *
                      (plan.threads / plan.subgroup);
      int64_t &most = largest[type];
      most = std::max({most, bytes, paddedBytes(plan, classes, type)});
    }
  int64_t total = 0;
  for (auto [type, bytes] : largest)
    total += llvm::alignTo(bytes, 16);
  return total;
}

/// True if a warp's accumulators of a matrix instruction are narrower than a sector
/// of memory when stored as, or combined with, elements of `type`: a row has eight
/// neighbours, two in each of four lanes; along columns no lane has two, and eight are
/// neighbours in lanes that are none.
static bool isNarrowFragment(const KernelInfo &info, LoweringConfigAttr config,
                             ArrayRef<unsigned> classes, Type type) {
  if (classes.size() < 2)
    return false;
  Contraction contraction = *info.getOriented(config);
  bool alongColumns = llvm::any_of(contraction.m, [&](unsigned loop) {
    return info.getClasses(info.getRoot())[loop] == classes.back();
  });
  return (alongColumns && !config.isForWarpgroups()) || bytesPerElement(type) < 4;
}

/// The widest number that a body computes.
static Type widestComputed(const KernelInfo &info) {
  Type widest;
  for (linalg::LinalgOp op : info.ops)
    for (Operation &inner : op.getBlock()->without_terminator())
      for (Type type : inner.getResultTypes())
        if (type.isIntOrFloat() &&
            (!widest || bytesPerElement(type) > bytesPerElement(widest)))
          widest = type;
  return widest;
}

/// Loops of inputs in memory, as `classesOf` has them, and the bytes of an element of the
/// narrowest and of the widest that have these.
static std::map<std::vector<unsigned>, std::pair<int64_t, int64_t>>
widthsOf(const KernelInfo &info,
         llvm::function_ref<SmallVector<unsigned>(OpOperand &)> classesOf) {
  std::map<std::vector<unsigned>, std::pair<int64_t, int64_t>> widths;
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!isInMemory(info, *input))
        continue;
      SmallVector<unsigned> classes = classesOf(*input);
      int64_t bytes = bytesPerElement(input->get().getType());
      auto [known, isNew] =
          widths.try_emplace({classes.begin(), classes.end()}, bytes, bytes);
      known->second = {std::min(known->second.first, bytes),
                       std::max(known->second.second, bytes)};
    }
  widths.erase(std::vector<unsigned>());
  return widths;
}

int64_t tilewright::movedRowBytes(const KernelInfo &info) {
  auto alongRows = [&](OpOperand &input) {
    SmallVector<unsigned> classes(info.getClasses(input));
    llvm::erase_if(classes, [&](unsigned number) { return info.classes[number].parallel; });
    return classes;
  };
  Type widest = widestComputed(info);
  bool isMixed = llvm::any_of(widthsOf(info, alongRows), [](const auto &entry) {
    return entry.second.first != entry.second.second;
  });
  return isMixed && widest ? bytesPerElement(widest) : 0;
}

/// Tiles of the same loops whose elements are of several widths: a thread reads other
/// neighbours of each. One is moved where they meet, as what was computed of it.
static void useMixedWidths(const KernelInfo &info, const TilePlan &plan,
                           llvm::function_ref<void(Type, int64_t)> use) {
  constexpr int64_t kAccess = 16;
  Type widest = widestComputed(info);
  auto inVectors = [&](OpOperand &input) { return vectorClasses(info, plan, input); };
  for (const auto &[classes, bytes] : widthsOf(info, inVectors))
    // As many as a thread reads of the widest at once, it reads of each.
    if (bytes.first != bytes.second && widest &&
        elementsOf(plan, classes) * bytes.second > plan.threads * kAccess)
      use(widest, paddedBytes(plan, classes, widest));
}

/// What blocks of a cluster store in each other's memory, each reduction of a row that they
/// share at a place of its own.
static int64_t exchangedBytes(const KernelInfo &info, LoweringConfigAttr config,
                              const TilePlan &plan) {
  std::optional<unsigned> shared = plan.getSharedClass();
  int64_t bytes = 0;
  // All of a tile's sums, of which the others read slices; where a line of banks begins, and
  // behind the ring's barriers if those fill more than half of one.
  if (plan.clusterSum) {
    constexpr int64_t kBanks = 128;
    OpOperand &init = *info.getRoot().getDpsInitOperand(0);
    int64_t barriers = 16 * config.getStages();
    int64_t unused = barriers > kBanks / 2 ? llvm::alignTo(barriers, kBanks) - barriers : 0;
    return unused +
           elementsOf(plan, vectorClasses(info, plan, init)) *
               bytesPerElement(init.get().getType());
  }
  for (linalg::LinalgOp op : info.ops)
    for (auto [iterator, number] :
         llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)))
      if (iterator == utils::IteratorType::reduction && shared == number)
        for (OpOperand &init : op.getDpsInitsMutable())
          bytes += llvm::alignTo(plan.classes[number].blocks *
                                     elementsOf(plan, vectorClasses(info, plan, init)) *
                                     bytesPerElement(init.get().getType()),
                                 16);
  return bytes;
}

namespace {
/// What kernels of elements that threads hold need of shared memory, by element type.
class ScratchBytes {
public:
  ScratchBytes(const KernelInfo &info, LoweringConfigAttr config, const TilePlan &plan,
               TargetAttr target)
      : info(info), config(config), plan(plan), strategy(strategyOf(info, config, target)),
        contracts(strategy.contracts()), leading(leadingClass(info, plan, contracts)) {}

  void add(linalg::LinalgOp op) {
    // What computes an operand keeps the layout in which it was read.
    if (isFusedProducer(info, op)) {
      if (!contracts)
        addRepeatedProducer(op);
      return;
    }
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        addOperand(op, operand);
  }
  void addMixedWidths() {
    if (!contracts)
      useMixedWidths(info, plan, [&](Type type, int64_t bytes) { use(type, bytes); });
  }
  /// `typed`: whether memory of one type is not that of another.
  int64_t total(bool typed) const {
    int64_t total = 0;
    for (auto [type, bytes] : largest)
      total = typed ? total + llvm::alignTo(bytes, 16)
                    : std::max<int64_t>(total, llvm::alignTo(bytes, 16));
    return typed ? total + unshared : std::max(total, unshared);
  }

private:
  void use(Type type, int64_t bytes) {
    int64_t &most = largest[getElementTypeOrSelf(type)];
    most = std::max(most, bytes);
  }
  /// Repeated for each sum of a skinny product a producer may need another layout.
  void addRepeatedProducer(linalg::LinalgOp op) {
    int64_t elements = 1;
    for (unsigned number : info.getClasses(info.getRoot()))
      elements *= std::max<int64_t>(1, plan.classes[number].vector);
    Type type = getElementTypeOrSelf(op->getResult(0));
    use(type, elements * (bytesPerElement(type) + 1));
  }
  void addOperand(linalg::LinalgOp op, OpOperand &operand);
  void addReduced(Type type, ArrayRef<unsigned> classes);

  const KernelInfo &info;
  LoweringConfigAttr config;
  const TilePlan &plan;
  const ScheduleStrategy &strategy;
  bool contracts;
  std::optional<unsigned> leading;
  llvm::MapVector<Type, int64_t> largest;
  int64_t unshared = 0;
};
} // namespace

void ScratchBytes::addOperand(linalg::LinalgOp op, OpOperand &operand) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  bool reduces = op.getNumReductionLoops() != 0 &&
                 !(contracts && info.getContraction(op));
  SmallVector<unsigned> classes = vectorClasses(info, plan, operand);
  // Operands that go to shared memory first take their own layout along.
  bool promoted =
      contracts && !op.isDpsInit(&operand) && info.getContraction(op);
  bool transposed = leading && classes.size() > 1 && classes.back() != *leading &&
                    llvm::is_contained(classes, *leading);
  if (transposed && !promoted && isInMemory(info, operand))
    use(type, paddedBytes(plan, classes, type));
  if (strategy.isMovedByEngine(info, config, operand))
    return;
  // Rows of an operand are reduced in the layout in which they are read.
  bool ofOperand = isFusedReduction(info, op) && !op.isDpsInit(&operand);
  // Slices of a cluster's sums are stored in the layout in which they are read.
  bool isNarrow = plan.clusterSum   ? false
                  : config.getMma() ? isNarrowFragment(info, config, classes, type)
                                    : bytesPerElement(type) < 4;
  if (contracts && !promoted && !ofOperand && isInMemory(info, operand) && isNarrow) {
    use(type, paddedBytes(plan, classes, type));
    // What is read is moved as it is or widened to the sums' type.
    Type sum = info.getRoot().getDpsInits()[0].getType();
    if (!config.getMma() || !op.isDpsInit(&operand))
      use(sum, paddedBytes(plan, classes, sum));
  }
  if (op == info.root && op.isDpsInit(&operand) && contracts &&
      storesNarrow(info, config, plan, operand))
    use(type, paddedBytes(plan, classes, type));
  if (reduces && op.isDpsInit(&operand))
    addReduced(type, classes);
}

/// What warps pass on of a reduction's result.
void ScratchBytes::addReduced(Type type, ArrayRef<unsigned> classes) {
  int64_t warps = plan.threads / plan.subgroup;
  int64_t bytes = elementsOf(plan, classes) * bytesPerElement(type);
  // A scalar result takes a word per warp, too.
  if (warps > 1 && bytes * warps <= kUnsharedBytes)
    unshared += llvm::alignTo(bytes * warps, 16);
  else if (warps > 1)
    use(type, bytes * warps);
  if (!classes.empty())
    use(type, paddedBytes(plan, classes, type));
}

int64_t tilewright::estimateScratch(const KernelInfo &info,
                                    LoweringConfigAttr config,
                                    const TilePlan &plan, TargetAttr target) {
  if (plan.subgroup <= 1)
    return 0;
  if (StringAttr name = config.getMma())
    if (auto instruction = MatrixInstruction::parse(name.getContext(), name);
        instruction && instruction->opaque)
      return fragmentScratch(info, plan, *instruction) +
             reductionScratch(info, plan);
  ScratchBytes bytes(info, config, plan, target);
  for (linalg::LinalgOp op : info.ops)
    bytes.add(op);
  bytes.addMixedWidths();
  return bytes.total(target.has("typed_shared_memory")) +
         exchangedBytes(info, config, plan);
}
