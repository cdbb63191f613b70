// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block starts with the same number of registers for each thread; the producer
// warpgroup gives some away, and the consumers take them (`setmaxnreg`).

#include "WarpgroupRegisters.h"
#include "../Bound.h"
#include "tilewright/Support/ChipFacts.h"

using namespace mlir;
using namespace tilewright;

int64_t tilewright::registersEach(int64_t threads) {
  // The first architecture with such engines; all that follow have as many.
  return std::min(kNamedRegisters, registersEach(threads, chipOfArchitecture(90)));
}

/// What each thread of a block starts with that has `copyThreads` beside the consumers.
static int64_t registersAtStart(int64_t groups, int64_t copyThreads = kCopyThreads) {
  return registersEach(groups * 128 + copyThreads);
}

Refusal tilewright::whyNotEnoughRegisters(LoweringConfigAttr config, int64_t groups, int64_t held,
                                          StringRef what) {
  auto text = [](int64_t number) { return std::to_string(number); };
  int64_t copyThreads = config.getProducer() ? kCopyThreads : 0;
  int64_t threads = groups * 128 + copyThreads;
  int64_t each = registersAtStart(groups, copyThreads);
  ArrayRef<int64_t> asked = config.getRegisters();
  if (!copyThreads && !asked.empty())
    return refuse(Refused::Config,
                  "'registers' moves registers from warps that copy, of which 'producer = "
                  "false' has none: leave it out");
  int64_t own = asked.empty() ? each : asked[1];
  if (held + kBesideSums > own)
    return refuse(Refused::Registers, "a thread has " + text(held) + " " + what.str() +
                                          " and needs " + text(kBesideSums) +
                                          " registers beside them, but has " + text(own))
        .of(held + kBesideSums, own);
  if (asked.empty())
    return {};
  if (groups == 1)
    return refuse(Refused::Config,
                  "'registers' moves registers from the warps that copy to several "
                  "warpgroups; beside one each thread has as many as it can use: "
                  "leave it out");
  int64_t all = asked[0] * kCopyThreads + asked[1] * groups * 128;
  if (all > each * threads)
    return refuse(Refused::Registers, "'registers' asks for " + text(all) +
                                          " in all; the block of " + text(threads) +
                                          " threads starts with " + text(each * threads))
        .of(all, each * threads);
  if (asked[0] > each || asked[1] < each)
    return refuse(Refused::Registers,
                  "'registers' must take from the " + text(each) +
                      " that a thread starts with where warps copy, and give where they "
                      "multiply");
  return {};
}

Refusal tilewright::whyNotNamed(LoweringConfigAttr config, int64_t groups, int64_t sums) {
  // ptxas 13.0 asks for 138 registers for 112 sums.
  constexpr int64_t kBeside = 26;
  int64_t each = registersAtStart(groups, config.getProducer() ? kCopyThreads : 0);
  if (sums + kBeside <= each)
    return {};
  return refuse(Refused::Registers, "one instruction has " + Twine(sums) +
                                        " sums of a thread and needs " + Twine(kBeside) +
                                        " registers beside them, but threads of " + Twine(groups) +
                                        " warpgroups start with " + Twine(each))
      .of(sums + kBeside, each);
}

/// What threads of consumers have where those that copy keep `copying`.
static SmallVector<int64_t> registersBeside(int64_t groups, int64_t copying) {
  int64_t all = registersAtStart(groups) * (groups * 128 + kCopyThreads);
  return {copying, std::min<int64_t>(240, (all - copying * kCopyThreads) /
                                              (groups * 128) / 8 * 8)};
}

SmallVector<int64_t> tilewright::registersOf(int64_t groups) {
  if (groups == 1)
    return {};
  return registersBeside(groups, groups == 2 ? 40 : groups == 3 ? 32 : 24);
}

SmallVector<SmallVector<int64_t>> tilewright::otherRegisters(int64_t groups) {
  SmallVector<SmallVector<int64_t>> choices;
  if (groups == 1)
    return choices;
  for (int64_t copying : {24, 40, 56})
    if (SmallVector<int64_t> choice = registersBeside(groups, copying);
        choice != registersOf(groups))
      choices.push_back(choice);
  return choices;
}
