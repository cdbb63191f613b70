/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The runtime's C API: load an artifact (.tw), call its functions, launch its
 * kernels.
 *
 *   instance ── devices, by name
 *     device ── streams, events, buffers, programs
 *       buffer  device memory           view   a tensor in a buffer
 *       stream  an in-order queue       event  a point in a stream
 *       program code of an artifact for this device
 *
 * Status. Every function that can fail returns a tilewright_status *: null is
 * success; otherwise the caller owns it, reads its code and message, and gives
 * it back with tilewright_status_release. Out-parameters come last and are
 * untouched on failure.
 *
 * Ownership. `_create`, `_open`, `_load` and `_allocate` give one reference to
 * the caller; `_retain` adds one, `_release` drops one (null is ignored). An
 * object keeps alive what it needs: a view its buffer, a buffer its device.
 * Releasing an object that work in flight still uses is allowed: its memory is
 * reused or freed when that work is done.
 *
 * Threads. Every function may be called from any thread at any time, on the
 * same objects too. A stream serves one call at a time; others wait their turn,
 * which counts for a timeout. In a process that fork made, what its parent had opened
 * of cpu and vulkan is lost: uses answer TILEWRIGHT_DEVICE_LOST, and releases wait for
 * nothing. cpu can be opened again there; cuda, ptxsim and vulkan are for one side of a
 * fork alone.
 *
 * Time. Work is asynchronous: functions that take a stream enqueue and return.
 * Order between streams is the caller's, with events. Timeouts are nanoseconds;
 * TILEWRIGHT_FOREVER waits without end. A wait that passes its timeout answers
 * TILEWRIGHT_DEADLINE_EXCEEDED and leaves the device lost: waits of other threads
 * end soon, every later use answers TILEWRIGHT_DEVICE_LOST at once, reads are not
 * written any more, and releasing what belongs to it never waits. (To look
 * without waiting there is tilewright_event_query.) What calls wait for that take
 * no timeout is bounded by their stream's (tilewright_stream_set_timeout). ptxsim
 * runs a kernel inside the call that launches it, so there that call may answer
 * TILEWRIGHT_DEADLINE_EXCEEDED.
 *
 * A kernel that runs on a lost device is stopped between two of its blocks on cpu
 * and ptxsim; when it ends, all memory is freed. No driver of a GPU stops one:
 * what a lost cuda or vulkan device holds stays until the process ends.
 * Allocating, loading code and trimming are the driver's own there, and may wait
 * for kernels that run.
 *
 * Living in another program. A device can be opened over the caller's CUDA
 * context or Vulkan device, and take the caller's streams, memory and DLPack
 * tensors; see "Adopting" below. Adopted things stay the caller's.
 *
 * Units: sizes and offsets in bytes, dims in elements. Tensors are dense and
 * row-major; element 0 of a tensor given to a kernel is 16-byte aligned.
 */
#ifndef TILEWRIGHT_TILEWRIGHT_H
#define TILEWRIGHT_TILEWRIGHT_H

#include "tilewright/program_abi.h" /* tw_dtype */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TILEWRIGHT_API __attribute__((visibility("default")))
#else
#define TILEWRIGHT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TILEWRIGHT_FOREVER UINT64_MAX

typedef struct tilewright_status tilewright_status;
typedef struct tilewright_instance tilewright_instance;
typedef struct tilewright_device tilewright_device;
typedef struct tilewright_stream tilewright_stream;
typedef struct tilewright_event tilewright_event;
typedef struct tilewright_buffer tilewright_buffer;
typedef struct tilewright_view tilewright_view;
typedef struct tilewright_program tilewright_program;

/* "0.1.0" */
TILEWRIGHT_API const char *tilewright_version(void);

/*===-- Status ------------------------------------------------------------===*/

typedef enum tilewright_status_code_t {
  TILEWRIGHT_OK = 0,
  TILEWRIGHT_INVALID_ARGUMENT = 1,  /* the caller passed something unusable */
  TILEWRIGHT_NOT_FOUND = 2,         /* no such device, function, file */
  TILEWRIGHT_UNAVAILABLE = 3,       /* a driver or device this machine lacks */
  TILEWRIGHT_UNSUPPORTED = 4,       /* this device or build cannot do it */
  TILEWRIGHT_OUT_OF_MEMORY = 5,     /* host or device memory */
  TILEWRIGHT_CORRUPT_ARTIFACT = 6,  /* bytes that are no valid artifact */
  TILEWRIGHT_DEADLINE_EXCEEDED = 7, /* a wait passed its timeout */
  TILEWRIGHT_DEVICE_LOST = 8,       /* the device failed */
  TILEWRIGHT_PROGRAM_ERROR = 9,     /* a check of the program failed */
  TILEWRIGHT_INTERNAL = 10,         /* a driver answered the unexpected */
  TILEWRIGHT_GUARD_FALSE = 11       /* a kernel that is for other devices than this one */
} tilewright_status_code_t;

/* TILEWRIGHT_OK for null. */
TILEWRIGHT_API tilewright_status_code_t
tilewright_status_code(const tilewright_status *status);
/* What went wrong, where, and what would be accepted; lives as long as the
 * status. "" for null. */
TILEWRIGHT_API const char *
tilewright_status_message(const tilewright_status *status);
TILEWRIGHT_API void tilewright_status_release(tilewright_status *status);

/*===-- Instance and devices ----------------------------------------------===*/

/* Every member may be null. Paths of shared libraries to use instead of the
 * usual ones; without one the environment variables TILEWRIGHT_CUDA_LIBRARY,
 * TILEWRIGHT_VULKAN_LIBRARY and TILEWRIGHT_PTXSIM_LIBRARY count. */
typedef struct tilewright_instance_options {
  const char *cuda_library;
  const char *vulkan_library;
  const char *ptxsim_library;
} tilewright_instance_options;

/* `options` may be null. Drivers are opened when first asked for. */
TILEWRIGHT_API tilewright_status *
tilewright_instance_create(const tilewright_instance_options *options,
                           tilewright_instance **instance);
TILEWRIGHT_API void tilewright_instance_retain(tilewright_instance *instance);
TILEWRIGHT_API void tilewright_instance_release(tilewright_instance *instance);

/* One device, or one driver that has none; strings live as long as the
 * instance. */
typedef struct tilewright_device_info {
  const char *name;        /* "cuda:0" */
  const char *description; /* for people */
  int32_t available;
  const char *reason;      /* why not, when not available */
  const char *target;      /* what tilewright-compile --target= is given for a
                              Vulkan device with matrix units; else empty */
  int32_t automatic;       /* place in the order in which "auto" tries devices,
                              from 1; 0: it does not try this one */
  const char *uuid;        /* 32 hexadecimal digits, the same in every process
                              and API; empty where the driver does not say */
} tilewright_device_info;

/* Fills up to `capacity` entries, and `count` with how many there are.
 * `infos` may be null when capacity is 0. */
TILEWRIGHT_API tilewright_status *
tilewright_instance_devices(tilewright_instance *instance, size_t capacity,
                            tilewright_device_info *infos, size_t *count);

/* name: "cpu", "cuda", "cuda:1", "vulkan:0", "ptxsim", or "auto" for the first
 * of cuda, vulkan and cpu that opens; Vulkan drivers that compute on the CPU
 * come last. */
TILEWRIGHT_API tilewright_status *
tilewright_device_open(tilewright_instance *instance, const char *name,
                       tilewright_device **device);
TILEWRIGHT_API void tilewright_device_retain(tilewright_device *device);
TILEWRIGHT_API void tilewright_device_release(tilewright_device *device);
TILEWRIGHT_API const char *tilewright_device_name(tilewright_device *device);
TILEWRIGHT_API const char *
tilewright_device_description(tilewright_device *device);
/* The value of ["device", key] in expressions; 0 for unknown keys. */
TILEWRIGHT_API int64_t tilewright_device_fact(tilewright_device *device,
                                              const char *key);
/* Gives cached memory that nothing uses back to the driver. */
TILEWRIGHT_API void tilewright_device_trim(tilewright_device *device);
/* The timeout of every stream that is given none of its own, those that programs
 * make for themselves too; 10 minutes at the start. */
TILEWRIGHT_API void tilewright_device_set_timeout(tilewright_device *device,
                                                  uint64_t nanoseconds);
/* While on, tensors that programs allocate start as all one bits (NaN in every
 * float type), so that elements never written show. */
TILEWRIGHT_API void tilewright_device_set_poison(tilewright_device *device,
                                                 int32_t on);

/*===-- Adopting what the caller has --------------------------------------===*/
/*
 * Ownership. An adopted context, VkDevice, queue, stream or memory stays the
 * caller's and outlives every object that is made over it: release those first
 * (a view keeps its buffer, a buffer its device), after synchronising the
 * streams that used them. The runtime destroys only what it made. A DLPack
 * tensor is the exception: a view takes it over, see below.
 *
 * Synchronisation. The runtime waits for nobody else's work, and nobody waits
 * for the runtime's, except where the caller orders the two:
 *  - cuda: work on an adopted stream is in order with the caller's work on it.
 *    Between streams use events, of the runtime or, on the CUstream's of
 *    tilewright_stream_native, of CUDA.
 *  - vulkan: streams of an adopted device submit to the queue that was given.
 *    Submissions of the runtime see (and wait for) compute and transfer work
 *    that was submitted to that queue before them. What the caller submits
 *    after tilewright_stream_flush comes later, but needs a pipeline barrier of
 *    its own behind compute and transfer writes. Other queues: wait on the host.
 *  - cpu: synchronise the stream before the host looks.
 *
 * Checks. A null handle, a stream or memory of another context or device, memory
 * that is too small, and features that a device was made without are answered
 * with a status. A handle that dangles or is no handle at all cannot be told
 * from a good one by the driver APIs: its use is undefined, as it is there.
 *
 * Threads. Adopted objects may be used from any thread, with CUDA contexts
 * pushed for a call and popped behind it. The caller's own use of an adopted
 * VkQueue is kept apart by the functions lock_queue and unlock_queue.
 */

/* Opens a device over the caller's CUcontext, of the libcuda.so.1 that the
 * process has loaded. driver: "cuda", or "ptxsim" with the simulator's. The
 * device has the name of the context's GPU, "cuda:1". */
TILEWRIGHT_API tilewright_status *
tilewright_device_adopt_cuda(tilewright_instance *instance, const char *driver,
                             void *context, tilewright_device **device);

/* The caller's Vulkan device; read during the call alone, except the functions
 * and `user`. Zero what is not named here. */
typedef struct tilewright_vulkan_device {
  void *get_instance_proc_addr; /* the loader's vkGetInstanceProcAddr that the
                                   instance came from; null: libvulkan.so.1's */
  void *instance;               /* VkInstance */
  uint32_t api_version;         /* its VkApplicationInfo::apiVersion, >= 1.1 */
  void *physical_device;        /* VkPhysicalDevice */
  void *device;                 /* VkDevice */
  const void *create_info;      /* the VkDeviceCreateInfo that it was made with,
                                   pNext chain and all: what is enabled there is
                                   what kernels may use. timelineSemaphore must
                                   be; extensions and features that the device
                                   lacks are an error */
  uint32_t queue_family;        /* of create_info, with compute */
  uint32_t queue_index;
  void (*lock_queue)(void *user);   /* around every vkQueueSubmit; null where */
  void (*unlock_queue)(void *user); /* the caller never submits meanwhile */
  void *user;
} tilewright_vulkan_device;

TILEWRIGHT_API tilewright_status *
tilewright_device_adopt_vulkan(tilewright_instance *instance,
                               const tilewright_vulkan_device *theirs,
                               tilewright_device **device);

/*===-- Streams and events ------------------------------------------------===*/

TILEWRIGHT_API tilewright_status *
tilewright_stream_create(tilewright_device *device,
                         tilewright_stream **stream);
/* Adopts the caller's queue, which must outlive this. cuda: a CUstream of the
 * device's context, or the default stream (0); not CU_STREAM_PER_THREAD. Other
 * drivers have none to adopt. Order with the caller's work: see "Adopting". */
TILEWRIGHT_API tilewright_status *
tilewright_stream_import(tilewright_device *device, uint64_t native,
                         tilewright_stream **stream);
/* The CUstream behind a stream, for work of the caller's in order with the
 * runtime's; UNSUPPORTED on other drivers. It lives as long as the stream. */
TILEWRIGHT_API tilewright_status *
tilewright_stream_native(tilewright_stream *stream, uint64_t *native);
/* Gives what was enqueued so far to the device, without waiting. Calls and waits
 * do it themselves: for callers who submit work of their own behind it. */
TILEWRIGHT_API tilewright_status *
tilewright_stream_flush(tilewright_stream *stream);
TILEWRIGHT_API void tilewright_stream_retain(tilewright_stream *stream);
/* The last release waits for the work in flight, up to the stream's timeout. */
TILEWRIGHT_API void tilewright_stream_release(tilewright_stream *stream);
/* How long the runtime itself waits for this stream (a program that reads a
 * tensor on the host, a transfer without room to stage it, release, a launch on
 * ptxsim) before it gives the device up; 10 minutes unless set. */
TILEWRIGHT_API void tilewright_stream_set_timeout(tilewright_stream *stream,
                                                  uint64_t nanoseconds);
/* Waits for the work in flight. Where a check of a program on elements failed
 * (cf.assert in the body of an op), it gives that error, once: the first one
 * since the last synchronisation, TILEWRIGHT_PROGRAM_ERROR. */
TILEWRIGHT_API tilewright_status *
tilewright_stream_synchronize(tilewright_stream *stream,
                              uint64_t timeout_nanoseconds);
/* Later work of the stream waits for the event. */
TILEWRIGHT_API tilewright_status *
tilewright_stream_wait_event(tilewright_stream *stream,
                             tilewright_event *event);

TILEWRIGHT_API tilewright_status *
tilewright_event_create(tilewright_device *device, int32_t timing,
                        tilewright_event **event);
TILEWRIGHT_API void tilewright_event_retain(tilewright_event *event);
TILEWRIGHT_API void tilewright_event_release(tilewright_event *event);
TILEWRIGHT_API tilewright_status *
tilewright_event_record(tilewright_event *event, tilewright_stream *stream);
TILEWRIGHT_API tilewright_status *
tilewright_event_query(tilewright_event *event, int32_t *done);
TILEWRIGHT_API tilewright_status *
tilewright_event_wait(tilewright_event *event, uint64_t timeout_nanoseconds);
/* Device time between two events with timing that have been reached. */
TILEWRIGHT_API tilewright_status *
tilewright_event_elapsed(tilewright_event *start, tilewright_event *end,
                         uint64_t *nanoseconds);

/*===-- Buffers and views -------------------------------------------------===*/

/* Uninitialised device memory, 256-byte aligned. */
TILEWRIGHT_API tilewright_status *
tilewright_buffer_allocate(tilewright_device *device, uint64_t size,
                           tilewright_buffer **buffer);
/* Adopts the caller's memory, which must outlive the buffer and all work on it.
 * cpu: an address. cuda: a CUdeviceptr of the device's context, or the address
 * of pinned or managed host memory. vulkan: a VkBuffer of an adopted VkDevice,
 * bound to memory, made with usage STORAGE_BUFFER, TRANSFER_SRC and TRANSFER_DST,
 * and exclusive to the queue family that was given (or concurrent). */
TILEWRIGHT_API tilewright_status *
tilewright_buffer_import(tilewright_device *device, uint64_t native,
                         uint64_t size, tilewright_buffer **buffer);
TILEWRIGHT_API void tilewright_buffer_retain(tilewright_buffer *buffer);
TILEWRIGHT_API void tilewright_buffer_release(tilewright_buffer *buffer);
TILEWRIGHT_API uint64_t tilewright_buffer_size(tilewright_buffer *buffer);
/* Device address; 0 where the device has none. */
TILEWRIGHT_API uint64_t tilewright_buffer_address(tilewright_buffer *buffer);

/* `source` may be reused as soon as the call returns. */
TILEWRIGHT_API tilewright_status *
tilewright_buffer_write(tilewright_buffer *buffer, tilewright_stream *stream,
                        uint64_t offset, const void *source, uint64_t size);
/* `target` must live, and is complete, when the stream has been synchronised. */
TILEWRIGHT_API tilewright_status *
tilewright_buffer_read(tilewright_buffer *buffer, tilewright_stream *stream,
                       uint64_t offset, uint64_t size, void *target);
/* Repeats a pattern of 1, 2 or 4 bytes. */
TILEWRIGHT_API tilewright_status *
tilewright_buffer_fill(tilewright_buffer *buffer, tilewright_stream *stream,
                       uint64_t offset, uint64_t size, uint32_t pattern,
                       uint32_t pattern_size);
TILEWRIGHT_API tilewright_status *
tilewright_buffer_copy(tilewright_buffer *target, uint64_t target_offset,
                       tilewright_buffer *source, uint64_t source_offset,
                       uint64_t size, tilewright_stream *stream);

/* "f32"; "invalid" for an unknown number. */
TILEWRIGHT_API const char *tilewright_dtype_name(int32_t dtype);
/* Bytes per element (i1: 1); 0 for an unknown number. Of i4 two share a byte
 * and of i2 four, the first in its lowest bits: 1, and a tensor has a half or a quarter
 * as many bytes, rounded up. */
TILEWRIGHT_API uint32_t tilewright_dtype_size(int32_t dtype);

/* A tensor in memory of a buffer. */
TILEWRIGHT_API tilewright_status *
tilewright_view_create(tilewright_buffer *buffer, uint64_t offset,
                       int32_t dtype, int32_t rank, const int64_t *dims,
                       tilewright_view **view);
/* The same with a stride per dim, in elements, none negative: a window of a
 * larger tensor. Functions take it where their memref argument has strides. */
TILEWRIGHT_API tilewright_status *
tilewright_view_create_strided(tilewright_buffer *buffer, uint64_t offset,
                               int32_t dtype, int32_t rank,
                               const int64_t *dims, const int64_t *strides,
                               tilewright_view **view);
/* A tensor with uninitialised memory of its own. */
TILEWRIGHT_API tilewright_status *
tilewright_view_allocate(tilewright_device *device, int32_t dtype,
                         int32_t rank, const int64_t *dims,
                         tilewright_view **view);
TILEWRIGHT_API void tilewright_view_retain(tilewright_view *view);
TILEWRIGHT_API void tilewright_view_release(tilewright_view *view);
TILEWRIGHT_API int32_t tilewright_view_dtype(const tilewright_view *view);
TILEWRIGHT_API int32_t tilewright_view_rank(const tilewright_view *view);
/* `rank` values, living as long as the view. */
TILEWRIGHT_API const int64_t *tilewright_view_dims(const tilewright_view *view);
/* `rank` values, living as long as the view; null for a dense view. */
TILEWRIGHT_API const int64_t *
tilewright_view_strides(const tilewright_view *view);
/* Bytes of the elements, without what strides leave out between them. */
TILEWRIGHT_API uint64_t tilewright_view_size(const tilewright_view *view);
/* Device address of element 0; the offset where the device has no addresses. */
TILEWRIGHT_API uint64_t tilewright_view_address(const tilewright_view *view);
/* What the driver's own API calls the memory, and where in it element 0 lies:
 * an address and 0, or a VkBuffer and an offset in bytes. */
TILEWRIGHT_API tilewright_status *
tilewright_view_native(const tilewright_view *view, uint64_t *native,
                       uint64_t *offset);
/* Whether the memory was adopted read-only, or is a constant that a function
 * returned: then writing to it, and passing it where a function or kernel
 * writes, are errors. */
TILEWRIGHT_API int32_t tilewright_view_read_only(const tilewright_view *view);

/* All elements side by side; `size` must be tilewright_view_size. As buffer write / read. */
TILEWRIGHT_API tilewright_status *
tilewright_view_write(tilewright_view *view, tilewright_stream *stream,
                      const void *source, uint64_t size);
TILEWRIGHT_API tilewright_status *
tilewright_view_read(tilewright_view *view, tilewright_stream *stream,
                     uint64_t size, void *target);

/*===-- DLPack ------------------------------------------------------------===*/

struct DLManagedTensor; /* of dlpack.h, https://github.com/dmlc/dlpack */
struct DLManagedTensorVersioned;

/* A view of the tensor's memory, without a copy.
 *
 * Device. cpu takes kDLCPU and kDLCUDAHost; cuda kDLCUDA of its own number,
 * kDLCUDAHost and kDLCUDAManaged; ptxsim kDLCUDA or kDLExtDev number 0 in memory
 * of the simulator; vulkan kDLVulkan of its own number where `data` is a VkBuffer
 * of the adopted VkDevice, or a tensor that tilewright_view_to_dlpack made.
 *
 * Elements. Floats f64 f32 f16 bf16 f8E4M3FN f8E5M2 f8E4M3FNUZ f8E5M2FNUZ;
 * integers of 8 to 64 bits, signed or not (i8 to i64: the sign is the operation's business), of 4 and 2
 * bits, packed (i4, i2); bool (i1). `dtype` other than 0 sees them as this type, of the
 * same size: bf16 for u16, index for i64, i1 for u8. Several lanes, complex
 * numbers and other types of less than a byte are refused. Strides may be null (dense); negative ones, and a
 * first element that is not aligned to its size, are refused. Kernels want more:
 * a dense tensor whose element 0 is not 16-byte aligned is refused by the call
 * that it is passed to. The read-only flag is honoured, see
 * tilewright_view_read_only.
 *
 * Ownership. On success the tensor belongs to the view. Its deleter is called
 * exactly once: when the last view of the memory is gone and the work on it is
 * known to be done, by a synchronisation of its streams; from the thread that
 * drops or synchronises last; never while the runtime holds a lock of its own
 * other than that of a stream whose call it is; never when the device is lost
 * and might still touch the memory. On failure the tensor stays the caller's.
 *
 * Synchronisation. The producer's work on the tensor must be done, or in order
 * before the stream that the view is used on (__dlpack__(stream=...) with
 * tilewright_stream_native). */
TILEWRIGHT_API tilewright_status *
tilewright_view_from_dlpack(tilewright_device *device,
                            struct DLManagedTensor *tensor, int32_t dtype,
                            tilewright_view **view);
TILEWRIGHT_API tilewright_status *tilewright_view_from_dlpack_versioned(
    tilewright_device *device, struct DLManagedTensorVersioned *tensor,
    int32_t dtype, tilewright_view **view);
/* The other way: a tensor that keeps the view's memory until its deleter is
 * called, once, from any thread. The consumer's work must come after the work of
 * the streams that write the memory, and be done before the deleter is called.
 * `index` becomes int64; read-only memory only fits the versioned form. On vulkan `data` is the VkBuffer and `byte_offset` the place in
 * it. */
TILEWRIGHT_API tilewright_status *
tilewright_view_to_dlpack(tilewright_view *view,
                          struct DLManagedTensor **tensor);
TILEWRIGHT_API tilewright_status *
tilewright_view_to_dlpack_versioned(tilewright_view *view,
                                    struct DLManagedTensorVersioned **tensor);
/* The DLDevice of tensors that views of this device become. */
TILEWRIGHT_API tilewright_status *
tilewright_device_dlpack(tilewright_device *device, int32_t *device_type,
                         int32_t *device_id);

/*===-- Programs ----------------------------------------------------------===*/

/* Every member may be zero. */
typedef struct tilewright_program_options {
  const char *target; /* exactly this target of the artifact; null: the first
                         that the device runs */
  int32_t reference;  /* the reference program (target cpu-reference) */
  size_t num_external_libraries;
  const char *const *external_libraries; /* paths; may define what the host
                                            program imports */
  const char *parameters; /* path of the parameter file (safetensors), or of a
                             folder with the file that the artifact names; null:
                             that file in the current folder */
  int32_t verify_parameters; /* compare the SHA-256 of every parameter with the
                                artifact's; reads all of the file */
  int32_t without_constants; /* place no constants and open no parameter file:
                                kernels can be asked about, with no stream at
                                all, but functions not called */
} tilewright_program_options;

/* Verifies the artifact and loads its program for the device. The bytes are
 * copied. An artifact is native code: load only what you trust.
 *
 * A parameter file is mapped, once for all programs of the process that use it, and
 * must not be changed in place while one of them lives. Programs of the cpu read
 * parameters there; those that do not begin at a multiple of 16 bytes, and those of
 * other devices, are copied. Names, element types and shapes must be the
 * artifact's; values may be others.
 *
 * What depends on constants alone is computed here, by kernels on the device, and
 * waited for. */
TILEWRIGHT_API tilewright_status *
tilewright_program_load(tilewright_device *device, const void *data,
                        size_t size, const tilewright_program_options *options,
                        tilewright_program **program);
TILEWRIGHT_API void tilewright_program_retain(tilewright_program *program);
TILEWRIGHT_API void tilewright_program_release(tilewright_program *program);
/* "cuda:sm_80" */
TILEWRIGHT_API const char *
tilewright_program_target(tilewright_program *program);

/* Where the program's own printing goes; null: stdout. The function may be
 * called from any thread that calls the program, one at a time, and must not
 * call the runtime. Text is not NUL-terminated. */
typedef void (*tilewright_text_function)(void *user, const char *text,
                                         size_t length);
TILEWRIGHT_API void
tilewright_program_set_print(tilewright_program *program,
                             tilewright_text_function function, void *user);
/* One line, without its end, per launch: dispatch, variant, grid. */
TILEWRIGHT_API void
tilewright_program_set_trace(tilewright_program *program,
                             tilewright_text_function function, void *user);

typedef enum tilewright_kind {
  TILEWRIGHT_TENSOR = 0, /* only read */
  TILEWRIGHT_BUFFER = 1, /* read and written in place */
  TILEWRIGHT_SCALAR = 2
} tilewright_kind;

typedef struct tilewright_type {
  tilewright_kind kind;
  int32_t dtype;
  int32_t rank;
  const int64_t *dims;    /* -1: dynamic */
  const int64_t *strides; /* -1: dynamic; null: dense */
} tilewright_type;

/* Lives as long as the program. */
typedef struct tilewright_signature {
  const char *name;
  size_t num_inputs;
  const tilewright_type *inputs;
  size_t num_results;
  const tilewright_type *results;
} tilewright_signature;

TILEWRIGHT_API size_t
tilewright_program_function_count(tilewright_program *program);
TILEWRIGHT_API tilewright_status *
tilewright_program_function_find(tilewright_program *program, const char *name,
                                 size_t *function);
TILEWRIGHT_API tilewright_status *
tilewright_program_function_signature(tilewright_program *program,
                                      size_t function,
                                      tilewright_signature *signature);

/* One argument or result: a view (tensors and buffers), or the bits of a
 * scalar, integers sign-extended, i1 as 0 or 1, floats zero-extended. */
typedef struct tilewright_value {
  tilewright_kind kind;
  tilewright_view *view;
  uint64_t bits;
} tilewright_value;

/* Calls a function. With a stream, results are complete when it has been
 * synchronised; `stream` null waits for them. Checks of elements are made by the
 * device, and the call does not wait for them: it is the synchronisation that
 * gives their error (waiting for an event does not), or a later call on the
 * stream that reads a tensor on the host. Arguments are borrowed; views in
 * results belong to the caller. Host code of the program runs in the calling
 * thread. */
TILEWRIGHT_API tilewright_status *
tilewright_program_call(tilewright_program *program, size_t function,
                        tilewright_stream *stream, size_t num_args,
                        const tilewright_value *args, size_t num_results,
                        tilewright_value *results);

/* Work of one call as the artifact states it; -1 where it does not. */
typedef struct tilewright_work {
  int64_t flops;
  int64_t bytes;
} tilewright_work;
/* `reductions`, unless null, takes one number per result: how many terms are
 * summed into one element. */
TILEWRIGHT_API tilewright_status *
tilewright_program_estimate(tilewright_program *program, size_t function,
                            size_t num_args, const tilewright_value *args,
                            int64_t *reductions, tilewright_work *work);

TILEWRIGHT_API tilewright_status *
tilewright_program_dispatch_find(tilewright_program *program, const char *name,
                                 size_t *dispatch);
/* Launches one kernel of the artifact by itself: operands and host scalars as
 * its manifest entry lists them, with every check of a launch. Tensor maps among
 * the kernel's parameters are made of the operands; who launches the PTX without
 * this library makes them as docs/abi.md says. */
TILEWRIGHT_API tilewright_status *
tilewright_program_launch(tilewright_program *program, size_t dispatch,
                          tilewright_stream *stream, size_t num_views,
                          tilewright_view *const *views, size_t num_scalars,
                          const uint64_t *scalars);

/* A number that a driver's compiler gives for a kernel, in the driver's own words. */
typedef struct tilewright_statistic {
  const char *name;
  const char *description;
  double value; /* exact up to 2^53 */
} tilewright_statistic;

/* What the code of one kernel takes of the device; -1 where the driver does not say.
 * Texts and statistics live as long as the program. */
typedef struct tilewright_kernel_resources {
  const char *dispatch;
  const char *variant;
  int64_t registers;        /* of 32 bits, per thread (AMD: VGPRs) */
  int64_t scalar_registers; /* of 32 bits, per subgroup, beside those (AMD: SGPRs) */
  int64_t local_bytes;      /* per thread, in memory: spills and arrays */
  int64_t shared_bytes;     /* per block, declared in the code */
  int64_t dynamic_shared_bytes; /* per block, given at a launch */
  int64_t max_threads;          /* per block */
  int64_t code_bytes;
  size_t num_statistics;
  const tilewright_statistic *statistics; /* all that the driver names itself */
} tilewright_kernel_resources;

/* Kernels: all variants of all dispatches, in the artifact's order. */
TILEWRIGHT_API size_t
tilewright_program_kernel_count(tilewright_program *program);
/* The variant's name, living as long as the program; null for a number too large. */
TILEWRIGHT_API const char *
tilewright_program_kernel_variant(tilewright_program *program, size_t kernel);
/* Asks the driver, which may have to compile the kernel: no stream and no memory are
 * needed, and nothing runs. cuda: registers, local and shared memory, threads; ptxsim, which
 * assigns no registers, only the last two. vulkan:
 * the statistics of VK_KHR_pipeline_executable_properties, of which those that Mesa's
 * drivers name stand in the members above, too. cpu does not say: an error, as of a
 * kernel that this device cannot run; TILEWRIGHT_GUARD_FALSE of one that is for other
 * devices. On error `dispatch` and `variant` are set where
 * `kernel` is below the count. */
TILEWRIGHT_API tilewright_status *tilewright_program_kernel_resources(
    tilewright_program *program, size_t kernel,
    tilewright_kernel_resources *resources);

#ifdef __cplusplus
}
#endif

#endif /* TILEWRIGHT_TILEWRIGHT_H */
