// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work on streams. An operation depends on what the rules of streams, events and the default stream say it must follow,
// and on nothing else; among operations whose dependencies are done, a seeded generator chooses. Eager queues run every
// operation when it is enqueued; seeded ones run some then, and the rest when the host waits.
//
// Each operation knows which others happen before it: through dependencies, and through the host having waited for them.

#ifndef TILEWRIGHT_PTXSIM_DRIVER_QUEUE_H
#define TILEWRIGHT_PTXSIM_DRIVER_QUEUE_H

#include "machine/Random.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace tilewright::ptxsim {

/// What an operation is to the launches behind it in its stream that may begin early (programmatic dependent launch).
enum class OperationKind {
  /// Ends after what is in front of it and before what is behind it: a copy, a fill, a function of the host.
  Work,
  Kernel,
  /// Is nothing that the device waits for: memory handed out or back, an event.
  Note,
};

struct Operation {
  /// Position in the order of its stream; starts at 1.
  uint64_t stream = 0;
  uint64_t index = 0;
  std::function<void(const Operation &)> work;
  std::vector<std::shared_ptr<Operation>> dependencies;
  /// Streams to the last index that happens before this operation.
  std::map<uint64_t, uint64_t> before;
  /// The last of its own stream that has ended before this one begins, however early it may: the host, work or another
  /// stream has waited for it.
  uint64_t ended = 0;
  bool done = false;
  /// Simulated time at completion, in microseconds.
  double finished = 0;

  bool follows(uint64_t otherStream, uint64_t otherIndex) const {
    auto found = before.find(otherStream);
    return found != before.end() && found->second >= otherIndex;
  }
};
using OperationRef = std::shared_ptr<Operation>;

class Queue {
public:
  void configure(bool runsEagerly, uint64_t seed) {
    eager = runsEagerly;
    random = Random(seed);
  }
  /// Adds the operation after its dependencies (null ones are ignored); runs it now, or perhaps later.
  OperationRef enqueue(uint64_t stream, std::vector<OperationRef> dependencies,
                       std::function<void(const Operation &)> work, OperationKind kind = OperationKind::Work);
  /// Runs what is needed for the operation to be done (and, in a seeded order, other work too). The host then knows of
  /// everything before it.
  void wait(const OperationRef &operation);
  void waitAll();
  /// What cuStreamQuery asks: gives queued work a chance to run first, sometimes.
  bool poll(const OperationRef &operation);
  /// Operations of this stream that are still queued are dropped (their context failed or ended).
  void drop(uint64_t stream);

private:
  bool runOne();
  void run(const OperationRef &operation);
  void learn(const Operation &operation);

  bool eager = true;
  Random random{1};
  std::deque<OperationRef> pending;
  std::map<uint64_t, uint64_t> counts;
  /// Of each stream: what has ended before whatever is added next begins.
  std::map<uint64_t, uint64_t> ended;
  /// What the host has waited for.
  std::map<uint64_t, uint64_t> hostKnows;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_DRIVER_QUEUE_H
