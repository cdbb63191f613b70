// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants for what sizes turn out to be at run time: aligned rows, more elements than
// 32 bits count, few rows of a product.
//
//   func.func private @k(%a: tensor<?x?xf32>, …) attributes {tilewright.kernel}
// becomes
//   func.func private @k_aligned(%a: tensor<?x?xf32>, …) attributes {tilewright.kernel,
//       tilewright.variant_of = "k", tilewright.divisible = array<i64: 0, 1, 4>}
//   func.func private @k(%a: tensor<?x?xf32>, …) attributes {tilewright.kernel}
//
// Each is configured for itself: what a guard promises decides what a kernel may do.

#include "tilewright/Specialize/Specialize.h"
#include "Kernels.h"
#include "tilewright/Configure/Attention.h"
#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Configure/Pixels.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Irregular.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace tilewright {
#define GEN_PASS_DEF_SPECIALIZEPASS
#define GEN_PASS_REGISTRATION
#include "tilewright/Specialize/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// Rows of a product that ask for a schedule of their own: a vector, one tile of an
/// instruction, a small block; and, where warpgroups multiply, fewer than fill the machine
/// with their large tiles.
static constexpr int64_t kShapeClasses[] = {1, 16, 64, 128, 256, 512};
/// Images whose pixels are such rows, and pixels of images of any size.
static constexpr int64_t kImageClasses[] = {1, 4, 16}, kPixelClasses[] = {256, 2048, 16384};
/// How many of kShapeClasses there are variants for, from the first on: without warpgroups, and
/// on CPUs, where a block that is clipped costs little, so that only a single row, a product with
/// a vector, has one.
static constexpr size_t kOfWarps = 3, kOfProcessors = 1;

/// Rows of both operands of a product are as many where it gives a square, and sums along them
/// begin with the same fill, but run over loops of their own: those of the second one get a fill
/// of their own.
static void separateRowFills(linalg::LinalgOp product) {
  llvm::SmallPtrSet<Operation *, 8> met;
  llvm::SmallDenseMap<Operation *, int64_t> sides;
  for (OpOperand *input : product.getDpsInputOperands()) {
    llvm::SmallDenseMap<Operation *, Operation *> own;
    SmallVector<Value> left = {input->get()};
    while (!left.empty()) {
      auto op = left.pop_back_val().getDefiningOp<linalg::LinalgOp>();
      if (!op || !met.insert(op).second)
        continue;
      llvm::append_range(left, op.getDpsInputs());
      for (OpOperand &init : op.getDpsInitsMutable()) {
        Operation *fill = init.get().getDefiningOp<linalg::FillOp>();
        int64_t side = input->getOperandNumber();
        if (!fill || sides.try_emplace(fill, side).first->second == side)
          continue;
        Operation *&made = own[fill];
        if (!made)
          made = OpBuilder(fill).clone(*fill);
        init.set(made->getResult(0));
      }
    }
  }
}

/// Two products of one size begin with the same fill, but run over loops of their own: each
/// gets a fill of its own.
static void separateFills(func::FuncOp kernel) {
  llvm::SmallPtrSet<Operation *, 4> seen;
  kernel.walk([&](linalg::LinalgOp op) {
    if (!matchContraction(op))
      return;
    OpOperand &init = *op.getDpsInitOperand(0);
    Operation *fill = init.get().getDefiningOp<linalg::FillOp>();
    if (fill && !seen.insert(fill).second)
      init.set(OpBuilder(fill).clone(*fill)->getResult(0));
    separateRowFills(op);
  });
}

/// The kernel's tensors, in order; an operand's number is its position here.
static SmallVector<RankedTensorType> operandsOf(func::FuncOp kernel) {
  SmallVector<RankedTensorType> types;
  for (Type type : kernel.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      types.push_back(tensor);
  return types;
}

/// Operands with strides whose rows can be read with wide accesses if they begin
/// at aligned addresses.
static SmallVector<int64_t> alignedViews(func::FuncOp kernel) {
  SmallVector<int64_t> operands;
  for (size_t operand = 0; operand < operandsOf(kernel).size(); ++operand)
    if (StridedLayoutAttr view = getView(kernel, operand);
        view && !view.getStrides().empty() && view.getStrides().back() == 1)
      operands.push_back(operand);
  return operands;
}

/// (operand, dim, divisor) for each operand with a dynamic innermost dim.
static SmallVector<int64_t> alignedRows(func::FuncOp kernel,
                                        int64_t accessBytes) {
  SmallVector<int64_t> promises;
  for (auto [operand, type] : llvm::enumerate(operandsOf(kernel))) {
    int64_t last = type.getRank() - 1;
    Type element = type.getElementType();
    if (last < 0 || !type.isDynamicDim(last) || !element.isIntOrFloat())
      continue;
    int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
    if (accessBytes > bytes)
      promises.append({int64_t(operand), last, accessBytes / bytes});
  }
  return promises;
}

void tilewright::addAlignedVariants(ModuleOp program) {
  TargetAttr target = getTarget(program);
  // Processors read wide from any address.
  if (target && target.getFact("subgroup", 0) == 1)
    return;
  int64_t accessBytes = target ? target.getFact("access_bytes", 16) : 16;
  SymbolTable symbols(program);
  SmallVector<func::FuncOp> kernels;
  for (auto func : program.getOps<func::FuncOp>())
    if (isKernel(func) && !func.isExternal() && !findIrregular(func) &&
        !func->hasAttr(kVariantOfAttr) && !func->hasAttr(kIndexBitsAttr))
      kernels.push_back(func);
  for (func::FuncOp kernel : kernels) {
    SmallVector<int64_t> promises = alignedRows(kernel, accessBytes);
    SmallVector<int64_t> views = alignedViews(kernel);
    if (promises.empty() && views.empty())
      continue;
    OpBuilder b(kernel);
    auto variant = cast<func::FuncOp>(kernel->clone());
    variant.setName((kernel.getName() + "_aligned").str());
    variant->setAttr(kVariantOfAttr, b.getStringAttr(kernel.getName()));
    if (!promises.empty())
      variant->setAttr(kDivisibleAttr, b.getDenseI64ArrayAttr(promises));
    if (!views.empty())
      variant->setAttr(kAlignedAttr, b.getDenseI64ArrayAttr(views));
    symbols.insert(variant, Block::iterator(kernel));
  }
}

/// The dynamic side of the kernel's product, rows before columns, whose extent decides
/// what tile is best, as a loop of its root; none where other loops make up for it.
static std::optional<unsigned> findFewLoop(const KernelInfo &info) {
  linalg::LinalgOp root = info.root;
  std::optional<Contraction> product = matchContraction(root);
  if (!product || info.split)
    return std::nullopt;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  for (ArrayRef<unsigned> side : {ArrayRef(product->m), ArrayRef(product->n)}) {
    auto dynamic = llvm::find_if(side, [&](unsigned loop) {
      return ShapedType::isDynamic(extents[loop]) &&
             !info.classes[info.getClasses(root)[loop]].isSettled;
    });
    if (dynamic != side.end())
      return *dynamic;
  }
  return std::nullopt;
}

/// Whether warpgroups may multiply: types of 16 bits or less.
static bool isForWarpgroups(linalg::LinalgOp root, TargetAttr target) {
  return target.has("warpgroup_mma") && llvm::all_of(root.getDpsInputs(), [](Value operand) {
           return getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth() <= 16;
         });
}

/// Whether the blocks of a cluster may have parts of the sum each, if that ranks first.
static bool canSumInClusters(linalg::LinalgOp root, TargetAttr target) {
  return isForWarpgroups(root, target) && target.has("multicast") &&
         llvm::none_of(root.getDpsInputs(), [](Value operand) {
           return operand.getDefiningOp<linalg::LinalgOp>();
         });
}

/// The classes of a kernel's product: how many `rows` there are at most.
static SmallVector<int64_t> shapeClassesOf(const KernelInfo &info, unsigned rows,
                                           TargetAttr target) {
  ArrayRef<int64_t> classes(kShapeClasses);
  if (target.getFact("subgroup", 0) == 1)
    return SmallVector<int64_t>(classes.take_front(kOfProcessors));
  int64_t pixels = pixelsPerImage(info, rows);
  if (ShapedType::isDynamic(pixels))
    return SmallVector<int64_t>(ArrayRef(kPixelClasses));
  if (pixels > 1)
    return llvm::map_to_vector(ArrayRef(kImageClasses),
                               [&](int64_t images) { return images * pixels; });
  // Rows of several loops have no copy engines.
  const Contraction &product = *info.getContraction(info.root);
  bool isMatrix = product.m.size() == 1 && product.n.size() == 1;
  return SmallVector<int64_t>(isMatrix && isForWarpgroups(info.root, target)
                                  ? classes
                                  : classes.take_front(kOfWarps));
}

bool tilewright::isProgramForm(func::FuncOp kernel) {
  return kernel.getNumResults() && llvm::hasSingleElement(kernel.getBody()) &&
         llvm::all_of(kernel.getBody().front(), [](Operation &op) {
           return op.getNumRegions() == 0 || isa<linalg::LinalgOp>(op);
         });
}

LogicalResult tilewright::addShapeVariants(ModuleOp program) {
  TargetAttr target = getTarget(program);
  if (!target || !target.getFact("subgroup", 0))
    return success();
  SymbolTable symbols(program);
  SmallVector<func::FuncOp> kernels;
  llvm::StringSet<> haveAligned;
  for (auto func : program.getOps<func::FuncOp>()) {
    if (!isKernel(func) || func.isExternal() || func->hasAttr(kIndexBitsAttr) ||
        !isProgramForm(func) || findAttention(func) || findIrregular(func))
      continue;
    kernels.push_back(func);
    if (auto original = func->getAttrOfType<StringAttr>(kVariantOfAttr))
      haveAligned.insert(original.getValue());
  }
  for (func::FuncOp kernel : kernels) {
    // Of both, the aligned one is what programs run; the other serves any shape.
    if (haveAligned.contains(kernel.getName()))
      continue;
    FailureOr<KernelInfo> info = KernelInfo::get(kernel);
    if (failed(info))
      return failure();
    std::optional<unsigned> loop = findFewLoop(*info);
    if (!loop || info->root->hasAttr(kConfigAttr))
      continue;
    unsigned number = info->getClasses(info->root)[*loop];
    const LoopClass &rows = info->classes[number];
    int64_t operand = operandNumber(kernel.getArgument(rows.argument));
    OpBuilder b(kernel);
    // Nibbles are multiplied by matrix instructions only, which take eight rows.
    bool isPacked = matchContraction(info->root)->perElement > 1;
    for (int64_t most : shapeClassesOf(*info, number, target)) {
      // Fewer than what they are promised to be a multiple of are none.
      if ((isPacked && most < 8) || most < promisedDivisor(kernel, operand, rows.dim))
        continue;
      IRMapping mapping;
      auto variant = cast<func::FuncOp>(kernel->clone(mapping));
      if (canSumInClusters(info->root, target))
        mapping.lookup(info->root.getOperation())->setAttr(kClusterSumAttr, b.getUnitAttr());
      variant.setName((kernel.getName() + "_upto" + Twine(most)).str());
      if (!kernel->hasAttr(kVariantOfAttr))
        variant->setAttr(kVariantOfAttr, b.getStringAttr(kernel.getName()));
      variant->setAttr(kAtMostAttr,
                       b.getDenseI64ArrayAttr({operand, rows.dim, most}));
      if (pixelsPerImage(*info, number) != 1)
        addExplanation(variant, "has tiles for up to " + Twine(most) +
                                    " pixels, of which larger ones would leave "
                                    "multiprocessors without a tile");
      symbols.insert(variant, Block::iterator(kernel));
    }
  }
  return success();
}

/// Elements that a view of that shape lies among, from the address that its kernel gets;
/// -1 where only the launch tells.
static int64_t spanOf(RankedTensorType type, StridedLayoutAttr view) {
  /// A kernel gets an address of so many bytes in front of element 0, at most.
  constexpr int64_t kInFront = 256;
  int64_t span = kInFront;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), view.getStrides())) {
    int64_t reach;
    if (ShapedType::isDynamic(stride) || stride < 0)
      return -1;
    if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), stride, reach) ||
        llvm::AddOverflow(span, reach, span))
      return INT64_MAX;
  }
  return span;
}

/// Elements of the largest operand, or -1 where only the launch tells.
static int64_t mostElements(func::FuncOp kernel) {
  int64_t most = 0;
  for (auto [operand, type] : llvm::enumerate(operandsOf(kernel))) {
    if (!type.hasStaticShape())
      return -1;
    int64_t elements = 1;
    if (StridedLayoutAttr view = getView(kernel, operand)) {
      elements = spanOf(type, view);
      if (elements < 0)
        return -1;
    } else {
      for (int64_t size : type.getShape())
        if (llvm::MulOverflow(elements, size, elements))
          return INT64_MAX;
    }
    most = std::max(most, elements);
  }
  return most;
}

void tilewright::addWideVariants(ModuleOp program) {
  TargetAttr target = getTarget(program);
  if (!target || target.getFact("index_bits", 32) != 32 ||
      !target.has("wide_index"))
    return;
  SymbolTable symbols(program);
  SmallVector<func::FuncOp> kernels;
  for (auto func : program.getOps<func::FuncOp>())
    if (isKernel(func) && !func.isExternal() &&
        !func->hasAttr(kVariantOfAttr) && !func->hasAttr(kIndexBitsAttr))
      kernels.push_back(func);
  for (func::FuncOp kernel : kernels) {
    OpBuilder b(kernel);
    int64_t most = mostElements(kernel);
    if (most >= 0 && most < (int64_t(1) << 31))
      continue;
    if (most >= 0) {
      kernel->setAttr(kIndexBitsAttr, b.getI64IntegerAttr(64));
      continue;
    }
    auto variant = cast<func::FuncOp>(kernel->clone());
    variant.setName((kernel.getName() + "_wide").str());
    variant->setAttr(kVariantOfAttr, b.getStringAttr(kernel.getName()));
    variant->setAttr(kIndexBitsAttr, b.getI64IntegerAttr(64));
    symbols.insert(variant, std::next(Block::iterator(kernel)));
  }
}

namespace {
struct SpecializePass
    : tilewright::impl::SpecializePassBase<SpecializePass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (isKernel(func))
        separateFills(func);
    // Those of 64-bit indices first: what needs them is not worth another
    // variant.
    addWideVariants(getOperation());
    addAlignedVariants(getOperation());
    if (failed(addImageVariants(getOperation())) ||
        failed(addShapeVariants(getOperation())) ||
        failed(addRowVariants(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void tilewright::registerSpecializePasses() {
  registerTilewrightSpecializePasses();
}

void tilewright::populateSpecializePipeline(OpPassManager &pm) {
  pm.addPass(createSpecializePass());
  pm.addPass(createWidenIndicesPass());
  pm.addPass(createClampIndexCastsPass());
}
