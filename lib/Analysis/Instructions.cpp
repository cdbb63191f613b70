// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of products against those of matrix instructions, see Instructions.h.

#include "tilewright/Analysis/Instructions.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tilewright;

bool tilewright::hasLiberty(Operation *op, StringRef flag) {
  auto module = op->getParentOfType<ModuleOp>();
  auto fp = module ? module->getAttrOfType<ArrayAttr>(kFpAttr) : ArrayAttr();
  return fp && llvm::is_contained(fp, StringAttr::get(op->getContext(), flag));
}

/// True if operands of f32 products may be rounded.
static bool mayRound(Operation *op) { return hasLiberty(op, "tf32"); }

bool tilewright::hasTypesOf(linalg::LinalgOp op, const Contraction &contraction,
                            const MatrixInstruction &instruction) {
  auto isOf = [&](unsigned number, Type type) {
    return getElementTypeOrSelf(op->getOperand(number)) == type;
  };
  return (!instruction.rounds || mayRound(op)) &&
         contraction.perElement == instruction.perElement &&
         isOf(contraction.a, instruction.operands[0]) &&
         isOf(contraction.b, instruction.operands[1]) &&
         isOf(2, instruction.accumulator) &&
         contraction.signedness[0] == instruction.signedness[0] &&
         contraction.signedness[1] == instruction.signedness[1];
}

OrRefusal<MatrixInstruction> tilewright::matchInstruction(linalg::LinalgOp op, StringRef name,
                                                          const Contraction *contraction) {
  std::string what = "matrix instruction '" + name.str() + "' ";
  auto instruction = MatrixInstruction::parse(op->getContext(), name);
  if (!instruction)
    return refuse(Refused::Target, what + "is not understood");
  if (!contraction || contraction->k.empty())
    return refuse(Refused::NotContraction, "matrix instructions need an m, an n and a k loop");
  if (hasTypesOf(op, *contraction, *instruction))
    return *instruction;
  bool isWide = llvm::all_of(
      ArrayRef<unsigned>{contraction->a, contraction->b}, [&](unsigned number) {
        return getElementTypeOrSelf(op->getOperand(number)).isF32();
      });
  if (instruction->rounds && isWide && !mayRound(op))
    return refuse(Refused::Numerics,
                  what + "is for other types, and f32 is rounded for it with --fp=tf32 only");
  return refuse(Refused::Types, what + "is for other types");
}

bool tilewright::isForMatrixUnit(linalg::LinalgOp op, TargetAttr target) {
  /// Rows, or columns, of which a tile has at least one in two; of warpgroups, whose copies keep
  /// memory busy whoever multiplies, any that are more than one.
  const int64_t kMinExtent = target.has("warpgroup_mma") ? 2 : 8;
  if (auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr))
    return bool(config.getMma());
  std::optional<Contraction> contraction = matchContraction(op);
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  if (!contraction || !names || contraction->m.size() != 1 ||
      contraction->n.size() != 1 || contraction->k.empty())
    return false;
  SmallVector<int64_t> extents = promisedExtents(op);
  for (unsigned loop : {contraction->m[0], contraction->n[0]})
    if (!ShapedType::isDynamic(extents[loop]) && extents[loop] < kMinExtent)
      return false;
  // Nibbles share bytes only where they are multiplied so.
  if (contraction->perElement > 1)
    return true;
  return llvm::any_of(names.getAsRange<StringAttr>(), [&](StringAttr name) {
    auto instruction = MatrixInstruction::parse(op.getContext(), name);
    return instruction && hasTypesOf(op, *contraction, *instruction);
  });
}

StringAttr tilewright::withColumns(StringAttr instruction, int64_t columns) {
  // wgmma.m64n128k16.f16.f32
  auto [rows, rest] = instruction.getValue().split('n');
  return StringAttr::get(instruction.getContext(),
                         rows + "n" + Twine(columns) + rest.ltrim("0123456789"));
}
