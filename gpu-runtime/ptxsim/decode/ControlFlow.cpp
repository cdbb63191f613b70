// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Immediate post-dominators. They are computed per basic block with the usual iteration over a reverse post-order of
// the reversed graph; the function's end is a virtual block that every return, exit and trap leads to. A block from
// which the end cannot be reached (an endless loop) keeps the end as its post-dominator.

#include "decode/Decoder.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

struct Graph {
  std::vector<uint32_t> first; // first instruction of each block
  std::vector<uint32_t> blockOf;
  std::vector<std::vector<uint32_t>> successors, predecessors;
};

bool endsBlock(const Inst &inst) {
  return inst.flow == Flow::Branch || inst.flow == Flow::BranchIndexed || inst.flow == Flow::Return ||
         inst.flow == Flow::Exit || inst.flow == Flow::Trap;
}

void successorsOf(const Program &program, uint32_t pc, std::vector<uint32_t> &targets) {
  const Inst &inst = program.code[pc];
  targets.clear();
  if (inst.flow == Flow::Branch)
    targets.push_back(inst.target);
  if (inst.flow == Flow::BranchIndexed)
    for (uint32_t target : program.branchTables[inst.offset])
      targets.push_back(target);
  if (!endsBlock(inst) || inst.guarded)
    targets.push_back(pc + 1);
}

Graph build(const Program &program, const FunctionCode &code) {
  Graph graph;
  uint32_t size = code.end - code.entry;
  std::vector<bool> leader(size + 1, false);
  leader[0] = true;
  std::vector<uint32_t> targets;
  for (uint32_t pc = code.entry; pc < code.end; ++pc) {
    if (!endsBlock(program.code[pc]))
      continue;
    leader[pc + 1 - code.entry] = true;
    successorsOf(program, pc, targets);
    for (uint32_t target : targets)
      if (target < code.end)
        leader[target - code.entry] = true;
  }
  graph.blockOf.resize(size);
  for (uint32_t i = 0; i < size; ++i) {
    if (leader[i])
      graph.first.push_back(code.entry + i);
    graph.blockOf[i] = static_cast<uint32_t>(graph.first.size() - 1);
  }
  uint32_t blocks = static_cast<uint32_t>(graph.first.size());
  graph.successors.resize(blocks + 1);
  graph.predecessors.resize(blocks + 1);
  for (uint32_t block = 0; block < blocks; ++block) {
    uint32_t last = (block + 1 < blocks ? graph.first[block + 1] : code.end) - 1;
    successorsOf(program, last, targets);
    bool reachesEnd = endsBlock(program.code[last]) && program.code[last].flow != Flow::Branch &&
                      program.code[last].flow != Flow::BranchIndexed;
    for (uint32_t target : targets)
      graph.successors[block].push_back(target < code.end ? graph.blockOf[target - code.entry] : blocks);
    if (reachesEnd)
      graph.successors[block].push_back(blocks);
    for (uint32_t successor : graph.successors[block])
      graph.predecessors[successor].push_back(block);
  }
  return graph;
}

} // namespace

void findReconvergence(Program &program, const FunctionCode &code) {
  Graph graph = build(program, code);
  uint32_t exit = static_cast<uint32_t>(graph.first.size());
  // Post-order of the reversed graph from the exit, without recursion.
  std::vector<uint32_t> order, number(exit + 1, noIndex);
  std::vector<std::pair<uint32_t, size_t>> stack = {{exit, 0}};
  std::vector<bool> seen(exit + 1, false);
  seen[exit] = true;
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    if (next < graph.predecessors[block].size()) {
      uint32_t predecessor = graph.predecessors[block][next++];
      if (!seen[predecessor]) {
        seen[predecessor] = true;
        stack.emplace_back(predecessor, 0);
      }
      continue;
    }
    number[block] = static_cast<uint32_t>(order.size());
    order.push_back(block);
    stack.pop_back();
  }
  std::vector<uint32_t> postDominator(exit + 1, noIndex);
  postDominator[exit] = exit;
  auto common = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b])
        a = postDominator[a];
      while (number[b] < number[a])
        b = postDominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size(); i-- > 0;) {
      uint32_t block = order[i];
      if (block == exit)
        continue;
      uint32_t best = noIndex;
      for (uint32_t successor : graph.successors[block])
        if (postDominator[successor] != noIndex)
          best = best == noIndex ? successor : common(best, successor);
      if (best != noIndex && postDominator[block] != best) {
        postDominator[block] = best;
        changed = true;
      }
    }
  }
  for (uint32_t pc = code.entry; pc < code.end; ++pc) {
    Inst &inst = program.code[pc];
    if (inst.flow != Flow::Branch && inst.flow != Flow::BranchIndexed)
      continue;
    uint32_t meeting = postDominator[graph.blockOf[pc - code.entry]];
    inst.reconverge = meeting == noIndex || meeting == exit ? noIndex : graph.first[meeting];
  }
}

} // namespace tilewright::ptxsim
