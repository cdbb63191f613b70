// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs examples/mlp.mlir, which CMake compiled and linked in, on the best device
// there is or the one that is named: 28 x 28 pixels in, probabilities of ten
// classes out. The weights are made up.
//
//   classify [auto | cpu | cuda | vulkan | ptxsim]

#include "mlp.h" // written by tilewright_add_program

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

/// The C API's statuses as exceptions.
static void check(tilewright_status *status) {
  if (!status)
    return;
  std::string message = tilewright_status_message(status);
  tilewright_status_release(status);
  throw std::runtime_error(message);
}

static std::vector<float> madeUp(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = scale * std::sin(float(i) * 0.37f);
  return values;
}

static void run(const char *deviceName) {
  tilewright_instance *instance;
  tilewright_device *device;
  tilewright_stream *stream;
  tilewright_program *program;
  check(tilewright_instance_create(nullptr, &instance));
  check(tilewright_device_open(instance, deviceName, &device));
  check(tilewright_stream_create(device, &stream));
  check(mlp_load(device, &program));

  // Arguments are views of device memory; these functions copy there.
  const int64_t images = 3;
  tilewright_view *x, *w1, *b1, *w2, *b2, *probabilities;
  check(mlp_main_x(device, stream, madeUp(images * 784, 1).data(), images, &x));
  check(mlp_main_w1(device, stream, madeUp(784 * 256, 0.1f).data(), &w1));
  check(mlp_main_b1(device, stream, madeUp(256, 0.1f).data(), &b1));
  check(mlp_main_w2(device, stream, madeUp(256 * 10, 0.1f).data(), &w2));
  check(mlp_main_b2(device, stream, madeUp(10, 0.1f).data(), &b2));

  check(mlp_main(program, stream, x, w1, b1, w2, b2, &probabilities));
  std::vector<float> out(images * 10);
  check(mlp_main_result0_read(probabilities, stream, out.data(), out.size()));

  std::printf("%s, %s\n", tilewright_device_description(device),
              tilewright_program_target(program));
  for (int64_t image = 0; image < images; ++image) {
    float sum = 0;
    for (int64_t c = 0; c < 10; ++c) {
      std::printf(" %.3f", out[image * 10 + c]);
      sum += out[image * 10 + c];
    }
    std::printf("\n");
    if (!(std::fabs(sum - 1) < 1e-5f))
      throw std::runtime_error("probabilities do not sum to 1");
  }

  for (tilewright_view *view : {x, w1, b1, w2, b2, probabilities})
    tilewright_view_release(view);
  tilewright_program_release(program);
  tilewright_stream_release(stream);
  tilewright_device_release(device);
  tilewright_instance_release(instance);
}

int main(int argc, char **argv) {
  try {
    run(argc > 1 ? argv[1] : "auto");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "classify: %s\n", error.what());
    return 1;
  }
}
