// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters: programs/cluster.cu, right and with planted bugs.

#include "Harness.h"

#include <numeric>

using namespace tilewright::ptxsim;

namespace {

MachineOptions hopper(uint64_t seed, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  options.instructionLimit = 2'000'000;
  return options;
}

struct Outcome {
  bool completed = false, correct = false;
};

/// Six blocks in clusters of three; `multicast` goes five rounds.
Outcome run(TestDevice &device, const std::string &kernel) {
  constexpr int blocks = 6, size = 3, rounds = 5;
  device.cluster = {size, 1, 1};
  std::vector<int> in(rounds * 256), expected;
  std::iota(in.begin(), in.end(), 1000);
  uint64_t input = device.upload(in);
  auto next = [](int at) { return at / 64 % size == size - 1 ? at - 64 * (size - 1) : at + 64; };
  auto previous = [](int at) { return at / 64 % size == 0 ? at + 64 * (size - 1) : at - 64; };
  if (kernel == "ring")
    for (int at = 0; at < blocks * 64; ++at)
      expected.push_back(3 * next(at) + 1);
  if (kernel == "multicast")
    for (int i = 0; i < blocks * rounds * 256; ++i)
      expected.push_back(in[i % (rounds * 256)] + i / (rounds * 256) % size);
  if (kernel == "send")
    for (int at = 0; at < blocks * 64; ++at) {
      int from = previous(at), first = from / 64 * 64;
      expected.insert(expected.end(), {7 * from, 5 * from, 64 * first + 63 * 32});
    }
  uint64_t out = device.allocate(expected.size() * 4);
  Outcome outcome;
  outcome.completed = kernel == "multicast" ? device.launch(kernel, {blocks}, {64}, input, out, int(rounds))
                                            : device.launch(kernel, {blocks}, {64}, out);
  if (outcome.completed && device.options.checks)
    outcome.completed = device.copyOut(out, expected.size() * 4);
  outcome.correct = device.download<int>(out, expected.size()) == expected;
  return outcome;
}

TEST(Cluster, KernelsRunRight) {
  for (const char *kernel : {"ring", "multicast", "send"})
    for (uint64_t seed = 1; seed <= 10; ++seed)
      for (bool checks : {true, false}) {
        TestDevice device(hopper(seed, checks));
        ASSERT_TRUE(device.load(readTestFile("programs/cluster.ptx"))) << device.message;
        Outcome outcome = run(device, kernel);
        EXPECT_TRUE(outcome.completed) << kernel << " seed " << seed << device.report();
        EXPECT_TRUE(outcome.correct) << kernel << " seed " << seed;
        EXPECT_EQ(device.findings.size(), 0u) << kernel << " seed " << seed << device.report();
      }
}

TEST(Cluster, Places) {
  TestDevice device(hopper(1));
  ASSERT_TRUE(device.load(readTestFile("programs/cluster.ptx"))) << device.message;
  EXPECT_EQ(device.module->kernel("places")->kernel->requiredCluster[1], 2u);
  device.cluster = {2, 2, 1};
  uint64_t out = device.allocate(12 * 24 * 4);
  ASSERT_TRUE(device.launch("places", {6, 4, 1}, {1}, out)) << device.report();
  std::vector<int> got = device.download<int>(out, 12 * 24);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 6; ++x) {
      std::vector<int> expected = {x % 2, y % 2, x % 2 + y % 2 * 2, 2, 2, 4, x / 2, y / 2, 3, 2, 1, 3};
      auto mine = got.begin() + 12 * (6 * y + x);
      EXPECT_EQ(std::vector<int>(mine, mine + 12), expected);
    }
}

/// A kernel of two blocks of 32 threads around `word` of shared memory, whose address is in %own; thread 0 of the block of
/// `rank` runs the body, or all of its threads, which leaves results in %r0 to %r3 of thread 0.
std::string twoBlocks(const std::string &body, const std::string &end = "barrier.cluster.arrive; barrier.cluster.wait;",
                      int rank = 0, bool byAll = false) {
  return ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) .reqnctapercluster 2 {\n"
         "  .shared .align 8 .b8 word[8];\n  .shared .align 128 .b8 tile[512];\n  .shared .align 8 .b8 bar[8];\n"
         "  .reg .b32 %r<8>, %rank, %own, %w<8>;\n  .reg .b64 %g<8>, %out;\n"
         "  .reg .pred %me, %first, %p, %q;\n  ld.param.u64 %out, [out];\n  mov.u32 %rank, %cluster_ctarank;\n"
         "  mov.u32 %r0, %tid.x;\n  setp.eq.u32 %first, %r0, 0;\n  setp.eq.u32 %me, %rank, " + std::to_string(rank) +
         (byAll ? ";\n" : ";\n  and.pred %me, %me, %first;\n") +
         "  mad.lo.u32 %r1, %rank, 100, 7;\n  @%first st.shared.b32 [word], %r1;\n"
         "  mov.u32 %own, word;\n  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
         "  @!%me bra END;\n  mov.b32 %r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0;\n" +
         body + "\n  @%first st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};\nEND:\n" + end + "\n  ret;\n}\n";
}

/// Six blocks in clusters of three: what each has for the address of a variable, by every way to take one.
TEST(Cluster, AddressesHaveTheRankOfTheirBlock) {
  // The last result is the difference of two generic addresses of the same variable.
  const std::string text = R"(
.version 8.6
.target sm_90
.address_size 64
.shared .align 8 .b8 outer[24];
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 result) callee() {
  .shared .align 8 .b8 inner[8];
  .reg .b32 %r;
  mov.u32 %r, inner; st.param.b32 [result], %r; ret;
}
.visible .entry k(.param .u64 out) {
  .shared .align 8 .b8 word[8];
  .reg .b32 %r<10>, %block;
  .reg .b64 %g<4>, %out;
  ld.param.u64 %out, [out];
  mov.u32 %block, %ctaid.x;
  mad.wide.u32 %out, %block, 40, %out;
  mov.u32 %r0, word; mov.b32 %r1, word+4; mov.u32 %r2, outer; mov.u32 %r3, dynamic; mov.u32 %r4, dynamic+32;
  mov.u64 %g0, outer+8; cvt.u32.u64 %r5, %g0;
  cvta.shared.u64 %g1, word; cvta.to.shared.u64 %g1, %g1; cvt.u32.u64 %r6, %g1;
  add.u32 %r7, outer, 16;
  { .param .b32 result; call (result), callee, (); ld.param.b32 %r8, [result]; }
  cvta.shared::cta.u64 %g2, dynamic; cvt.u64.u32 %g3, %r3; cvta.shared.u64 %g3, %g3; sub.u64 %g3, %g3, %g2;
  cvt.u32.u64 %r9, %g3;
  st.global.v2.b32 [%out], {%r0, %r1}; st.global.v2.b32 [%out+8], {%r2, %r3}; st.global.v2.b32 [%out+16], {%r4, %r5};
  st.global.v2.b32 [%out+24], {%r6, %r7}; st.global.v2.b32 [%out+32], {%r8, %r9};
  ret;
}
)";
  for (bool checks : {true, false}) {
    TestDevice device(hopper(1, checks));
    ASSERT_TRUE(device.load(text)) << device.message;
    device.cluster = {3, 1, 1};
    device.dynamicShared = 64;
    uint64_t out = device.allocate(6 * 40);
    ASSERT_TRUE(device.launch("k", {6}, {1}, out)) << device.report();
    std::vector<uint32_t> got = device.download<uint32_t>(out, 60);
    EXPECT_EQ(got[1], got[0] + 4);
    EXPECT_EQ(got[4], got[3] + 32);
    EXPECT_EQ(got[5], got[2] + 8);
    EXPECT_EQ(got[6], got[0]);
    EXPECT_EQ(got[7], got[2] + 16);
    for (uint32_t block = 0; block < 6; ++block) {
      for (uint32_t way = 0; way < 9; ++way) {
        EXPECT_LT(got[way], 1u << 24) << way;
        EXPECT_EQ(got[10 * block + way], got[way] + (block % 3 << 24)) << "block " << block << " way " << way;
      }
      EXPECT_EQ(got[10 * block + 9], 0u) << "block " << block;
    }
  }
}

/// A block has no shared memory before it has begun. What was read or written there tells nobody, where nobody else touches it.
TEST(Cluster, BlocksMustBeKnownToHaveBegun) {
  const std::string store = "@%me mapa.shared::cluster.u32 %w0, word, 1; @%me st.shared::cluster.b32 [%w0+4], 1;\n";
  const struct {
    std::string text;
    bool isRight;
  } placements[] = {
      {store, false},
      {"barrier.cluster.arrive.aligned; " + store + "barrier.cluster.wait.aligned;", false},
      {"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" + store, true},
      {"barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" + store, true},
      // The other block says so through global memory.
      {"setp.eq.and.u32 %q, %rank, 1, %first; @%q st.release.gpu.global.b32 [%out], 1; mov.b32 %w1, 1;\n"
       "AGAIN: @%me ld.acquire.gpu.global.b32 %w1, [%out]; setp.ne.u32 %p, %w1, 1; @%p bra AGAIN;\n" +
           store,
       true},
  };
  const std::string meeting = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
  for (const auto &placement : placements)
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      TestDevice device(hopper(seed));
      std::string text = twoBlocks("");
      text.insert(text.find(meeting), placement.text);
      ASSERT_TRUE(device.load(text)) << device.message << text;
      device.cluster = {2, 1, 1};
      EXPECT_EQ(device.launch("k", {2}, {32}, device.upload(std::vector<uint32_t>(4))), placement.isRight)
          << placement.text << device.report();
      EXPECT_EQ(device.found(FindingKind::ClusterMisuse), !placement.isRight) << placement.text << device.report();
      EXPECT_EQ(device.findings.size() == 0, placement.isRight) << placement.text << device.report();
    }
}

struct OwnAccess {
  const char *body;
  std::vector<uint32_t> expected;
  bool byAll = false;
};

const OwnAccess ownAccesses[] = {
    {"st.shared.b32 [word], 1; ld.shared.b32 %r0, [%own]; st.shared.b32 [%own+4], 2; ld.shared::cta.b32 %r1, [word+4];"
     "ld.shared.v2.b32 {%r2, %r3}, [%own];",
     {1, 2, 1, 2}},
    {"st.shared::cluster.b32 [%own], 3; ld.shared::cluster.b32 %r0, [word]; cvta.shared.u64 %g0, word; ld.b32 %r1, [%g0];"
     "st.b32 [%g0+4], 4; ld.shared.b32 %r2, [%own+4]; mov.u64 %g1, word; ld.shared.b32 %r3, [%g1];",
     {3, 3, 4, 3}},
    {"st.shared.b32 [word], 5; atom.shared.add.u32 %r0, [word], 1; atom.shared::cluster.cas.b32 %r1, [%own], 6, 9;"
     "red.shared.max.u32 [%own], 8; ld.volatile.shared.b32 %r2, [word]; cvta.shared.u64 %g0, word;"
     "atom.exch.b32 %r3, [%g0], 1;",
     {5, 6, 9, 9}},
    {"cvta.shared.u64 %g0, word; isspacep.shared::cta %p, %g0; selp.b32 %r0, 1, 0, %p;"
     "isspacep.shared::cluster %p, %g0; selp.b32 %r1, 1, 0, %p; getctarank.u64 %r2, %g0; sub.u32 %r2, %r2, %rank;"
     "getctarank.shared::cluster.u32 %r3, %own; sub.u32 %r3, %r3, %rank;",
     {1, 1, 0, 0}},
    {"mapa.shared::cluster.u32 %w0, %own, %rank; sub.u32 %r0, %w0, %own; cvta.shared.u64 %g0, word; mapa.u64 %g1, %g0, %rank;"
     "sub.u64 %g1, %g1, %g0; cvt.u32.u64 %r1, %g1; st.shared::cluster.b32 [%w0], 11; ld.shared.b32 %r2, [word];",
     {0, 0, 11, 0}},
    {"st.global.b32 [%out], 12; mov.u32 %w0, tile; cp.async.ca.shared.global [tile], [%out], 4;"
     "cp.async.ca.shared::cta.global [%w0+8], [%out], 4; cp.async.wait_all; ld.shared.b32 %r0, [%w0];"
     "ld.shared.b32 %r1, [tile+8];",
     {12, 12, 0, 0}},
    // Phases by an address from mov and by the name, and a count in the state.
    {"mov.u32 %w0, bar; mbarrier.init.shared.b64 [%w0], 2; mbarrier.arrive.shared.b64 %g0, [bar];"
     "mbarrier.pending_count.b64 %r0, %g0; mbarrier.test_wait.shared::cta.b64 %p, [bar], %g0; selp.b32 %r1, 1, 0, %p;"
     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%w0]; mbarrier.try_wait.shared.b64 %p, [%w0], %g0;"
     "selp.b32 %r2, 1, 0, %p; mbarrier.inval.shared.b64 [bar];",
     {2, 0, 1, 0}},
    // A bulk copy into the tile, one within shared memory, one back.
    {"st.global.v2.b32 [%out], {21, 22}; st.global.v2.b32 [%out+8], {23, 24}; mov.u32 %w0, tile; mov.u32 %w1, bar;"
     "mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;"
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%w1], 32;"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%w0], [%out], 16, [bar];"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+16], [%out], 16, [%w1];"
     "A: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra A; ld.shared.b32 %r0, [%w0+4];"
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;"
     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%w0+32], [%w0], 16, [bar];"
     "B: mbarrier.try_wait.parity.shared.b64 %p, [%w1], 1; @!%p bra B; ld.shared.b32 %r1, [tile+40];"
     "st.shared.b32 [%w0+48], 31; st.shared.b32 [%w0+52], 32; st.shared.b32 [%w0+56], 33; st.shared.b32 [%w0+60], 34;"
     "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%out], [%w0+48], 16; cp.async.bulk.commit_group;"
     "cp.async.bulk.wait_group 0; ld.global.b32 %r2, [%out+12]; fence.proxy.async;"
     "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%w0+48], 16; cp.async.bulk.commit_group;"
     "cp.async.bulk.wait_group 0; ld.global.b32 %r3, [%out];",
     {22, 23, 34, 62}},
    {"mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4; mov.u32 %w0, bar;"
     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%own], 41, [%w0];"
     "A: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra A; ld.shared.b32 %r0, [word];",
     {41, 0, 0, 0}},
    // Rows of 16 bytes for ldmatrix: row i is of halves i, lane 5 reads row 1.
    {"mov.u32 %w0, %laneid; mov.u32 %w1, tile; mad.lo.u32 %w1, %w0, 16, %w1; mad.lo.u32 %w2, %w0, 65536, %w0;"
     "st.shared.v4.b32 [%w1], {%w2, %w2, %w2, %w2}; bar.warp.sync -1;"
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%w3, %w4, %w5, %w6}, [%w1]; shfl.sync.idx.b32 %r0, %w3, 5, 31, -1;"
     "shfl.sync.idx.b32 %r1, %w6, 5, 31, -1; bar.warp.sync -1;"
     "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%w1], {%w5, %w4}; bar.warp.sync -1; ld.shared.b32 %r2, [tile+20];"
     "ld.shared.b32 %r3, [tile+148];",
     {0x10001, 0x190019, 0x110011, 0x90009},
     true},
};

/// The block of either rank, by addresses that it takes of its own variables.
TEST(Cluster, OwnAddressesServeEveryAccess) {
  for (const OwnAccess &access : ownAccesses)
    for (int rank : {0, 1})
      for (bool checks : {true, false}) {
        TestDevice device(hopper(1, checks));
        std::string text = twoBlocks(access.body, "barrier.cluster.arrive; barrier.cluster.wait;", rank, access.byAll);
        ASSERT_TRUE(device.load(text)) << device.message << text;
        device.cluster = {2, 1, 1};
        uint64_t out = device.allocate(16);
        EXPECT_TRUE(device.launch("k", {2}, {32}, out)) << access.body << rank << device.report();
        EXPECT_EQ(device.findings.size(), 0u) << access.body << rank << device.report();
        EXPECT_EQ(device.download<uint32_t>(out, 4), access.expected) << access.body << rank;
      }
}

/// Of what is wrong in the own memory findings tell the offset, whatever the rank.
TEST(Cluster, FindingsTellOffsetsInTheOwnBlock) {
  for (const char *body :
       {"ld.shared.b32 %r0, [%own+1];", "ld.shared.b32 %r0, [%own+2000];", "st.shared.b32 [%own-512], 1;",
        "atom.shared.add.u32 %r0, [%own+8192], 1;", "mbarrier.arrive.shared.b64 %g0, [bar];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%own], [%out], 12, [bar];"}) {
    std::string reports[2];
    for (int rank : {0, 1}) {
      TestDevice device(hopper(1));
      ASSERT_TRUE(device.load(twoBlocks(body, "", rank))) << device.message;
      device.cluster = {2, 1, 1};
      EXPECT_FALSE(device.launch("k", {2}, {32}, device.allocate(16))) << body;
      reports[rank] = device.report();
      size_t at = reports[rank].find("block (" + std::to_string(rank) + ",0,0)");
      ASSERT_NE(at, std::string::npos) << reports[rank];
      reports[rank][at + 7] = '0';
    }
    EXPECT_EQ(reports[0], reports[1]);
  }
}

TEST(Cluster, AddressesOfEveryKind) {
  struct {
    const char *body;
    std::vector<uint32_t> expected;
  } cases[] = {
      {"cvta.shared.u64 %g0, word; mapa.u64 %g1, %g0, 1; ld.b32 %r0, [%g1]; getctarank.u64 %r1, %g1;"
       "isspacep.shared::cluster %p, %g1; selp.b32 %r2, 1, 0, %p; isspacep.shared::cta %q, %g1; selp.b32 %r3, 1, 0, %q;",
       {107, 1, 1, 0}},
      {"mapa.shared::cluster.u32 %r4, %own, 0; ld.shared::cluster.b32 %r0, [%r4]; ld.shared::cluster.b32 %r1, [%own];"
       "cvt.u64.u32 %g2, %r4; cvta.shared::cluster.u64 %g0, %g2; isspacep.shared::cta %p, %g0; selp.b32 %r2, 1, 0, %p;"
       "getctarank.shared::cluster.u32 %r3, %own;",
       {7, 7, 1, 0}},
      {"mapa.shared::cluster.u32 %r4, word, 1; atom.relaxed.cluster.shared::cluster.add.u32 %r0, [%r4], 3;"
       "red.relaxed.cluster.shared::cluster.max.u32 [%r4], 500; ld.shared::cluster.b32 %r1, [%r4];"
       "st.shared::cluster.b32 [%r4+4], 9; ld.shared::cluster.b32 %r2, [%r4+4];",
       {107, 500, 9, 0}},
  };
  for (const auto &one : cases)
    for (bool checks : {true, false}) {
      TestDevice device(hopper(1, checks));
      ASSERT_TRUE(device.load(twoBlocks(one.body))) << device.message;
      device.cluster = {2, 1, 1};
      uint64_t out = device.allocate(16);
      ASSERT_TRUE(device.launch("k", {2}, {32}, out)) << one.body << device.report();
      EXPECT_EQ(device.download<uint32_t>(out, 4), one.expected) << one.body;
    }
}

TEST(Cluster, MisuseIsFound) {
  struct {
    std::string text;
    FindingKind expected;
  } cases[] = {
      {twoBlocks("mapa.shared::cluster.u32 %r4, word, 2;"), FindingKind::ClusterMisuse},
      {twoBlocks("mov.b32 %r4, 0x03000400; ld.shared::cluster.b32 %r0, [%r4];"), FindingKind::OutOfBounds},
      {twoBlocks("mapa.shared::cluster.u32 %r4, word, 1; ld.shared::cluster.b32 %r0, [%r4+2000];"), FindingKind::OutOfBounds},
      // .shared is the own block, whose addresses have its rank.
      {twoBlocks("mapa.shared::cluster.u32 %r4, word, 1; ld.shared.b32 %r0, [%r4];"), FindingKind::ClusterMisuse},
      {twoBlocks("and.b32 %r4, %own, 0xffffff; ld.shared.b32 %r0, [%r4];", "", 1), FindingKind::ClusterMisuse},
      // The other block may have ended.
      {twoBlocks("mapa.shared::cluster.u32 %r4, word, 1; ld.shared::cluster.b32 %r0, [%r4];", ""), FindingKind::ClusterMisuse},
      {twoBlocks("barrier.cluster.wait;"), FindingKind::BarrierMisuse},
      {twoBlocks("barrier.cluster.arrive; barrier.cluster.arrive;"), FindingKind::BarrierMisuse},
      {twoBlocks("barrier.cluster.arrive.aligned;"), FindingKind::BarrierDivergence},
      // One block waits for ever, the other has gone round twice.
      {twoBlocks("", "setp.eq.u32 %p, %rank, 0;\nLOOP: @%p bra LOOP2; bra OUT;\nLOOP2: bar.sync 1, 64;\nOUT:"),
       FindingKind::Deadlock},
      {twoBlocks("mbarrier.init.shared.b64 [word], 1; mapa.shared::cluster.u32 %r4, word, 1;"
                 "mbarrier.arrive.shared::cluster.b64 _, [%r4];"),
       FindingKind::MbarrierMisuse},
  };
  for (const auto &one : cases)
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      TestDevice device(hopper(seed));
      ASSERT_TRUE(device.load(one.text)) << device.message << one.text;
      device.cluster = {2, 1, 1};
      EXPECT_FALSE(device.launch("k", {2}, {32}, device.allocate(16))) << one.text;
      EXPECT_TRUE(device.found(one.expected)) << one.text << device.report();
    }
}

struct Bug {
  const char *name, *kernel, *from;
  int occurrence;
  const char *to;
  std::vector<FindingKind> expected;
};

constexpr FindingKind race = FindingKind::Race, misuse = FindingKind::ClusterMisuse, deadlock = FindingKind::Deadlock,
                      undefined = FindingKind::Undefined, barrier = FindingKind::BarrierMisuse,
                      mbarrier = FindingKind::MbarrierMisuse;

const Bug bugs[] = {
    {"NoMeetingBeforeReading", "ring", "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", 0, "", {misuse}},
    {"NoMeetingBeforeTheEnd", "ring", "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", 1, "", {misuse}},
    {"ArrivalRelaxed", "ring", "barrier.cluster.arrive.release.aligned", 0, "barrier.cluster.arrive.relaxed.aligned", {race}},
    {"WaitMissing", "ring", "barrier.cluster.wait.acquire.aligned;", 0, "", {race, misuse, barrier}},
    {"ArrivalMissing", "ring", "barrier.cluster.arrive.release.aligned;", 0, "", {barrier}},
    {"RankTooLarge", "ring", "rem.u32", 0, "add.u32", {misuse}},
    {"NotMapped", "ring", "ld.shared::cluster.u32", 0, "ld.shared::cta.u32", {misuse}},
    {"NobodyExpects", "multicast", "mbarrier.arrive.expect_tx.shared::cta.b64 _", 0, "// ", {deadlock}},
    {"RemoteSideExpectsTooMuch", "send", "768", 0, "772", {deadlock}},
    {"RemoteSideExpectsTooLittle", "send", "768", 0, "512", {race, undefined, mbarrier, misuse}},
    {"ConsumersDoNotSayThatTheyAreDone", "multicast", "mbarrier.arrive.release.cluster.shared::cluster.b64 _", 0, "// ", {deadlock}},
    {"ArrivalOfTheOwnBlockOnly", "multicast", "mbarrier.arrive.release.cluster.shared::cluster.b64 _", 0, "mbarrier.arrive.release.cta.shared::cluster.b64 _", {race, misuse}},
    {"ProducerDoesNotWait", "multicast", "@!done bra again;", 0, "", {race, mbarrier, undefined, deadlock}},
    {"ProducerParityFlipped", "multicast", "not.b32", 0, "mov.b32", {race, mbarrier, undefined, deadlock}},
    {"MaskHasABlockTooMany", "multicast", "not.b16", 0, "xor.b16 %rs2, %rs2, 16; not.b16", {misuse}},
    {"MaskLacksABlock", "multicast", "not.b16", 0, "xor.b16 %rs2, %rs2, 2; not.b16", {deadlock}},
    {"NoMeetingAfterInit", "multicast", "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", 0, "bar.sync 0;", {race, misuse, mbarrier, FindingKind::ProxyOrder}},
    {"MbarrierOfAnotherBlock", "send", "[%r37], [%r10], %r42, [%r19];", 0, "[%r37], [%r10], %r42, [_ZZ4sendE4full];", {mbarrier}},
};

class ClusterBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(ClusterBugs, AreFound) {
  const Bug &bug = GetParam();
  std::string text = readTestFile("programs/cluster.ptx");
  size_t at = text.find(std::string(".entry ") + bug.kernel) - 1;
  for (int i = 0; i <= bug.occurrence; ++i) {
    at = text.find(bug.from, at + 1);
    ASSERT_NE(at, std::string::npos);
  }
  text.replace(at, std::strlen(bug.from), bug.to);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    TestDevice device(hopper(seed));
    ASSERT_TRUE(device.load(text)) << device.message;
    EXPECT_FALSE(run(device, bug.kernel).completed) << "seed " << seed;
    bool asExpected = false;
    for (FindingKind kind : bug.expected)
      asExpected |= device.found(kind);
    EXPECT_TRUE(asExpected) << "seed " << seed << device.report();
  }
}

void PrintTo(const Bug &bug, std::ostream *stream) { *stream << bug.name; }

INSTANTIATE_TEST_SUITE_P(Planted, ClusterBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
