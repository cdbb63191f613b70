/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A CUDA driver whose one device is a MIG slice: the simulator, which FAKE_MIG_DRIVER
 * names, with the UUID of slice FAKE_MIG_SLICE. As CUDA has it, a process sees one
 * slice, as device 0; cuDeviceGetUuid of 11.4 says which, the one before says the
 * card's for all of them. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int (*forward)(const char *, void **, int, uint64_t, int *);

static int uuid_of(unsigned char *uuid, int last) {
  static const unsigned char card[] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                       0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
  memcpy(uuid, card, sizeof(card));
  uuid[15] = (unsigned char)last;
  return 0;
}

static int card_uuid(unsigned char *uuid, int device) { return (void)device, uuid_of(uuid, 0xff); }
static int slice_uuid(unsigned char *uuid, int device) {
  return (void)device, uuid_of(uuid, atoi(getenv("FAKE_MIG_SLICE")));
}

int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *found) {
  if (!forward) {
    void *driver = dlopen(getenv("FAKE_MIG_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    *(void **)&forward = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
    if (!forward)
      return 999;
  }
  int result = forward(name, address, version, flags, found);
  if (!result && !strcmp(name, "cuDeviceGetUuid"))
    *address = version >= 11040 ? (void *)slice_uuid : (void *)card_uuid;
  return result;
}
