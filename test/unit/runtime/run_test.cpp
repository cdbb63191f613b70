// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-run as a user meets it: command lines, their output and exit code.

#include "device_program.h"
#include "files.h"
#include "npy.h"
#include "test_program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tilewright::test;
using namespace tilewright::run;

namespace {

class RunTest : public ::testing::Test {
protected:
  void SetUp() override {
    char path[] = "/tmp/tilewright-run-test-XXXXXX";
    ASSERT_NE(mkdtemp(path), nullptr);
    folder = path;
    Sections sections = testSections();
    // The same program again, as the reference.
    std::string &text = sections[0].second;
    size_t begin = text.find('{', 1), end = text.rfind(']');
    std::string again = text.substr(begin, end - begin);
    again.replace(again.find("\"target\": \"cpu\""), 15,
                  "\"target\": \"cpu-reference\", \"reference\": true");
    text.insert(end, ", " + again);
    writeFile(folder + "/p.tw", writeArtifact(sections));
    writeFile(folder + "/plain.tw", testArtifact());
  }
  void TearDown() override {
    std::string command = "rm -rf '" + folder + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  /// Output of both streams; `$D` in the arguments is the folder.
  std::string run(std::string arguments, int expectedCode = 0) {
    for (size_t at; (at = arguments.find("$D")) != std::string::npos;)
      arguments.replace(at, 2, folder);
    std::string command = program + " " + arguments + " 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    std::string text;
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
      text.append(buffer, n);
    int status = pclose(pipe);
    EXPECT_TRUE(WIFEXITED(status)) << arguments << "\n" << text;
    EXPECT_EQ(WEXITSTATUS(status), expectedCode) << arguments << "\n" << text;
    return text;
  }
  std::string folder;
  std::string program = TEST_TILEWRIGHT_RUN;
};

TEST_F(RunTest, PrintsWritesAndExpects) {
  std::string matmul = "$D/p.tw --device=cpu --input='2x2xf32=1 2 3 4' "
                       "--input='2x3xf32=[1 0 0][0 1 1]' ";
  EXPECT_EQ(run(matmul + "--print --output=@$D/out.npy"),
            "result[0]: 2x3xf32=[1 2 2][3 4 4]\n");
  EXPECT_EQ(parseNpy("out", readFile(folder + "/out.npy", kArray), TW_F32).number(5),
            4.0);
  EXPECT_EQ(run(matmul + "--expect=@$D/out.npy"),
            "result[0]: ok: 2x3xf32, all elements equal\n");
  std::string bad = run("$D/p.tw --device=cpu --input='2x2xf32=1 2 3 5' "
                        "--input='2x3xf32=[1 0 0][0 1 1]' "
                        "--expect=@$D/out.npy --atol=0.5",
                        2);
  EXPECT_PRED2(contains, bad,
               "result[0]: MISMATCH: 2 of 6 elements of 2x3xf32, largest error "
               "1, relative 0.25, 2.1e+06 ulp; allowed 0.5 (given)");
  EXPECT_PRED2(contains, bad,
               "> [1, 1] got 5, expected 4, error 1, allowed 0.5  BAD");
}

TEST_F(RunTest, ChecksAgainstOracleAndDevice) {
  std::string matmul = "--device=cpu --input=20x7xf32=random "
                       "--input=7x3xf32=random ";
  EXPECT_PRED2(contains, run("$D/p.tw --check=oracle " + matmul), "ok: 20x3");
  EXPECT_PRED2(contains, run("$D/p.tw --check=cpu " + matmul), "ok: 20x3");
  // Files and devices are held to the oracle's bounds of each element, and where there are none it says so.
  run("$D/p.tw --output=@$D/right.npy " + matmul);
  HostTensor off = parseNpy("right", readFile(folder + "/right.npy", kArray), TW_F32);
  off.setBits(0, off.bits(0) ^ 0x1000);
  writeFile(folder + "/off.npy", formatNpy(off));
  EXPECT_PRED2(contains, run("$D/plain.tw --expect=@$D/right.npy " + matmul), "all elements equal");
  EXPECT_PRED2(contains, run("$D/plain.tw --expect=@$D/off.npy " + matmul, 1),
               "the results differ, and the error bounds of a reference program would say whether they may");
  EXPECT_PRED2(contains, run("$D/plain.tw --expect=@$D/off.npy --atol=0.01 " + matmul), "ok: 20x3");
  EXPECT_PRED2(contains, run("$D/plain.tw --check=oracle " + matmul, 1),
               "compile with the additional target cpu-reference");
}

TEST_F(RunTest, ScalarsBuffersAndFunctions) {
  EXPECT_EQ(run("$D/p.tw --device=cpu --function=scale_and_sum "
                "--input=4xf32=2 --input=f32=3 --print"),
            "result[0]: 4xf32=6.5 6.5 6.5 6.5\nresult[1]: f32=26\n");
  EXPECT_EQ(run("$D/p.tw --device=cpu --function=inplace "
                "--input='3xi32=1 2 3' --print --trace"),
            "increment variant increment grid 3x1x1\n"
            "input[0]: 3xi32=2 3 4\n");
  EXPECT_PRED2(contains, run("$D/p.tw --device=cpu --function=fail", 1),
               "error: function 'fail': linalg.matmul: K of the operands "
               "differs (3 vs 4)");
}

TEST_F(RunTest, SaysWhatKernelsTake) {
  writeFile(folder + "/cuda.tw", deviceArtifact("cuda"));
  std::string text = run("$D/cuda.tw --device=ptxsim --resources");
  EXPECT_PRED2(contains, text, "kernel     shared_bytes  dynamic_shared_bytes  "
                               "max_threads\n");
  EXPECT_PRED2(contains, text, "increment             0                     0  ");
  text = run("$D/cuda.tw --device=ptxsim --resources --json=$D/r.json");
  auto json = nlohmann::json::parse(readFile(folder + "/r.json", kProgramText));
  EXPECT_EQ(json["verdict"], "unchecked");
  ASSERT_EQ(json["resources"].size(), 5u);
  EXPECT_EQ(json["resources"][2]["kernel"], "increment");
  EXPECT_EQ(json["resources"][2]["variant"], "increment");
  EXPECT_EQ(json["resources"][2]["shared_bytes"], 0);
  EXPECT_FALSE(json["resources"][2].contains("registers"));
  EXPECT_PRED2(contains, run("$D/p.tw --device=cpu --resources", 1),
               "this device does not say what its kernels take");
  EXPECT_PRED2(contains, run("$D/cuda.tw --device=ptxsim --resources --bench", 1),
               "--resources: runs nothing");
  EXPECT_PRED2(contains,
               run(std::string(TEST_PTX) + " --device=ptxsim --resources", 1),
               "--resources is not for kernels in .ptx");
}

TEST_F(RunTest, KernelsOfPtxFiles) {
  if (run("--list-devices").find("PTX simulator") != std::string::npos)
    GTEST_SKIP() << "no simulator beside tilewright-run";
  std::string ptx = TEST_PTX, kernel = ptx + " --device=ptxsim --grid=2 "
                                             "--block=8 --entry=saxpy "
                                             "--arg=10xf32=1 --arg=10xf32=2 "
                                             "--arg=f32=3 ";
  EXPECT_EQ(run(kernel + "--arg=i32=10 --print --output=@$D/out.npy"),
            "argument[0]: 10xf32=7 7 7 7 7 7 7 7 7 7\n"
            "argument[1]: 10xf32=2 2 2 2 2 2 2 2 2 2\n");
  EXPECT_PRED2(contains, run(kernel + "--arg=i32=10 --expect=@$D/out.npy"),
               "argument[0]: ok: 10xf32");
  EXPECT_PRED2(contains, run(kernel + "--arg=i32=11", 1),
               "at offset 40 of an allocation of 256 bytes, near the buffer of "
               "40 bytes");
  EXPECT_PRED2(contains, run(ptx + " --device=ptxsim", 1),
               "choose one with --entry: saxpy, reduceSum");
  std::string saxpy = " --entry=saxpy --arg=1xf32 --arg=1xf32 --arg=f32=1 "
                      "--arg=i32=1";
  EXPECT_PRED2(contains, run(ptx + " --device=cpu" + saxpy, 1),
               "does not run PTX");
  EXPECT_PRED2(contains, run(ptx + " --device=ptxsim --block=8,0" + saxpy, 1),
               "--block=8,0: expected");
}

TEST_F(RunTest, StructuresByValue) {
  if (run("--list-devices").find("PTX simulator") != std::string::npos)
    GTEST_SKIP() << "no simulator beside tilewright-run";
  // out[0] = s.scale * s.values[0] + s.count, s = {u8, f32, f32 *, i32}.
  writeFile(folder + "/k.ptx", R"(// .entry not(this)
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(
  .param .align 8 .b8 s[24], /* .entry, */
  .param .u64 .ptr .global .align 4 out
) {
  .reg .b32 %r; .reg .b64 %d<3>; .reg .f32 %f<4>;
  ld.param.f32 %f1, [s+4];
  ld.param.u64 %d1, [s+8];
  ld.param.u32 %r, [s+16];
  ld.param.u64 %d2, [out];
  ld.global.f32 %f2, [%d1];
  cvt.rn.f32.s32 %f3, %r;
  fma.rn.f32 %f2, %f1, %f2, %f3;
  st.global.f32 [%d2], %f2;
  ret;
})");
  std::string kernel = "$D/k.ptx --device=ptxsim ", out = " --arg=1xf32=undefined";
  EXPECT_EQ(run(kernel + "'--arg=struct:{i8:1,f32:1.5,[2xf32=4],i32:3}' --print" +
                out),
            "argument[0]: 2xf32=4 4\nargument[1]: 1xf32=9\n");
  EXPECT_PRED2(contains, run(kernel + "--arg=struct:{f32:1.5,i32:3}" + out, 1),
               "argument 0 (struct) has 8 bytes; parameter s of kernel k has 24 "
               "(.b8[])");
  EXPECT_PRED2(contains, run(kernel + "--arg=bytes:0011" + out, 1),
               "(bytes) has 2 bytes");
  EXPECT_PRED2(contains, run(kernel + "--arg=bytes:001" + out, 1),
               "pairs of hexadecimal digits");
  EXPECT_PRED2(contains, run(kernel + "'--arg=struct:{f32}'" + out, 1),
               "neither TYPE:VALUE nor [BUFFER]");
  EXPECT_PRED2(contains, run(kernel + "'--arg=struct:{[1xf32}'" + out, 1),
               "brackets do not match");
  EXPECT_PRED2(contains, run(kernel + "'--arg=struct:{f32:x}'" + out, 1),
               "argument 0 (f32): 'x' is no number");
}

/// The kernel of tensor.ptx with the addresses of its two maps for parameters.
static std::string mapsByAddress(std::string ptx) {
  auto replace = [&](const std::string &from, const std::string &to) {
    size_t at = ptx.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    ptx.replace(at, from.size(), to);
  };
  for (std::string n : {"0", "1"}) {
    replace(".param .align 128 .b8 moveTiles_param_" + n + "[128]",
            ".param .u64 moveTiles_param_" + n);
    std::string name = n == "0" ? "%rd1" : "%rd2";
    replace("mov.b64 \t" + name + ", moveTiles_param_" + n,
            "ld.param.u64 \t" + name + ", [moveTiles_param_" + n + "]");
    replace("cvta.param.u64", "mov.b64");
  }
  return ptx;
}

TEST_F(RunTest, KernelsTakeTensorMaps) {
  std::string ptx = TEST_PTX;
  std::string command =
      ptx.substr(0, ptx.rfind('/')) +
      "/tensor.ptx --device=ptxsim --block=256 --arg=256xf32=undefined "
      "--arg=i32=0 --arg=i32=0 ";
  auto withMaps = [&](const std::string &maps) {
    std::string text = command;
    text.insert(text.find("--arg"), maps + " ");
    return text;
  };
  setenv("PTXSIM_ARCH", "sm_90", 1);
  std::string from = "--arg=tensormap:box=8x32:swizzle=128:8x32xf32=3";
  EXPECT_PRED2(contains,
               run(withMaps(from + " --arg=tensormap:box=8x32:swizzle=128:"
                                   "8x32xf32") +
                   "--print"),
               "argument[1]: 8x32xf32=[3 3 3");
  EXPECT_PRED2(contains, run(withMaps(from + " --arg=tensormap:8x32xf32"), 1),
               "argument 1: the box of the tensor map has 0 dims, the buffer 2");
  EXPECT_PRED2(contains,
               run(withMaps(from + " --arg=tensormap:box=8x:8x32xf32"), 1),
               "expected box=NxN");
  EXPECT_PRED2(contains,
               run(withMaps(from + " --arg=tensormap:box=8x32"), 1),
               "needs a buffer");
  EXPECT_PRED2(contains,
               run(withMaps(from + " --arg=tensormap:box=8x32:8x33xf32"), 1),
               "cuTensorMapEncodeTiled failed");
  EXPECT_PRED2(contains, run(withMaps(from + " --arg=tensormap:box=8x32:lower=-1:8x32xf32"), 1),
               "argument 1: images have a dim of their number, dims of space, and channels; the buffer has 2 dims");
  EXPECT_PRED2(contains, run(withMaps(from + " --arg=tensormap:box=8x32:lower=-1x0:upper=-1:2x8x8x32xf32"), 1),
               "argument 1: upper= of the tensor map has 1 numbers, the images 2 dims of space");
  EXPECT_PRED2(contains, run(withMaps(from + " --arg=tensormap:box=8x4x32:lower=0:upper=0:2x8x32xf32"), 1),
               "argument 1: the box of images is pixels x channels, not 3 numbers");
  EXPECT_PRED2(contains, run(withMaps(from + " --arg=tensormap:box=8x32:lower=0:upper=0:steps=-1:2x8x32xf32"), 1),
               "expected steps=NxN, found 'steps=-1'");
  EXPECT_PRED2(contains, run(withMaps(from + " --arg=tensormap:box=8x32:lower=0:upper=0:steps=9:2x8x32xf32"), 1),
               "cuTensorMapEncodeIm2col failed");
  // A parameter that is the address of a map in memory, of the same copies.
  std::string folderOfPtx = ptx.substr(0, ptx.rfind('/'));
  writeFile(folder + "/tensor.ptx",
            mapsByAddress(readFile(folderOfPtx + "/tensor.ptx", kProgramText)));
  command.replace(0, folderOfPtx.size(), folder);
  std::string byAddress = "--arg=tensormap:box=8x32:swizzle=128:by=address:8x32xf32";
  EXPECT_PRED2(contains,
               run(withMaps(byAddress + "=3 " + byAddress) + "--print"),
               "argument[1]: 8x32xf32=[3 3 3");
  EXPECT_PRED2(contains, run(withMaps(from + " " + byAddress), 1),
               "argument 0 (tensormap) has 128 bytes; parameter "
               "moveTiles_param_0 of kernel moveTiles has 8");
  unsetenv("PTXSIM_ARCH");
}

TEST_F(RunTest, KernelsRefuseMisuse) {
  std::string ptx = TEST_PTX, kernel = ptx + " --device=ptxsim --entry=saxpy ",
              buffers = "--arg=1xf32 --arg=1xf32 ";
  EXPECT_PRED2(contains, run(kernel + buffers, 1),
               "kernel saxpy has 4 parameters, --arg gives 2");
  EXPECT_PRED2(contains, run(kernel + buffers + "--arg=f64=1 --arg=i32=1", 1),
               "argument 2 (f64) has 8 bytes");
  EXPECT_PRED2(contains, run(kernel + buffers + "--arg=f32=1 --arg=i32=undefined", 1),
               "a scalar cannot be undefined");
  EXPECT_PRED2(contains, run(kernel + buffers + "--arg=f32=1 --arg=x7", 1),
               "argument 3: 'x7' is no type");
  EXPECT_PRED2(contains, run(kernel + "--arg=@$D/nothing.npy", 1),
               "nothing.npy");
  EXPECT_PRED2(contains, run(kernel + "--arg=0xf32", 1),
               "a buffer of no elements");
  EXPECT_PRED2(contains, run(ptx + " --device=ptxsim --entry=nope", 1),
               "has no kernel 'nope'; it has saxpy, ");
  EXPECT_PRED2(contains, run(kernel + "--input=1xf32", 1),
               "--input is not for kernels in .ptx");
  EXPECT_PRED2(contains, run(kernel + "--bench", 1),
               "--bench is not for kernels in .ptx");
  EXPECT_PRED2(contains, run("$D/p.tw --arg=1xf32", 1),
               "--arg is only for kernels in .ptx");
  EXPECT_PRED2(contains, run("$D/p.tw --grid=2 --shared=4", 1),
               "--grid is only for kernels in .ptx");
  EXPECT_PRED2(contains, run("$D/p.tw --compile-arg=-g", 1),
               "--compile-arg is only for programs in .mlir");
  for (const char *option : {"--oracle=x.tw", "--parameters=x", "--verify-parameters"})
    EXPECT_PRED2(contains, run(kernel + option, 1), "is not for kernels in .ptx");
  writeFile(folder + "/empty.ptx", ".version 8.0\n");
  EXPECT_PRED2(contains, run("$D/empty.ptx --device=ptxsim", 1), "has 0 kernels");
}

TEST_F(RunTest, AnEndlessKernelIsGivenUp) {
  writeFile(folder + "/endless.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n"
                                     ".visible .entry k() { L: bra L; }\n");
  EXPECT_PRED2(contains, run("$D/endless.ptx --device=ptxsim --timeout=1", 1), 
               "did not finish within its deadline of 1000 ms");
}

TEST_F(RunTest, NumbersAreNumbersAndErrorsSayWhatIsExpected) {
  std::string matmul = "$D/p.tw --device=cpu --input=2x2xf32=1 --input=2x3xf32=1 ";
  for (const char *text : {"nan", "-1", "abc", "1x"}) {
    EXPECT_PRED2(contains, run(matmul + "--atol=" + text, 1), "expected a number, 0 or more");
    EXPECT_PRED2(contains, run(matmul + "--timeout=" + text, 1),
                 "expected a number of seconds above 0");
  }
  EXPECT_PRED2(contains, run(matmul + "--bench --bench-seconds=nan", 1),
               "expected a number of seconds, 0 or more");
  EXPECT_PRED2(contains, run("$D/p.tw --device=cpu --input=@", 1), "its name is empty");
  EXPECT_PRED2(contains, run("$D/p.tw --device=cpu:3", 1), "device cpu:3: there is only cpu");
  // What is not good about an artifact comes with its path.
  writeFile(folder + "/bad.tw", "TILEWRT\x01, and no more");
  EXPECT_PRED2(contains, run("$D/bad.tw --device=cpu", 1), folder + "/bad.tw: ");
  // A list is all that --list-devices gives.
  EXPECT_PRED2(contains, run("$D/p.tw --list-devices"), "ptxsim:0");
}

TEST_F(RunTest, BenchAndJson) {
  std::string line = run("$D/p.tw --device=cpu --input=64x64xf32=random "
                         "--input=64x3xf32=random --check=oracle --bench=5 "
                         "--json");
  // The lines for people go to stderr then.
  auto json = nlohmann::json::parse(line.substr(line.find('{')));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["verdict"], "ok");
  EXPECT_EQ(json["check"], "oracle");
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["count"], 5);
  EXPECT_GT(json["median_s"].get<double>(), 0);
  EXPECT_GT(json["flops_per_s"].get<double>(), 0);
  EXPECT_EQ(json["cache_flush_bytes"], 0);
  EXPECT_GE(json["warm_up"].get<int>(), 3);
  ASSERT_EQ(json["kernels"].size(), 1u);
  EXPECT_EQ(json["kernels"][0]["kernel"], "matmul");
  EXPECT_EQ(json["kernels"][0]["launches_per_call"], 1.0);
  EXPECT_GT(json["kernels"][0]["median_s"].get<double>(), 0);
  std::string text =
      run("$D/p.tw --device=cpu --input=64x64xf32=random "
          "--input=64x3xf32=random --bench=2 "
          "--bench-flush-cache --json=$D/flushed --trace=$D/trace.json");
  EXPECT_PRED2(contains, text, "  matmul: median ");
  EXPECT_PRED2(contains, text, " 1 launches, 100 % of the kernels' time");
  auto flushed = nlohmann::json::parse(readFile(folder + "/flushed", kProgramText));
  EXPECT_GT(flushed["cache_flush_bytes"].get<int64_t>(), 0);
  EXPECT_EQ(flushed["count"], 2);
  run("$D/p.tw --device=cpu --input=64x64xf32=random "
      "--input=64x3xf32=random --bench=1 --bench-seconds=0.002 --json=$D/long");
  auto longer = nlohmann::json::parse(readFile(folder + "/long", kProgramText));
  EXPECT_GE(longer["measured_s"].get<double>(), 0.002);
  // One call is enough only if it takes as long by itself, on a busy machine.
  EXPECT_TRUE(longer["count"].get<int>() > 1 ||
              longer["median_s"].get<double>() >= 0.002);
  EXPECT_PRED2(contains, run("$D/p.tw --bench-flush-cache", 1), "go with --bench");
  EXPECT_EQ(json["config"]["launches"][0], "matmul variant matmul grid 3x64x1");
  EXPECT_EQ(json["outputs"][0]["tolerance"], "exact");
  for (int i = 0; i < 2; ++i)
    run("$D/p.tw --device=cpu --function=fail --json=$D/log", 1);
  std::string log = readFile(folder + "/log", kProgramText);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2);
  EXPECT_EQ(nlohmann::json::parse(log.substr(0, log.find('\n')))["verdict"],
            "error");
}

// A stand-in for the compiler: copies an artifact, and counts its calls.
TEST_F(RunTest, CompilesOnceAndCaches) {
  std::string install = "mkdir -p " + folder + "/bin && cp " +
                        TEST_TILEWRIGHT_RUN + " " + folder + "/bin/";
  ASSERT_EQ(std::system(install.c_str()), 0);
  auto compiler = [&](const std::string &last) {
    std::string path = folder + "/bin/tilewright-compile";
    writeFile(path,
              "#!/bin/sh\necho \"$@\" >> " + folder + "/calls\n" + last + "\n");
    EXPECT_EQ(std::system(("chmod +x " + path).c_str()), 0);
  };
  writeFile(folder + "/in.mlir", "module {}");
  program =
      "XDG_CACHE_HOME=" + folder + "/cache " + folder + "/bin/tilewright-run";
  std::string arguments = "$D/in.mlir --device=cpu --function=inplace "
                          "--input='2xi32=1 2' --print --check=oracle "
                          "--compile-arg=--fp=ftz";
  EXPECT_PRED2(contains, run(arguments, 1), "there is none at " + folder);
  compiler("echo in.mlir:1:1: error: no function >&2; exit 1");
  EXPECT_PRED2(contains, run(arguments, 1), "error: no function");
  EXPECT_PRED2(contains, run(arguments, 1), "failed with exit code 1");
  compiler("cat " + folder + "/p.tw >\"$3\"; echo said"); // a file without a name
  writeFile(folder + "/calls", "");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(arguments), std::string(i ? "" : "said\n") +
                                  "input[0]: 2xi32=2 3\ninput[0]: ok: 2xi32, all elements equal\n");
  std::string calls = readFile(folder + "/calls", kProgramText);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 1);
  EXPECT_PRED2(contains, calls, "--target=cpu,cpu-reference --fp=ftz");
  writeFile(folder + "/in.mlir", "module { }");
  run(arguments);
  calls = readFile(folder + "/calls", kProgramText);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 2);
  // An argument may name a file, whose text is not looked at: nothing is kept.
  writeFile(folder + "/calls", "");
  for (int i = 0; i < 2; ++i)
    run(arguments + " --compile-arg=--config=$D/configs.json");
  calls = readFile(folder + "/calls", kProgramText);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 2);
  EXPECT_PRED2(contains, calls, "--config=" + folder + "/configs.json");
  // What cannot be kept runs all the same.
  writeFile(folder + "/in.mlir", "module {  }");
  program = "TMPDIR=" + folder + "/no XDG_CACHE_HOME=/proc " + folder + "/bin/tilewright-run";
  ASSERT_EQ(mkdir((folder + "/no").c_str(), 0777), 0);
  writeFile(folder + "/no/tilewright-" + std::to_string(getuid()), "a file is in the way");
  std::string text = run(arguments);
  EXPECT_PRED2(contains, text, "note: the compiled program is not kept: ");
  EXPECT_PRED2(contains, text, "input[0]: ok: 2xi32");
  // In a folder of everybody's it is kept where nobody else can write.
  std::string open = folder + "/open", own = open + "/tilewright-" + std::to_string(getuid());
  program = "umask 0; TMPDIR=" + open + " XDG_CACHE_HOME=/proc " + folder + "/bin/tilewright-run";
  ASSERT_EQ(mkdir(open.c_str(), 0777), 0);
  EXPECT_EQ(run(arguments).find("not kept"), std::string::npos);
  struct stat info;
  ASSERT_EQ(lstat(own.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  ASSERT_EQ(chmod(own.c_str(), 0777), 0);
  EXPECT_PRED2(contains, run(arguments), "others may write to it; set XDG_CACHE_HOME");
}

TEST_F(RunTest, WritesBesideWhatOthersWrite) {
  // A container that shares the folder may have a process of the same number.
  std::string path = folder + "/shared", other = path + ".tmp" + std::to_string(getpid());
  ASSERT_EQ(mkdir(other.c_str(), 0777), 0);
  EXPECT_NO_THROW(writeFile(path, "whole"));
  EXPECT_EQ(readFile(path, kProgramText), "whole");
}

TEST_F(RunTest, WritesToWhatIsNoRegularFile) {
  std::string matmul = "$D/p.tw --device=cpu --input='2x2xf32=1 2 3 4' "
                       "--input='2x3xf32=1' ";
  auto isDevice = [&](const std::string &path) {
    struct stat info;
    return lstat(path.c_str(), &info) == 0 && S_ISCHR(info.st_mode);
  };
  // The numbers of /dev/full and /dev/null; needs root, which is where replacing
  // a node does harm.
  std::string full = folder + "/full", null = folder + "/null";
  bool nodes = mknod(full.c_str(), S_IFCHR | 0666, makedev(1, 7)) == 0 &&
               mknod(null.c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0;
  FILE *opened = nodes ? std::fopen(null.c_str(), "w") : nullptr;
  if (opened) {
    std::fclose(opened);
    for (const char *option : {"--output=@$D/full", "--trace=$D/full",
                               "--json=$D/full"})
      EXPECT_PRED2(contains, run(matmul + option, 1),
                   "full: No space left on device");
    EXPECT_TRUE(isDevice(full));
    run(matmul + "--output=@$D/null --trace=$D/null");
    EXPECT_TRUE(isDevice(null));
  }
  // A link keeps pointing to where it points.
  ASSERT_EQ(symlink("target.npy", (folder + "/link.npy").c_str()), 0);
  run(matmul + "--output=@$D/link.npy");
  EXPECT_EQ(parseNpy("out", readFile(folder + "/target.npy", kArray), TW_F32)
                .number(5),
            7.0);
  struct stat info;
  EXPECT_TRUE(lstat((folder + "/link.npy").c_str(), &info) == 0 &&
              S_ISLNK(info.st_mode));
  ASSERT_EQ(symlink("/dev/full", (folder + "/full-link").c_str()), 0);
  EXPECT_PRED2(contains, run(matmul + "--output=@$D/full-link", 1),
               "full-link: No space left on device");
  run("--list-devices >/dev/full", 1);
}

TEST_F(RunTest, RefusesEndlessAndHugeInputs) {
  EXPECT_PRED2(contains, run("/dev/zero --device=cpu", 1),
               "not start with the bytes TILEWRT");
  EXPECT_PRED2(contains, run("$D/p.tw --device=cpu --input=@/dev/zero", 1),
               "/dev/zero: not a .npy file");
  // Sparse: they have a size, and nothing on the disk.
  for (const char *name : {"big.tw", "big.ptx", "big.mlir", "big.npy"}) {
    std::string path = folder + "/" + name;
    writeFile(path, "");
    ASSERT_EQ(truncate(path.c_str(), off_t(1) << 40), 0);
  }
  EXPECT_PRED2(contains, run("$D/big.tw", 1),
               "big.tw: longer than 4096 MiB, the limit for a file read as "
               "artifact");
  EXPECT_PRED2(contains, run("$D/big.ptx --device=ptxsim", 1),
               "big.ptx: longer than 1024 MiB, the limit for a file read as "
               "program text");
  EXPECT_PRED2(contains, run("$D/p.tw --device=cpu --input=@$D/big.npy", 1),
               "big.npy: longer than 16384 MiB");
  FileKind small = {"test", 100 << 10};
  EXPECT_THROW(readFile("/dev/zero", small), RunError);
}

TEST_F(RunTest, RefusesWithAReason) {
  EXPECT_PRED2(contains, run("", 1), "PROGRAM is required");
  EXPECT_PRED2(contains, run("$D/none.tw", 1), "none.tw: No such file");
  EXPECT_PRED2(contains, run("$D", 1), "Is a directory");
  EXPECT_PRED2(contains, run("$D/p.tw --device=tpu", 1),
               "expected one of auto");
  EXPECT_PRED2(contains, run("$D/p.tw --device=cpu", 1),
               "function 'main' takes 2 inputs (?x?xf32, ?x3xf32); got 0");
  EXPECT_PRED2(contains, run("$D/p.tw --device=cpu --function=x", 1),
               "no function 'x'; it has main, scale_and_sum");
  EXPECT_PRED2(contains, run("$D/p.tw --device=cpu --bench=x", 1), "--bench");
  EXPECT_PRED2(contains, run("$D/p.tw --target=cuda:sm_80 --device=cpu", 1),
               "'cpu': target cuda:sm_80 was asked for");
  EXPECT_PRED2(contains, run("$D/p.tw --check=oracle --expect=x", 1),
               "either --check or --expect");
  writeFile(folder + "/bad.tw", readFile(folder + "/p.tw", kArtifact).substr(0, 1000));
  EXPECT_PRED2(contains, run("$D/bad.tw --device=cpu", 1), "truncated");
  EXPECT_PRED2(contains,
               run("$D/p.tw --device=cpu --function=print --input=i64=1 "
                   "--output=@/nowhere/x.npy",
                   1),
               "/nowhere/x.npy: No such file");
  EXPECT_PRED2(contains, run("--list-devices"), "cpu ");
  EXPECT_PRED2(contains, run("--version"), "tilewright-run 0.1.0");
}

} // namespace
