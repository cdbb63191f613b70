/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * NVML with one card, whose clock falls under load: each look finds it 15 MHz
 * slower. FAKE_NVML_POWER=no: the card does not say its power. It is divided into
 * two MIG slices, whose UUIDs are the fake driver's (fake_mig.c); they have no
 * clocks of their own, and one process each. */

#include <stdlib.h>
#include <string.h>

static int card;
static int slices[2];

static int is_slice(void *device) { return device == &slices[0] || device == &slices[1]; }
static unsigned clock_mhz = 1410;

const char *nvmlErrorString(int code) {
  return code == 3 ? "Not Supported" : code == 6 ? "Not Found" : "Unknown Error";
}

int nvmlInit_v2(void) { return 0; }

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  if (!strcmp(uuid, "MIG-00112233-4455-6677-8899-aabbccddee00"))
    *device = &slices[0];
  else if (!strcmp(uuid, "MIG-00112233-4455-6677-8899-aabbccddee01"))
    *device = &slices[1];
  else if (strcmp(uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff"))
    return 6;
  else
    *device = &card;
  return 0;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *device, void **of) {
  if (!is_slice(device))
    return 2;
  *of = &card;
  return 0;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz) {
  if (device != &card)
    return 2;
  *mhz = kind == 2 ? 1215 : clock_mhz;
  clock_mhz -= kind == 1 ? 15 : 0;
  return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  *milliwatts = 251500;
  return device != &card ? 2 : getenv("FAKE_NVML_POWER") ? 3 : 0;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
  *celsius = 61;
  return device != &card || sensor ? 2 : 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device,
                                              unsigned long long *reasons) {
  *reasons = 0x4 | 0x20;
  return device != &card ? 2 : 0;
}

struct process {
  unsigned pid;
  unsigned long long memory;
  unsigned instance, part;
};

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                            struct process *found) {
  if ((device != &card && !is_slice(device)) || *count < 2)
    return 2;
  *count = is_slice(device) ? 1 : 2;
  found[0].pid = 10;
  found[1].pid = 11;
  return 0;
}
