// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caching allocator over a driver that counts, and fails when told.

#include "core/allocator.h"

#include <gtest/gtest.h>

using namespace tilewright::runtime;

namespace {

int live = 0;

struct CountedBuffer : DriverBuffer {
  explicit CountedBuffer(uint64_t bytes) : bytes(bytes) { ++live; }
  ~CountedBuffer() override { --live; }
  uint64_t size() const override { return bytes; }
  uint64_t bytes;
};

struct CountedDevice : DriverDevice {
  int64_t fact(std::string_view) const override { return 0; }
  Status allocate(uint64_t size,
                  std::unique_ptr<DriverBuffer> &result) override {
    if (++calls == failAt)
      return outOfMemory("told to fail");
    result = std::make_unique<CountedBuffer>((size + pieces - 1) / pieces * pieces);
    return Status::ok();
  }
  Status loadModule(const ModuleDesc &,
                    std::unique_ptr<DriverModule> &) override {
    return unsupported("no modules");
  }
  Status createStream(std::unique_ptr<DriverStream> &) override {
    return unsupported("no streams");
  }
  Status createEvent(bool, std::unique_ptr<DriverEvent> &) override {
    return unsupported("no events");
  }
  int calls = 0;
  int failAt = -1;
  uint64_t pieces = 1; // what it rounds up to
};

TEST(Allocator, ReusesMemoryInStreamOrder) {
  CountedDevice device;
  Allocator allocator(device);
  auto mine = std::make_shared<StreamClock>();
  auto other = std::make_shared<StreamClock>();
  mine->submitted = 5;
  BlockNode a, b;
  ASSERT_TRUE(allocator.allocate(1000, mine.get(), a).isOk());
  EXPECT_EQ(a.mapped().memory->size(), 1024u);
  DriverBuffer *first = a.mapped().memory.get();
  a.mapped().uses = {{mine, 5}};
  allocator.give(std::move(a), true);
  EXPECT_EQ(allocator.cachedBytes(), 1024u);

  // Another stream has to wait for ticket 5; the same one does not.
  ASSERT_TRUE(allocator.allocate(1000, other.get(), b).isOk());
  EXPECT_NE(b.mapped().memory.get(), first);
  ASSERT_TRUE(allocator.allocate(900, mine.get(), a).isOk());
  EXPECT_EQ(a.mapped().memory.get(), first);
  a.mapped().uses = {{mine, 5}};
  allocator.give(std::move(a), true);
  mine->completed = 5;
  ASSERT_TRUE(allocator.allocate(1024, other.get(), a).isOk());
  EXPECT_EQ(a.mapped().memory.get(), first);
}

// As pages of 2 MiB do, which the cpu takes for large tensors.
TEST(Allocator, ReusesWhatTheDriverRoundsUp) {
  CountedDevice device;
  device.pieces = 2 << 20;
  Allocator allocator(device);
  for (int i = 0; i < 3; ++i) {
    BlockNode block;
    ASSERT_TRUE(allocator.allocate((4 << 20) + 5, nullptr, block).isOk());
    EXPECT_EQ(block.mapped().memory->size(), uint64_t(6 << 20));
    allocator.give(std::move(block), true);
  }
  EXPECT_EQ(device.calls, 1);
}

// A block that was handed out again and not used keeps whom it waits for.
TEST(Allocator, ForgetsNoUseOfAnIdleTensor) {
  CountedDevice device;
  Allocator allocator(device);
  auto mine = std::make_shared<StreamClock>();
  auto other = std::make_shared<StreamClock>();
  mine->submitted = 1;
  BlockNode a, b;
  ASSERT_TRUE(allocator.allocate(64, mine.get(), a).isOk());
  DriverBuffer *first = a.mapped().memory.get();
  a.mapped().uses = {{mine, 1}};
  allocator.give(std::move(a), true);
  ASSERT_TRUE(allocator.allocate(64, mine.get(), a).isOk());
  ASSERT_EQ(a.mapped().memory.get(), first);
  allocator.give(std::move(a), true);
  ASSERT_TRUE(allocator.allocate(64, other.get(), b).isOk());
  EXPECT_NE(b.mapped().memory.get(), first);
}

TEST(Allocator, TrimKeepsWhatIsInFlight) {
  CountedDevice device;
  {
    Allocator allocator(device);
    auto clock = std::make_shared<StreamClock>();
    BlockNode a, b;
    ASSERT_TRUE(allocator.allocate(1, nullptr, a).isOk());
    ASSERT_TRUE(allocator.allocate(100000, nullptr, b).isOk());
    EXPECT_LT(b.mapped().memory->size(), 113000u);
    EXPECT_EQ(live, 2);
    a.mapped().uses = {{clock, 1}};
    allocator.give(std::move(a), true);
    allocator.give(std::move(b), true);
    allocator.trim();
    EXPECT_EQ(live, 1);
    // Adopted memory is let go as soon as its users are done.
    BlockNode adopted = Allocator::newBlock();
    adopted.mapped().memory = std::make_unique<CountedBuffer>(64);
    adopted.mapped().uses = {{clock, 1}};
    allocator.give(std::move(adopted), false);
    EXPECT_EQ(live, 2);
    clock->completed = 1;
    allocator.trim();
    EXPECT_EQ(live, 0);
  }
  EXPECT_EQ(live, 0);
}

TEST(Allocator, PassesFailuresOn) {
  CountedDevice device;
  Allocator allocator(device);
  for (int k = 1; k <= 5; ++k) {
    device.calls = 0;
    device.failAt = k;
    std::vector<BlockNode> held(5);
    for (int i = 1; i <= 5; ++i)
      EXPECT_EQ(allocator.allocate(4096, nullptr, held[i - 1]).isOk(), i != k);
  }
  EXPECT_EQ(live, 0);
  BlockNode buffer;
  EXPECT_EQ(allocator.allocate(UINT64_MAX, nullptr, buffer).code(),
            StatusCode::OutOfMemory);
}

} // namespace
