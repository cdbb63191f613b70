// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The seeded order of operations.

#include "driver/Queue.h"

#include <algorithm>
#include <chrono>

namespace tilewright::ptxsim {
namespace {

void join(std::map<uint64_t, uint64_t> &into, const std::map<uint64_t, uint64_t> &from) {
  for (const auto &[stream, index] : from) {
    uint64_t &mine = into[stream];
    mine = std::max(mine, index);
  }
}

double now() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

} // namespace

OperationRef Queue::enqueue(uint64_t stream, std::vector<OperationRef> dependencies,
                            std::function<void(const Operation &)> work, OperationKind kind) {
  auto operation = std::make_shared<Operation>();
  operation->stream = stream;
  operation->index = ++counts[stream];
  operation->work = std::move(work);
  operation->before = hostKnows;
  uint64_t &over = ended[stream];
  over = std::max(over, hostKnows[stream]);
  for (OperationRef &dependency : dependencies) {
    if (!dependency)
      continue;
    if (dependency->stream != stream)
      if (auto found = dependency->before.find(stream); found != dependency->before.end())
        over = std::max(over, found->second);
    join(operation->before, dependency->before);
    uint64_t &known = operation->before[dependency->stream];
    known = std::max(known, dependency->index);
    if (!dependency->done)
      operation->dependencies.push_back(std::move(dependency));
  }
  operation->ended = over;
  if (kind == OperationKind::Work)
    over = operation->index;
  if (eager) {
    run(operation);
    return operation;
  }
  pending.push_back(operation);
  // Anything from "at once" to "at the last synchronisation": run none, some or many.
  for (uint64_t count = random.below(4) == 0 ? random.below(3) : 0; count > 0 && runOne(); --count) {
  }
  return operation;
}

void Queue::run(const OperationRef &operation) {
  if (operation->work)
    operation->work(*operation);
  operation->work = nullptr;
  operation->dependencies.clear();
  operation->finished = now();
  operation->done = true;
}

bool Queue::runOne() {
  // The oldest operation is always ready, as dependencies are older still. Looking at the oldest few keeps long queues
  // cheap and still lets every stream run ahead of the others.
  constexpr size_t window = 64;
  size_t ready[window], count = 0;
  for (size_t i = 0; i < pending.size() && i < window; ++i) {
    bool isReady = true;
    for (const OperationRef &dependency : pending[i]->dependencies)
      isReady &= dependency->done;
    if (isReady)
      ready[count++] = i;
  }
  if (count == 0)
    return false;
  size_t which = ready[random.below(count)];
  OperationRef operation = pending[which];
  pending.erase(pending.begin() + static_cast<ptrdiff_t>(which));
  run(operation);
  return true;
}

void Queue::learn(const Operation &operation) {
  join(hostKnows, operation.before);
  uint64_t &known = hostKnows[operation.stream];
  known = std::max(known, operation.index);
}

void Queue::wait(const OperationRef &operation) {
  if (!operation)
    return;
  while (!operation->done && runOne()) {
  }
  learn(*operation);
}

void Queue::waitAll() {
  while (runOne()) {
  }
  for (const auto &[stream, count] : counts)
    hostKnows[stream] = count;
}

bool Queue::poll(const OperationRef &operation) {
  if (!operation)
    return true;
  if (!operation->done && random.below(2) == 0)
    runOne();
  if (operation->done)
    learn(*operation);
  return operation->done;
}

void Queue::drop(uint64_t stream) {
  for (OperationRef &operation : pending)
    if (operation->stream == stream)
      operation->work = nullptr;
}

} // namespace tilewright::ptxsim
