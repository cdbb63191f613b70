// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma: D (64 x n) += A (64 x k) * B (k x n) by four warps, each of which computes sixteen rows.
//
// A warp's share happens at some time between its issue and the wait that covers it, in the order of issue; a seeded
// choice says when (at once, in speed mode). Until the wait the registers of D belong to wgmma, and those of A may only
// be read; registers that other instructions wrote need a wgmma.fence before wgmma may have them, those that
// they read before it may write them. For races the share
// reads shared memory as an agent of the warp's first thread (see async/CopyAsync.h). Sums are taken as for mma.
//
// A group is the warpgroup's: where one warp has waited for it, the shares of all four are done, so a single thread may tell
// others that its warpgroup no longer needs the operands.

#include "matrix/Wgmma.h"
#include "machine/MemoryAccess.h"
#include "machine/SharedTraffic.h"
#include "matrix/Descriptor.h"
#include "matrix/Sparse.h"
#include "matrix/TruncatedSum.h"
#include "matrix/WarpRegisters.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tilewright::ptxsim {
namespace {

constexpr unsigned rowsPerWarp = 16, warpsPerGroup = 4, unitBytes = 16;

void misuse(ExecContext &context, const Inst &inst, std::string message) {
  context.report(FindingKind::WgmmaMisuse, inst, 0, 0, std::move(message));
}

/// Values of A (16 x k) or of B (n x k), and per row whether anything of it is undefined.
struct Operand {
  std::vector<double> values;
  std::vector<uint8_t> undefined;
};

double valueOf(MatrixElement type, uint64_t bits) {
  return isIntegerElement(type) ? static_cast<double>(integerElement(type, bits)) : elementValue(type, bits);
}

/// Sixteen bytes of the block's shared memory at a descriptor's unit; false after a finding.
bool readUnit(ExecContext &context, const WgmmaFlight &flight, uint32_t offset, uint8_t *bytes, uint8_t *defined) {
  uint32_t address = sharedOfRank(context.block->rank, offset);
  Place place;
  if (!locate(context, *flight.inst, Space::Shared, 0, address, unitBytes, unitBytes, false, place))
    return false;
  std::memcpy(bytes, place.bytes, unitBytes);
  std::memset(defined, 0xff, unitBytes);
  if (!context.checks)
    return true;
  std::memcpy(defined, place.defined, unitBytes);
  if (BlockRaces *races = context.block->races.get())
    checkRace(context, *flight.inst, races->wgmmaAgentOf(context.warp->index * warpSize), 0, address, unitBytes, place,
              AccessKind::Read, Scope::None, false);
  return true;
}

/// `count` rows of a matrix in shared memory, the first of them `first`.
Operand readMatrix(ExecContext &context, const WgmmaFlight &flight, uint64_t bits, unsigned first, unsigned count,
                   unsigned k, bool isMajor, MatrixElement type) {
  MatrixDescriptor descriptor(bits);
  unsigned width = elementBits(type), perUnit = 8 * unitBytes / width;
  Operand result = {std::vector<double>(size_t(count) * k), std::vector<uint8_t>(count)};
  uint8_t bytes[unitBytes], defined[unitBytes];
  auto element = [&](const uint8_t *from, unsigned index) {
    uint64_t word = 0;
    std::memcpy(&word, from + index * width / 8, (width + 7) / 8);
    return word >> index * width % 8 & lowBits(width);
  };
  auto put = [&](unsigned row, unsigned column, unsigned index) {
    result.values[size_t(row) * k + column] = valueOf(type, element(bytes, index));
    result.undefined[row] |= element(defined, index) != lowBits(width);
  };
  if (!isMajor) {
    for (unsigned row = 0; row < count; ++row)
      for (unsigned unit = 0; unit < k / perUnit; ++unit)
        if (readUnit(context, flight, descriptor.kMajor(first + row, unit), bytes, defined))
          for (unsigned i = 0; i < perUnit; ++i)
            put(row, unit * perUnit + i, i);
    return result;
  }
  for (unsigned unit = 0; unit < count / perUnit; ++unit)
    for (unsigned column = 0; column < k; ++column)
      if (readUnit(context, flight, descriptor.mMajor(first / perUnit + unit, column), bytes, defined))
        for (unsigned i = 0; i < perUnit; ++i)
          put(unit * perUnit + i, column, i);
  return result;
}

Operand readRegisters(const WarpRegisters &registers, const MatrixCode &code) {
  unsigned each = perRegister(code.aType), width = elementBits(code.aType);
  unsigned k = code.storedK();
  Operand result = {std::vector<double>(size_t(rowsPerWarp) * k), std::vector<uint8_t>(rowsPerWarp)};
  for (unsigned r = 0; r < code.a.size(); ++r)
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (unsigned i = 0; i < each; ++i) {
        MatrixPlace at = placeInA(rowsPerWarp, each, lane, r, i);
        result.values[at.row * k + at.column] =
            valueOf(code.aType, elementOf(registers.read(code.a[r], lane), code.aType, i));
        result.undefined[at.row] |= (registers.undefinedBits(code.a[r], lane) >> (width * i) & lowBits(width)) != 0;
      }
  return result;
}

/// What is stored of a sparse A, at its places.
Operand expanded(const Operand &stored, const MatrixCode &code, const SparsePlaces &places) {
  Operand result = {std::vector<double>(size_t(rowsPerWarp) * code.k), stored.undefined};
  for (unsigned row = 0; row < rowsPerWarp; ++row)
    for (unsigned i = 0; i < code.storedK(); ++i)
      result.values[row * code.k + places.column[row][i]] = stored.values[row * code.storedK() + i];
  return result;
}

uint64_t resultOf(const MatrixCode &code, double product, uint64_t old, bool accumulates) {
  if (code.dType == MatrixElement::S32) {
    // Sums of integers are far below 2^53.
    int64_t sum = static_cast<int64_t>(product) + (accumulates ? static_cast<int32_t>(old) : 0);
    if (code.saturate)
      sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(sum);
  }
  if (code.negative)
    product = -product;
  return resultBits(code.dType, accumulates ? product + elementValue(code.dType, old) : product);
}

/// Rows of 16 bytes that a warp's share reads of shared memory: its own of A, and, for all warps, the first one those of B.
void countOperands(ExecContext &context, const WgmmaFlight &flight, WgmmaState &state) {
  const MatrixCode &code = *flight.code;
  auto [known, isNew] = state.operandCosts.try_emplace({flight.inst, flight.descriptorA, flight.descriptorB});
  if (!isNew)
    return context.grid->traffic->count(*flight.inst, known->second);
  std::vector<uint64_t> rows;
  auto add = [&](uint64_t bits, unsigned first, unsigned count, unsigned k, bool isMajor, MatrixElement type) {
    MatrixDescriptor descriptor(bits);
    unsigned perUnit = 8 * unitBytes / elementBits(type);
    if (isMajor)
      for (unsigned unit = 0; unit < count / perUnit; ++unit)
        for (unsigned column = 0; column < k; ++column)
          rows.push_back(descriptor.mMajor(first / perUnit + unit, column));
    else
      for (unsigned unit = 0; unit < k / perUnit; ++unit)
        for (unsigned row = 0; row < count; ++row)
          rows.push_back(descriptor.kMajor(first + row, unit));
  };
  unsigned warp = context.warp->index % warpsPerGroup;
  if (code.a.empty())
    add(flight.descriptorA, warp * rowsPerWarp, rowsPerWarp, code.storedK(), code.mMajor, code.aType);
  if (warp == 0)
    add(flight.descriptorB, 0, code.n, code.k, code.nMajor, code.bType);
  known->second = matricesCost(rows.data(), static_cast<unsigned>(rows.size()));
  context.grid->traffic->count(*flight.inst, known->second);
}

void perform(ExecContext &context, WgmmaFlight &flight) {
  flight.performed = true;
  if (context.grid->options->skipsWgmma)
    return;
  const MatrixCode &code = *flight.code;
  unsigned warpRow = context.warp->index % warpsPerGroup * rowsPerWarp;
  if (BlockRaces *races = context.block->races.get())
    races->become(races->wgmmaAgentOf(context.warp->index * warpSize), flight.issued, flight.clock);
  Frame *frames[warpSize];
  std::fill_n(frames, warpSize, flight.frame);
  WarpRegisters registers(context, frames);
  Operand a = code.a.empty() ? readMatrix(context, flight, flight.descriptorA, warpRow, rowsPerWarp, code.storedK(),
                                       code.mMajor, code.aType)
                          : readRegisters(registers, code);
  if (code.isSparse)
    a = expanded(a, code, *flight.places);
  Operand b = readMatrix(context, flight, flight.descriptorB, 0, code.n, code.k, code.nMajor, code.bType);
  bool truncates = context.grid->options->truncatesFloat8 && isFloat8(code.aType);
  unsigned each = perRegister(code.dType), width = elementBits(code.dType);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned r = 0; r < code.d.size(); ++r) {
      uint64_t bits = 0, undefined = 0;
      uint64_t old = registers.read(code.d[r], lane), oldUndefined = registers.undefinedBits(code.d[r], lane);
      for (unsigned i = 0; i < each; ++i) {
        // As C of m16n8, repeated every eight columns.
        unsigned index = r * each + i;
        MatrixPlace at = placeInC(lane, index % 4);
        unsigned column = at.column + 8 * (index / 4);
        const double *x = &a.values[at.row * code.k], *y = &b.values[size_t(column) * code.k];
        double product = 0;
        if (truncates)
          product = truncatedSum(flight.accumulates ? elementValue(code.dType, elementOf(old, code.dType, i)) : 0,
                                 code.negative ? -1 : 1, x, y, code.k);
        else if (code.usesAnd)
          for (unsigned k = 0; k < code.k; ++k)
            product += x[k] != 0 && y[k] != 0;
        else
          for (unsigned k = 0; k < code.k; ++k)
            product += x[k] * y[k];
        bits |= (truncates ? resultBits(code.dType, product)
                           : resultOf(code, product, elementOf(old, code.dType, i), flight.accumulates))
                << (width * i);
        bool unknown = a.undefined[at.row] || b.undefined[column] ||
                       (flight.accumulates && (oldUndefined >> (width * i) & lowBits(width)) != 0);
        if (unknown)
          undefined |= lowBits(width) << (width * i);
      }
      registers.write(code.d[r], lane, bits, undefined);
    }
}

WgmmaState &stateOf(Warp &warp) {
  if (!warp.wgmma) {
    warp.wgmma = std::make_unique<WgmmaState>();
    size_t rows = warp.kernelFrame->function->rows;
    WgmmaState &state = *warp.wgmma;
    for (std::vector<uint8_t> *flags : {&state.written, &state.touched, &state.owned, &state.read})
      flags->assign(rows, 0);
  }
  return *warp.wgmma;
}

/// The warps of a warpgroup issue the same, in the same order.
void checkGroup(ExecContext &context, const Inst &inst, const WgmmaFlight &flight, WgmmaState &state) {
  Block &block = *context.block;
  uint32_t group = context.warp->index / warpsPerGroup;
  if (block.warps.size() < (group + 1) * warpsPerGroup)
    context.report(FindingKind::CollectiveMisuse, inst, 0, 0, "wgmma needs warpgroups of four whole warps");
  std::vector<WarpgroupIssue> &issues = block.warpgroups[group];
  WarpgroupIssue mine = {&inst, flight.descriptorA, flight.descriptorB, flight.accumulates};
  if (state.issued < issues.size()) {
    const WarpgroupIssue &other = issues[state.issued];
    if (other.inst != &inst || other.descriptorA != mine.descriptorA || other.descriptorB != mine.descriptorB ||
        other.accumulates != mine.accumulates)
      context.report(FindingKind::CollectiveMisuse, inst, 0, 0,
                     "the warps of a warpgroup execute different multiplications (another is at line " +
                         std::to_string(other.inst->line) + ") or give different descriptors or scale-d");
  } else {
    issues.push_back(mine);
  }
  ++state.issued;
}

/// What wgmma may not have yet: registers written without a fence, or in use with another shape.
void checkOwnership(ExecContext &context, const Inst &inst, const MatrixCode &code, const WgmmaState &state) {
  if (!state.fenced)
    return misuse(context, inst, "wgmma.mma_async without a wgmma.fence before it");
  for (const std::vector<Row> *rows : {&code.d, &code.a})
    for (Row row : *rows)
      if (row < state.written.size() && state.written[row])
        return misuse(context, inst, "registers that other instructions wrote reach wgmma without a wgmma.fence");
  // Even what is only read: D is written at any time from now on.
  for (Row row : code.d)
    if (row < state.touched.size() && state.touched[row])
      return misuse(context, inst, "registers that other instructions read become D of wgmma without a wgmma.fence");
  for (Row row : code.a)
    if (row < state.owned.size() && state.owned[row])
      return misuse(context, inst, "A is the result of a wgmma that was not waited for");
  for (const WgmmaFlight &flight : state.flights)
    if (flight.code->n != code.n || flight.code->dType != code.dType)
      for (Row row : code.d)
        if (std::find(flight.code->d.begin(), flight.code->d.end(), row) != flight.code->d.end())
          return misuse(context, inst, "D is the result of a wgmma of another shape that was not waited for");
}

/// Marks the registers of what is in flight.
void markOwned(WgmmaState &state) {
  std::fill(state.owned.begin(), state.owned.end(), 0);
  std::fill(state.read.begin(), state.read.end(), 0);
  for (const WgmmaFlight &flight : state.flights) {
    for (Row row : flight.code->d)
      if (row < state.owned.size())
        state.owned[row] = 1;
    for (Row row : flight.code->a)
      if (row < state.read.size())
        state.read[row] = 1;
  }
}

/// The same value in all lanes; a finding where it is not, or is undefined.
uint64_t uniform(ExecContext &context, const Inst &inst, const WarpRegisters &registers, Row row, const char *what) {
  uint64_t value = registers.read(row, 0);
  for (unsigned lane = 0; context.checks && lane < warpSize; ++lane) {
    if (registers.isUndefined(row, lane))
      context.report(FindingKind::Undefined, inst, lane, 0, std::string(what) + " depends on an undefined value");
    else if (registers.read(row, lane) != value)
      context.report(FindingKind::CollectiveMisuse, inst, lane, 0, std::string(what) + " differs between lanes");
  }
  return value;
}

void issue(ExecContext &context, const Inst &inst, const MatrixCode &code, Frame *const frames[warpSize]) {
  WgmmaState &state = stateOf(*context.warp);
  WarpRegisters registers(context, frames);
  WgmmaFlight flight;
  flight.inst = &inst;
  flight.code = &code;
  flight.frame = frames[0];
  unsigned source = 1;
  if (code.a.empty())
    flight.descriptorA = uniform(context, inst, registers, inst.src[source++], "a descriptor");
  flight.descriptorB = uniform(context, inst, registers, inst.src[source++], "a descriptor");
  flight.accumulates = code.accumulates;
  if (inst.wantsPredicate)
    flight.accumulates = (uniform(context, inst, registers, inst.src[source], "scale-d") != 0) != inst.negateSource;
  if (code.isSparse)
    flight.places = std::make_shared<SparsePlaces>(sparsePlaces(registers, code));
  flight.group = state.committed;
  flight.clock = ++state.clock;
  if (context.grid->traffic)
    countOperands(context, flight, state);
  if (context.checks) {
    checkGroup(context, inst, flight, state);
    checkOwnership(context, inst, code, state);
    if (context.stopped)
      return;
  }
  if (BlockRaces *races = context.block->races.get())
    flight.issued = races->issue(context.warp->index * warpSize);
  state.flights.push_back(flight);
  markOwned(state);
  // A called function may return before the wait: its registers do not outlive it.
  bool atOnce = !context.checks || flight.frame != context.warp->kernelFrame.get() || context.random() % 2 == 0;
  if (atOnce)
    for (WgmmaFlight &pending : state.flights)
      if (!pending.performed)
        perform(context, pending);
}

/// How many groups a wait covers.
uint64_t dueGroups(const WgmmaState &state, const MatrixCode &code) {
  return state.committed > code.left ? state.committed - code.left : 0;
}

/// Calls `visit` on the warps of this one's warpgroup.
template <typename Callable> void forEachOfGroup(const Block &block, const Warp &warp, Callable visit) {
  size_t first = warp.index / warpsPerGroup * warpsPerGroup;
  for (size_t i = first; i < std::min(first + warpsPerGroup, block.warps.size()); ++i)
    visit(*block.warps[i]);
}

void performDue(ExecContext &context, Warp &warp, uint64_t due) {
  Warp *current = std::exchange(context.warp, &warp);
  for (WgmmaFlight &flight : warp.wgmma->flights)
    if (!flight.performed && flight.group < due)
      perform(context, flight);
  context.warp = current;
}

void wait(ExecContext &context, const MatrixCode &code) {
  WgmmaState &state = stateOf(*context.warp);
  uint64_t due = dueGroups(state, code);
  forEachOfGroup(*context.block, *context.warp, [&](Warp &warp) {
    if (warp.wgmma)
      performDue(context, warp, due);
  });
  auto isDue = [&](const WgmmaFlight &flight) { return flight.group < due; };
  state.flights.erase(std::remove_if(state.flights.begin(), state.flights.end(), isDue), state.flights.end());
  markOwned(state);
  BlockRaces *races = context.block->races.get();
  if (!races || due == 0)
    return;
  forEachOfGroup(*context.block, *context.warp, [&](Warp &warp) {
    if (warp.wgmma && warp.wgmma->groupEnds.size() >= due)
      for (unsigned lane = 0; lane < warpSize; ++lane)
        races->learn(context.warp->index * warpSize + lane, races->wgmmaAgentOf(warp.index * warpSize),
                     warp.wgmma->groupEnds[due - 1]);
  });
}

/// Whether the rows are of the frame whose registers are watched.
bool isWatched(const ExecContext &context) { return context.frame == context.warp->kernelFrame.get(); }

void checkRead(ExecContext &context, const Inst &inst, Row row) {
  WgmmaState &state = *context.warp->wgmma;
  if (row >= state.owned.size())
    return;
  if (state.owned[row])
    misuse(context, inst, "reads a register of D before the wgmma.wait_group that covers it");
  state.touched[row] = 1;
}

void checkWrite(ExecContext &context, const Inst &inst, Row row) {
  WgmmaState &state = *context.warp->wgmma;
  if (row == sinkRow || row >= state.owned.size())
    return;
  if (state.owned[row] || state.read[row])
    misuse(context, inst, "writes a register of D or A before the wgmma.wait_group that covers it");
  state.written[row] = state.touched[row] = 1;
}

} // namespace

bool mustWaitForWarpgroup(const ExecContext &context, const Inst &inst, const Warp &warp) {
  const MatrixCode &code = context.grid->program->matrices[inst.matrix];
  if (code.kind != MatrixCode::AsyncWait || !warp.wgmma)
    return false;
  uint64_t due = dueGroups(*warp.wgmma, code);
  bool mustWait = false;
  forEachOfGroup(*warp.block, warp, [&](const Warp &other) {
    mustWait |= other.live != 0 && due != 0 && (!other.wgmma || other.wgmma->committed < due);
  });
  return mustWait;
}

void checkRegisters(ExecContext &context, const Inst &inst) {
  if (!isWatched(context))
    return;
  for (unsigned i = 0; i < inst.numSrc; ++i)
    checkRead(context, inst, inst.src[i]);
  for (unsigned i = 0; i < inst.numDst; ++i)
    checkWrite(context, inst, inst.dst[i]);
}

void checkMatrixRegisters(ExecContext &context, const Inst &inst, const MatrixCode &code) {
  if (!isWatched(context))
    return;
  for (const std::vector<Row> *rows : {&code.a, &code.b, &code.c})
    for (Row row : *rows)
      checkRead(context, inst, row);
  for (Row row : code.d) {
    if (code.kind == MatrixCode::Store)
      checkRead(context, inst, row);
    else
      checkWrite(context, inst, row);
  }
}

void checkWgmmaAtEnd(ExecContext &context, const Block &block) {
  for (const auto &warp : block.warps) {
    if (!warp->wgmma)
      continue;
    const WgmmaState &state = *warp->wgmma;
    context.warp = warp.get();
    if (!state.flights.empty())
      misuse(context, *state.flights.front().inst, "a warp ends without waiting for this multiplication");
  }
  for (const auto &[group, issues] : block.warpgroups)
    for (uint32_t warp = group * warpsPerGroup; warp < (group + 1) * warpsPerGroup && warp < block.warps.size(); ++warp) {
      const WgmmaState *state = block.warps[warp]->wgmma.get();
      if (!state || state->issued != issues.size())
        context.report(FindingKind::CollectiveMisuse, *issues.back().inst, noIndex, 0,
                       "warp " + std::to_string(warp) + " did not take part in all multiplications of its warpgroup");
    }
}

void executeWgmma(ExecContext &context, const Inst &inst, const MatrixCode &code, Frame *const frames[warpSize]) {
  switch (code.kind) {
  case MatrixCode::AsyncMultiply:
    return issue(context, inst, code, frames);
  case MatrixCode::AsyncFence: {
    WgmmaState &state = stateOf(*context.warp);
    state.fenced = true;
    std::fill(state.written.begin(), state.written.end(), 0);
    std::fill(state.touched.begin(), state.touched.end(), 0);
    return;
  }
  case MatrixCode::AsyncCommit: {
    WgmmaState &state = stateOf(*context.warp);
    ++state.committed;
    state.groupEnds.push_back(state.clock);
    context.block->idleWakes = 0;
    wakeSleepers(*context.block);
    return;
  }
  default:
    return wait(context, code);
  }
}

} // namespace tilewright::ptxsim
