// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether later stages carry out all that a pinned config says in the fields that its
// strategy has (Fields.cpp). `fits` compares with the target's limits; here is what a kernel,
// or a target, has no use for, and tiles that warps and lanes cannot divide among themselves:
//
//   stages = 4              on a target without asynchronous copies
//   promote = [2]           of a product whose operands are 0 and 1
//   warps = [4, 1, 1]       of a tile with two rows

#include "Cpu/Cpu.h"
#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/UserNames.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

static LogicalResult checkPromote(const ScheduleStrategy &strategy, const KernelInfo &info,
                                  LoweringConfigAttr config, std::string &reason) {
  if (config.getPromote().empty() || strategy.keepsRows())
    return success();
  const Contraction *product = nullptr;
  if (strategy.contracts())
    product = info.getContraction(info.getRoot());
  if (!product) {
    reason = "'promote' is for contractions whose operands threads share; leave it "
             "out";
    return failure();
  }
  SmallVector<int64_t> seen;
  for (int64_t number : config.getPromote()) {
    if (llvm::is_contained(seen, number)) {
      reason = "'promote' names operand " + std::to_string(number) + " twice";
      return failure();
    }
    if (number != product->a && number != product->b) {
      reason = "'promote' names operand " + std::to_string(number) +
               "; the operands are " +
               numberOperand(info.getRoot()->getOpOperand(std::min(product->a, product->b))) +
               " and " +
               numberOperand(info.getRoot()->getOpOperand(std::max(product->a, product->b)));
      return failure();
    }
    seen.push_back(number);
  }
  return success();
}

/// Whether the operand that 'promote' leaves out can be read where it is.
static LogicalResult checkReadRows(const KernelInfo &info, LoweringConfigAttr config,
                                   std::string &reason) {
  unsigned columns = matchContractionByRows(info.getRoot())->b;
  std::string why;
  if (config.getPromote().front() != columns)
    reason = "a CPU packs both operands of a contraction, none, or " +
             numberOperand(info.getRoot()->getOpOperand(columns)) +
             ", whose rows are vectors; 'promote' has the other one";
  else if (config.getMma())
    reason = "'mma' multiplies what is packed; 'promote' has one operand";
  else if (canPack(info, why) && !canReadRows(info, why))
    reason = "'promote' has one operand, and the other cannot be read where it is: " + why;
  else
    return success();
  return failure();
}

LogicalResult tilewright::checkPacked(const ScheduleStrategy &strategy, const KernelInfo &info,
                                      LoweringConfigAttr config, std::string &reason) {
  if (config.getPromote().empty())
    return success();
  if (failed(checkPromote(strategy, info, config, reason)))
    return failure();
  if (config.getPromote().size() == 1 && failed(checkReadRows(info, config, reason)))
    return failure();
  const Contraction &product = *info.getContraction(info.getRoot());
  if (product.k.size() == 2) {
    // Chunks are whole steps of the outer loop.
    unsigned inner = product.k.back();
    int64_t block = inner < config.getBlock().size() ? config.getBlock()[inner] : 0;
    int64_t extent = info.classes[info.getClasses(info.getRoot())[inner]].extent;
    if (block && block < extent) {
      reason = "the sum runs over two loops, of the inner one of which 'block' has " +
               std::to_string(block) + " of " + std::to_string(extent) +
               " elements; make it 0, all of them";
      return failure();
    }
  }
  unsigned k = product.k.front();
  int64_t step = k < config.getThread().size() ? config.getThread()[k] : 0;
  int64_t chunk = k < config.getBlock().size() ? config.getBlock()[k] : 0;
  if (step <= 0 || chunk % step) {
    reason = "a chunk of the sum has " + std::to_string(chunk) +
             " elements ('block'), which is no multiple of the " +
             std::to_string(step) + " of a step ('thread')";
    return failure();
  }
  return success();
}

static LogicalResult checkStages(const ScheduleStrategy &strategy, const KernelInfo &info,
                                 LoweringConfigAttr config, TargetAttr target,
                                 std::string &reason) {
  if (strategy.hasRoles()) // checkPlan has said all of it
    return success();
  int64_t stages = config.getStages();
  std::string count = "'stages' is " + std::to_string(stages) + ", but ";
  if (stages > 1 && config.getPromote().empty())
    reason = count + "no operand goes through shared memory ('promote')";
  else if (stages > 2 && !config.getMma())
    reason = count + "without matrix instructions there are at most 2";
  else if (stages > 2 && !target.has("async_copy"))
    reason = count + "without asynchronous copies, which " + target.getName().str() +
             " does not have, there are at most 2";
  else if (stages > 2 && isRegisterStaged(info, target))
    reason = count + "an operand is computed, or transposed, on its way through "
                     "registers, and then there are at most 2";
  else
    return success();
  return failure();
}

/// Layouts spread powers of two.
static LogicalResult checkPowers(const ScheduleStrategy &strategy, const KernelInfo &info,
                                 LoweringConfigAttr config, std::string &reason) {
  std::optional<MatrixLoops> loops;
  if (strategy.hasRoles())
    loops = findMatrixLoops(*info.getContraction(info.getRoot()), config);
  for (auto [key, values] :
       {std::pair<StringRef, ArrayRef<int64_t>>{"block", config.getBlock()},
        {"warps", config.getWarps()}})
    for (auto [loop, value] : llvm::enumerate(values))
      // Rows and columns of warpgroups are multiples of their instruction's.
      if (value > 0 && !llvm::isPowerOf2_64(value) &&
          !(loops && (loop == loops->m || loop == loops->n))) {
        reason = "'" + key.str() + "' has " + std::to_string(value) +
                 ", which is no power of two";
        return failure();
      }
  return success();
}

LogicalResult ScheduleStrategy::check(const KernelInfo &info, LoweringConfigAttr config,
                                      const TilePlan &plan, TargetAttr target,
                                      std::string &reason) const {
  return success(succeeded(checkPromote(*this, info, config, reason)) &&
                 succeeded(checkStages(*this, info, config, target, reason)) &&
                 succeeded(checkPowers(*this, info, config, reason)));
}
