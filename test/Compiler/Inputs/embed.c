/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls the functions of object.test through the header, on the cpu. Also
 * compiled as C++. */
#include "scaled.h"

#include <stdio.h>

static void check(tilewright_status *status) {
  if (!status)
    return;
  fprintf(stderr, "%s\n", tilewright_status_message(status));
  tilewright_status_release(status);
}

int main(void) {
  tilewright_instance *instance;
  tilewright_device *device;
  tilewright_stream *stream;
  tilewright_program *program;
  tilewright_view *in, *out;
  const float values[] = {1, 2, 3};
  float results[3];
  int32_t n = 0;
  check(tilewright_instance_create(NULL, &instance));
  check(tilewright_device_open(instance, "cpu", &device));
  check(tilewright_stream_create(device, &stream));
  check(scaled_load(device, &program));
  check(scaled_main_a(device, stream, values, 3, &in));
  check(scaled_main(program, stream, in, 0.5f, -7, &out, &n));
  check(scaled_main_result0_read(out, stream, results, 3));
  printf("%g %g %g %d\n", results[0], results[1], results[2], (int)n);
  check(scaled_update(program, stream, in));
  check(scaled_update_a_read(in, stream, results, 3));
  printf("%g %g %g\n", results[0], results[1], results[2]);
  /* A result of another size is an error with a message. */
  check(scaled_main_result0_read(out, stream, results, 2));
  tilewright_view_release(out);
  tilewright_view_release(in);
  tilewright_program_release(program);
  tilewright_stream_release(stream);
  tilewright_device_release(device);
  tilewright_instance_release(instance);
  return 0;
}
