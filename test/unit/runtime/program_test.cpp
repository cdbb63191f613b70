// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole path on the cpu device: load an artifact, call its functions.

#include "test_program.h"

#include <cstring>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace tilewright::test;

namespace {

using ProgramTest = tilewright::test::ProgramTest;
using Values = std::vector<tilewright_value>;

TEST_F(ProgramTest, RunsAKernelPerBlock) {
  std::vector<float> a(20 * 7), b(7 * 3), expected(20 * 3);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = float(i % 5);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = float(i % 3) - 1;
  for (int m = 0; m < 20; ++m)
    for (int n = 0; n < 3; ++n)
      for (int k = 0; k < 7; ++k)
        expected[m * 3 + n] += a[m * 7 + k] * b[k * 3 + n];
  Values results;
  ASSERT_EQ(call("main",
                 {value(tensor(TW_F32, {20, 7}, a)),
                  value(tensor(TW_F32, {7, 3}, b))},
                 results),
            "");
  EXPECT_EQ(elements<float>(results[0].view), expected);
}

TEST_F(ProgramTest, UsesConstantsScalarsAndReadsBack) {
  std::vector<float> x(100, 2.0f);
  Values results;
  ASSERT_EQ(call("scale_and_sum",
                 {value(tensor(TW_F32, {100}, x)), scalar(3.0f)}, results),
            "");
  EXPECT_EQ(elements<float>(results[0].view), std::vector<float>(100, 6.5f));
  float sum;
  uint32_t bits = static_cast<uint32_t>(results[1].bits);
  std::memcpy(&sum, &bits, sizeof(sum));
  EXPECT_EQ(sum, 650.0f);
}

TEST_F(ProgramTest, WritesBuffersInPlace) {
  tilewright_view *data = tensor<int32_t>(TW_I32, {3}, {1, 2, 3});
  Values results;
  ASSERT_EQ(call("inplace", {value(data)}, results), "");
  EXPECT_EQ(elements<int32_t>(data), (std::vector<int32_t>{2, 3, 4}));
}

TEST_F(ProgramTest, LoopsOnTheHostWithTemporaries) {
  tilewright_view *data = tensor<int32_t>(TW_I32, {4}, {1, 2, 3, 4});
  Values results;
  ASSERT_EQ(call("loop", {value(data), scalar(uint64_t(1000))}, results), "");
  EXPECT_EQ(tilewright_view_rank(results[0].view), 2);
  EXPECT_EQ(elements<int32_t>(results[0].view),
            (std::vector<int32_t>{1001, 1002, 1003, 1004}));
  EXPECT_EQ(elements<int32_t>(data), (std::vector<int32_t>{1, 2, 3, 4}));
}

TEST_F(ProgramTest, EmptyTensorsLaunchNothing) {
  Values results;
  ASSERT_EQ(
      call("main",
           {value(newView(TW_F32, {0, 5})), value(newView(TW_F32, {5, 3}))},
           results),
      "");
  EXPECT_EQ(tilewright_view_size(results[0].view), 0u);
  // K = 0: the kernel runs and gives zeros.
  ASSERT_EQ(
      call("main",
           {value(newView(TW_F32, {2, 0})), value(newView(TW_F32, {0, 3}))},
           results),
      "");
  EXPECT_EQ(elements<float>(results[0].view), std::vector<float>(6, 0.0f));
}

TEST_F(ProgramTest, ErrorsOfTheProgramCarryItsMessage) {
  Values results;
  EXPECT_EQ(call("fail", {}, results),
            "9: function 'fail': linalg.matmul: K of the operands differs "
            "(3 vs 4)");
  EXPECT_EQ(
      call("main",
           {value(newView(TW_F32, {2, 4})), value(newView(TW_F32, {5, 3}))},
           results),
      "9: function 'main': dispatch 'matmul': linalg.matmul: K of the "
      "operands differs (4 vs 5)");
  EXPECT_PRED2(contains, call("stale", {}, results),
               "dispatch: the host program passed a tensor that it has released");
  // The program is as good as before.
  ASSERT_EQ(call("print", {scalar(uint64_t(0))}, results), "");
}

TEST_F(ProgramTest, PrintsWhereItIsTold) {
  std::string text;
  tilewright_program_set_print(
      program,
      [](void *user, const char *chars, size_t length) {
        static_cast<std::string *>(user)->append(chars, length);
      },
      &text);
  Values results;
  ASSERT_EQ(call("print", {scalar(uint64_t(3))}, results), "");
  EXPECT_EQ(text, "n = 3, 1.5\n");
  EXPECT_EQ(elements<int64_t>(results[0].view),
            (std::vector<int64_t>{0, 1, 2}));
}

TEST_F(ProgramTest, TracesLaunches) {
  std::string text;
  tilewright_program_set_trace(
      program,
      [](void *user, const char *chars, size_t length) {
        static_cast<std::string *>(user)->append(chars, length);
      },
      &text);
  Values results;
  ASSERT_EQ(call("scale_and_sum", {value(newView(TW_F32, {20})), scalar(1.0f)},
                 results),
            "");
  EXPECT_EQ(text, "scale variant scale grid 3x1x1");
}

TEST_F(ProgramTest, RefusesWrongArguments) {
  tilewright_view *a = newView(TW_F32, {2, 4}), *b = newView(TW_F32, {4, 3});
  Values results;
  EXPECT_EQ(call("main", {value(a)}, results),
            "1: function 'main': takes 2 inputs; got 1");
  EXPECT_EQ(call("main", {value(a), scalar(1.0f)}, results),
            "1: function 'main': input 1: expected a tensor ?x3xf32, got a "
            "scalar");
  EXPECT_EQ(call("main", {value(a), value(a)}, results),
            "1: function 'main': input 1: expected ?x3xf32, got 2x4xf32: dim 1 "
            "differs");
  EXPECT_EQ(call("main", {value(newView(TW_F64, {2, 4})), value(b)}, results),
            "1: function 'main': input 0: expected ?x?xf32, got 2x4xf64: the "
            "element type differs");
  EXPECT_EQ(call("main", {value(newView(TW_F32, {8})), value(b)}, results),
            "1: function 'main': input 0: expected ?x?xf32, got 8xf32: the "
            "rank differs");
  EXPECT_PRED2(contains, call("main", {value(nullptr), value(b)}, results),
               "args[0].view");
  EXPECT_PRED2(contains, call("nothing", {}, results),
               "no function 'nothing'; it has main, scale_and_sum");
  EXPECT_FAILS(
      tilewright_program_call(program, 99, stream, 0, nullptr, 0, nullptr),
      "function 99 of 10");
  tilewright_value one = scalar(uint64_t(1));
  EXPECT_FAILS(tilewright_program_call(program, 4, stream, 1, &one, 1, nullptr),
               "'results' is null");
  EXPECT_FAILS(
      tilewright_program_call(program, 4, stream, 1, nullptr, 0, nullptr),
      "'args' is null");
  EXPECT_FAILS(
      tilewright_program_call(nullptr, 0, stream, 0, nullptr, 0, nullptr),
      "'program' is null");
}

TEST_F(ProgramTest, RefusesTensorsOfAnotherDevice) {
  tilewright_device *other;
  ASSERT_OK(tilewright_device_open(instance, "cpu", &other));
  int64_t dims[] = {4};
  tilewright_view *view;
  ASSERT_OK(tilewright_view_allocate(other, TW_I32, 1, dims, &view));
  owned.push_back(view);
  Values results;
  EXPECT_PRED2(contains, call("inplace", {value(view)}, results),
               "input 0 belongs to cpu");
  tilewright_device_release(other);
}

TEST_F(ProgramTest, CallsWithoutAStreamWait) {
  std::vector<float> x(10, 1.0f);
  tilewright_value args[2] = {value(tensor(TW_F32, {10}, x)), scalar(2.0f)};
  ASSERT_OK(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
  tilewright_value results[2];
  ASSERT_OK(tilewright_program_call(program, 1, nullptr, 2, args, 2, results));
  owned.push_back(results[0].view);
  EXPECT_EQ(elements<float>(results[0].view), std::vector<float>(10, 2.5f));
}

TEST_F(ProgramTest, ChecksOfTheDeviceFailWhenTheStreamIsSynchronised) {
  // The kernel adds 1: the first check fails for -1 and 0, the second for 0 alone.
  auto synchronise = [&]() -> std::string {
    tilewright_status *status = tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER);
    std::string text = status ? tilewright_status_message(status) : "";
    tilewright_status_release(status);
    return text;
  };
  auto run = [&](int32_t number, uint64_t fails = 0) {
    Values results;
    return call("check_later",
                {value(tensor<int32_t>(TW_I32, {1}, {number})), scalar(fails)}, results);
  };
  EXPECT_EQ(run(1), "");
  EXPECT_EQ(synchronise(), "");
  EXPECT_EQ(run(0), "");
  EXPECT_EQ(synchronise(), "function 'check_later': index is too large");
  EXPECT_EQ(synchronise(), "");
  // The first one is heard of.
  EXPECT_EQ(run(5), "");
  EXPECT_EQ(run(-1), "");
  EXPECT_EQ(run(0), "");
  EXPECT_EQ(synchronise(), "function 'check_later': index is negative");
  EXPECT_EQ(synchronise(), "");
  // A call that fails by itself has one error.
  EXPECT_EQ(run(-1, 1), "9: function 'check_later': the host says no");
  EXPECT_EQ(synchronise(), "");
  // Very many are waited for in between, and not forgotten.
  EXPECT_EQ(run(-1), "");
  for (int i = 0; i < 3000; ++i)
    ASSERT_EQ(run(7), "");
  EXPECT_EQ(synchronise(), "function 'check_later': index is negative");
}

TEST_F(ProgramTest, ChecksOfTheDeviceFailOtherCallsThatWait) {
  size_t function = 0;
  ASSERT_OK(tilewright_program_function_find(program, "check_later", &function));
  tilewright_value args[2] = {value(tensor<int32_t>(TW_I32, {1}, {-1})), scalar(uint64_t(0))};
  ASSERT_OK(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
  tilewright_value results[1];
  tilewright_status *status =
      tilewright_program_call(program, function, nullptr, 2, args, 1, results);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(tilewright_status_code(status), TILEWRIGHT_PROGRAM_ERROR);
  EXPECT_EQ(std::string(tilewright_status_message(status)),
            "function 'check_later': index is negative");
  tilewright_status_release(status);
  // A later call that reads a tensor on the host.
  Values others;
  ASSERT_EQ(call("check_later", {args[0], args[1]}, others), "");
  std::vector<float> x(100, 2.0f);
  EXPECT_PRED2(contains,
               call("scale_and_sum", {value(tensor(TW_F32, {100}, x)), scalar(3.0f)}, others),
               "function 'check_later': index is negative");
  EXPECT_EQ(call("scale_and_sum", {value(tensor(TW_F32, {100}, x)), scalar(3.0f)}, others), "");
}

// Calls without a stream share one: what fails in a call is that call's error alone.
TEST_F(ProgramTest, ChecksOfTheDeviceFailInTheThreadThatCalled) {
  size_t function = 0;
  ASSERT_OK(tilewright_program_function_find(program, "check_later", &function));
  tilewright_view *good = tensor<int32_t>(TW_I32, {1}, {5});
  tilewright_view *bad = tensor<int32_t>(TW_I32, {1}, {-1});
  ASSERT_OK(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
  std::atomic<int> wrong{0};
  auto callOften = [&](tilewright_view *number, bool fails) {
    for (int i = 0; i < 2000; ++i) {
      tilewright_value args[2] = {value(number), scalar(uint64_t(0))}, results[1] = {};
      tilewright_status *status =
          tilewright_program_call(program, function, nullptr, 2, args, 1, results);
      wrong += (status != nullptr) != fails;
      tilewright_status_release(status);
      tilewright_view_release(results[0].view);
    }
  };
  std::thread other([&] { callOften(bad, true); });
  callOften(good, false);
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ProgramTest, EstimatesWork) {
  tilewright_value args[2] = {value(newView(TW_F32, {10, 7})),
                              value(newView(TW_F32, {7, 3}))};
  int64_t reductions[1];
  tilewright_work work;
  ASSERT_OK(
      tilewright_program_estimate(program, 0, 2, args, reductions, &work));
  EXPECT_EQ(work.flops, 2 * 10 * 7 * 3);
  EXPECT_EQ(work.bytes, -1);
  EXPECT_EQ(reductions[0], 7);
}

TEST_F(ProgramTest, PoisonShowsUnwrittenElements) {
  tilewright_device_set_poison(device, 1);
  Values results;
  // Zero blocks of the matmul run; nothing is written, nothing may look so.
  ASSERT_EQ(
      call("loop", {value(newView(TW_I32, {2})), scalar(uint64_t(0))}, results),
      "");
  ASSERT_EQ(call("print", {scalar(uint64_t(2))}, results), "");
  EXPECT_EQ(elements<int64_t>(results[0].view), (std::vector<int64_t>{0, 1}));
  tilewright_device_set_poison(device, 0);
}

// Many threads call, load and release at once.
TEST_F(ProgramTest, ServesManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      tilewright_program *mine = nullptr;
      tilewright_stream *queue = nullptr;
      if (tilewright_stream_create(device, &queue) ||
          tilewright_program_load(device, testArtifact().data(),
                                  testArtifact().size(), nullptr, &mine)) {
        ++wrong;
        return;
      }
      for (int i = 0; i < 20; ++i) {
        std::vector<int32_t> data(64 + t, i), back(data.size());
        int64_t dims[] = {int64_t(data.size())};
        tilewright_view *view = nullptr;
        tilewright_value args[2], results[1];
        size_t bytes = data.size() * 4;
        if (tilewright_view_allocate(device, TW_I32, 1, dims, &view) ||
            tilewright_view_write(view, queue, data.data(), bytes))
          ++wrong;
        args[0] = value(view), args[1] = scalar(uint64_t(3));
        // Odd threads share one program; even ones use their own.
        if (dims[0] % 2 == 0 &&
            tilewright_program_call(t % 2 ? program : mine, 5, queue, 2, args,
                                    1, results) == nullptr) {
          tilewright_view_release(view); // in flight
          if (tilewright_view_read(results[0].view, queue, bytes,
                                   back.data()) ||
              tilewright_stream_synchronize(queue, TILEWRIGHT_FOREVER) ||
              back != std::vector<int32_t>(data.size(), i + 3))
            ++wrong;
          tilewright_view_release(results[0].view);
        } else {
          tilewright_view_release(view);
        }
      }
      tilewright_program_release(mine);
      tilewright_stream_release(queue);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ProgramTest, SelectsByDriverTargetAndRequirements) {
  auto load = [&](std::string manifest, tilewright_program_options options) {
    Sections sections = testSections();
    sections[0].second = std::move(manifest);
    std::string artifact = writeArtifact(sections);
    tilewright_program *loaded = nullptr;
    std::string status = take(tilewright_program_load(
        device, artifact.data(), artifact.size(), &options, &loaded));
    tilewright_program_release(loaded);
    return status;
  };
  auto with = [](const std::string &from, const std::string &to) {
    std::string text = testManifest();
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(load(testManifest(), {"cpu"}), "");
  EXPECT_PRED2(contains, load(testManifest(), {"cuda:sm_80"}),
               "no program for cpu; 'cpu': target cuda:sm_80 was asked for");
  EXPECT_PRED2(contains, load(testManifest(), {nullptr, 1}),
               "additional target cpu-reference");
  EXPECT_PRED2(contains,
               load(with("\"driver\": \"cpu\"", "\"driver\": \"cuda\""), {}),
               "section");
  EXPECT_PRED2(
      contains,
      load(with("\"driver\": \"cpu\",",
                "\"driver\": \"cpu\", \"requires\": {\"feature:nope\": 1},"),
           {}),
      "the program requires the processor feature nope");
  EXPECT_PRED2(contains,
               load(with("\"name\": \"increment\",\n       \"operands\"",
                         "\"name\": \"x\", \"operands\""),
                    {}),
               "");
  EXPECT_PRED2(contains,
               load(with("{\"name\": \"increment\", \"grid\"",
                         "{\"name\": \"missing\", \"grid\""),
                    {}),
               "the host program exports no such kernel");
  EXPECT_PRED2(contains, load(with("\"stale\"", "\"other\""), {}),
               "function 7 is 'stale'; the manifest has 'other'");
}

TEST_F(ProgramTest, RefusesHostProgramsThatAreNone) {
  auto load = [&](std::string host) {
    Sections sections = testSections();
    sections[1].second = std::move(host);
    std::string artifact = writeArtifact(sections);
    tilewright_program *loaded = nullptr;
    std::string status = take(tilewright_program_load(
        device, artifact.data(), artifact.size(), nullptr, &loaded));
    tilewright_program_release(loaded);
    return status;
  };
  std::string host = hostProgram();
  EXPECT_PRED2(contains, load("nonsense"), "too short");
  EXPECT_PRED2(contains, load(std::string(200, 'x')), "does not start with");
  std::string machine = host;
  machine[18] = 40;
  EXPECT_PRED2(contains, load(machine), "ELF machine 40");
  std::string kind = host;
  kind[16] = 2;
  EXPECT_PRED2(contains, load(kind), "expected a shared object");
  for (size_t size = 64; size < host.size(); size += 397)
    EXPECT_NE(load(host.substr(0, size)), "") << size;
}

TEST_F(ProgramTest, RefusesHostProgramsOfAFutureInterface) {
  // The head of TilewrightProgramExports: version, functions, kernels, 0.
  const uint32_t now[] = {TW_PROGRAM_ABI_VERSION, 10, 5, 0};
  const uint32_t later = TW_PROGRAM_ABI_VERSION + 1;
  std::string host = hostProgram();
  size_t at = host.find(
      std::string(reinterpret_cast<const char *>(now), sizeof(now)));
  ASSERT_NE(at, std::string::npos);
  std::memcpy(&host[at], &later, sizeof(later));
  Sections sections = testSections();
  for (auto &[name, bytes] : sections)
    if (bytes == hostProgram())
      bytes = host;
  std::string artifact = writeArtifact(sections);
  tilewright_program *loaded = nullptr;
  EXPECT_FAILS(tilewright_program_load(device, artifact.data(), artifact.size(),
                                       nullptr, &loaded),
               "it has interface version " + std::to_string(later) +
                   "; this runtime knows versions up to " +
                   std::to_string(now[0]));
}

// The same host program over device code: driver cuda on the PTX simulator.
TEST_F(ProgramTest, RunsPtxOnTheSimulator) {
  tilewright_device *simulator = nullptr;
  std::string missing =
      take(tilewright_device_open(instance, "ptxsim", &simulator));
  if (!missing.empty())
    GTEST_SKIP() << missing;
  Sections sections = testSections();
  sections.push_back({"cuda_sm_80/increment.ptx", R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry increment(.param .u64 data, .param .u32 step)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r3, [step];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd3], %r2;
  ret;
})"});
  std::string &text = sections[0].second;
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("\"target\": \"cpu\", \"driver\": \"cpu\"",
          "\"target\": \"cuda:sm_80\", \"driver\": \"cuda\", "
          "\"requires\": {\"sm\": 80}");
  // Only the increment is launched; the others just need a module to name.
  for (const char *name : {"matmul", "scale", "increment", "spin", "crawl", "never"})
    replace(std::string("\"name\": \"") + name + "\", \"gri",
            std::string("\"name\": \"") + name +
                "\", \"section\": \"cuda_sm_80/increment.ptx\", \"gri");
  for (const char *name : {"matmul", "scale", "never"})
    replace(std::string("\"name\": \"") + name + "\", \"gua",
            std::string("\"name\": \"increment\", \"section\": "
                        "\"cuda_sm_80/increment.ptx\", \"gua"));
  replace("\"name\": \"matmul\",\n         \"guard\"",
          "\"name\": \"increment\", \"section\": "
          "\"cuda_sm_80/increment.ptx\", \"guard\"");
  for (const char *name : {"spin", "crawl"})
    replace(std::string("\"name\": \"") + name + "\", \"section\"",
            "\"name\": \"increment\", \"section\"");
  replace(
      "\"params\": [{\"buffer\": 0}]}",
      "\"params\": [{\"buffer\": 0}, {\"scalar\": \"i32\", \"value\": 5}]}");
  std::string artifact = writeArtifact(sections);
  tilewright_program *loaded = nullptr;
  ASSERT_OK(tilewright_program_load(simulator, artifact.data(), artifact.size(),
                                    nullptr, &loaded));
  EXPECT_FAILS(tilewright_program_load(device, artifact.data(), artifact.size(),
                                       nullptr, &loaded),
               "no program for cpu; 'cuda:sm_80': it is for driver cuda");
  tilewright_stream *queue;
  ASSERT_OK(tilewright_stream_create(simulator, &queue));
  int64_t dims[] = {4};
  tilewright_view *view;
  ASSERT_OK(tilewright_view_allocate(simulator, TW_I32, 1, dims, &view));
  std::vector<int32_t> data = {1, 2, 3, 4}, back(4);
  ASSERT_OK(tilewright_view_write(view, queue, data.data(), 16));
  // "loop" clones, launches, copies and reshapes; twice in this case.
  tilewright_value args[2] = {value(view), scalar(uint64_t(2))}, results[1];
  ASSERT_OK(tilewright_program_call(loaded, 5, queue, 2, args, 1, results));
  ASSERT_OK(tilewright_view_read(results[0].view, queue, 16, back.data()));
  ASSERT_OK(tilewright_stream_synchronize(queue, TILEWRIGHT_FOREVER));
  EXPECT_EQ(back, (std::vector<int32_t>{11, 12, 13, 14}));
  // Mapping goes through staging memory here.
  tilewright_value n = scalar(uint64_t(3)), printed[1];
  ASSERT_OK(tilewright_program_call(loaded, 4, queue, 1, &n, 1, printed));
  std::vector<int64_t> numbers(3);
  ASSERT_OK(tilewright_view_read(printed[0].view, queue, 24, numbers.data()));
  ASSERT_OK(tilewright_stream_synchronize(queue, TILEWRIGHT_FOREVER));
  EXPECT_EQ(numbers, (std::vector<int64_t>{0, 1, 2}));
  tilewright_view_release(printed[0].view);
  tilewright_view_release(results[0].view);
  tilewright_view_release(view);
  tilewright_program_release(loaded);
  tilewright_stream_release(queue);
  tilewright_device_release(simulator);
}

// Ten failures leak no file, and the next load works.
TEST_F(ProgramTest, LeavesNoFilesOpen) {
  auto lowest = [] {
    int file = open("/dev/null", O_RDONLY);
    close(file);
    return file;
  };
  int before = lowest();
  for (int i = 0; i < 10; ++i) {
    tilewright_program *loaded;
    ASSERT_OK(tilewright_program_load(device, testArtifact().data(),
                                      testArtifact().size(), nullptr, &loaded));
    tilewright_program_release(loaded);
  }
  EXPECT_EQ(lowest(), before);
}

} // namespace
