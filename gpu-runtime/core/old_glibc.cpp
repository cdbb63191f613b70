// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets what is built with a new glibc and libstdc++ run with glibc 2.28 and the
// libstdc++ of g++ 8: defines, for the library alone that this is linked into,
// the symbols that newer ones would be asked for, by what old ones have.
//
//   dlopen, pthread_mutex_trylock, …   moved into libc.so.6 in 2.34 with a new
//                                      version; the old version is still there
//   stat, fstat                        were inline functions before 2.33
//   exp2, log2                         differ in errno alone since 2.29
//   pthread_*_clock*                   new in 2.30; the steady clock's deadline
//                                      becomes one of the system's clock
//   std::…                             new in libstdc++ 11 and 12
//
// An old glibc has dlopen in libdl.so.2, so that library has to be among those
// that are needed (CMake: tilewright_old_glibc). A new one reads the file as it
// does any other; with an older one than 2.34, or none, it is empty.

#include <features.h>

#if defined(__GLIBC_PREREQ) && (defined(__x86_64__) || defined(__aarch64__))
#if __GLIBC_PREREQ(2, 34)
#define TILEWRIGHT_NEW_GLIBC
#endif
#endif

#ifdef TILEWRIGHT_NEW_GLIBC

#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define BASE_VERSION "GLIBC_2.2.5"
#else
#define BASE_VERSION "GLIBC_2.17"
#endif

// Defines `symbol` for this library alone, as new_NAME: headers have declared
// most of them with another visibility.
#define NEW(result, name, symbol, parameters)                                  \
  extern "C" __attribute__((visibility("hidden")))                             \
  result new_##name parameters __asm__(symbol);                                \
  result new_##name parameters

// `name` is old_NAME of the first version that there was.
#define OLD(result, name, parameters)                                          \
  extern "C" result old_##name parameters;                                     \
  __asm__(".symver old_" #name "," #name "@" BASE_VERSION)

OLD(void *, dlopen, (const char *, int));
OLD(void *, dlsym, (void *, const char *));
OLD(int, dlclose, (void *));
OLD(char *, dlerror, ());
OLD(int, dladdr, (const void *, Dl_info *));
OLD(int, pthread_mutex_trylock, (pthread_mutex_t *));
OLD(int, pthread_mutex_timedlock, (pthread_mutex_t *, const timespec *));
OLD(double, exp2, (double));
OLD(double, log2, (double));

#undef OLD

NEW(void *, dlopen, "dlopen", (const char *file, int mode)) {
  return old_dlopen(file, mode);
}
NEW(void *, dlsym, "dlsym", (void *handle, const char *name)) {
  return old_dlsym(handle, name);
}
NEW(int, dlclose, "dlclose", (void *handle)) { return old_dlclose(handle); }
NEW(char *, dlerror, "dlerror", ()) { return old_dlerror(); }
NEW(int, dladdr, "dladdr", (const void *address, Dl_info *info)) {
  return old_dladdr(address, info);
}

NEW(int, pthread_mutex_trylock, "pthread_mutex_trylock",
    (pthread_mutex_t * mutex)) {
  return old_pthread_mutex_trylock(mutex);
}

NEW(double, exp2, "exp2", (double x)) { return old_exp2(x); }
NEW(double, log2, "log2", (double x)) { return old_log2(x); }

// What is left until `deadline` of `clock`, from now on of the system's clock.
static timespec toSystemClock(clockid_t clock, const timespec &deadline) {
  constexpr long kNanoseconds = 1000000000;
  if (clock == CLOCK_REALTIME)
    return deadline;
  timespec now, made;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &made);
  made.tv_sec += deadline.tv_sec - now.tv_sec;
  made.tv_nsec += deadline.tv_nsec - now.tv_nsec;
  if (made.tv_nsec < 0) {
    made.tv_nsec += kNanoseconds;
    --made.tv_sec;
  } else if (made.tv_nsec >= kNanoseconds) {
    made.tv_nsec -= kNanoseconds;
    ++made.tv_sec;
  }
  // A deadline that is over long since is over, and no invalid time.
  return made.tv_sec < 0 ? timespec{0, 0} : made;
}

NEW(int, pthread_mutex_clocklock, "pthread_mutex_clocklock",
    (pthread_mutex_t * mutex, clockid_t clock, const timespec *deadline)) {
  timespec until = toSystemClock(clock, *deadline);
  return old_pthread_mutex_timedlock(mutex, &until);
}
NEW(int, pthread_cond_clockwait, "pthread_cond_clockwait",
    (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock,
     const timespec *deadline)) {
  timespec until = toSystemClock(clock, *deadline);
  return pthread_cond_timedwait(condition, mutex, &until);
}

// The structures are the kernel's on these processors.
NEW(int, stat, "stat", (const char *path, struct stat *found)) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, found, 0));
}
NEW(int, fstat, "fstat", (int file, struct stat *found)) {
  return static_cast<int>(syscall(SYS_fstat, file, found));
}

// Whether there is one thread; to be safe there never is.
extern "C" __attribute__((visibility("hidden"))) char
    new_single_threaded __asm__("__libc_single_threaded");
char new_single_threaded = 0;

NEW(void, throw_bad_array_new_length, "_ZSt28__throw_bad_array_new_lengthv",
    ()) {
#ifdef __cpp_exceptions
  throw std::bad_array_new_length();
#else
  std::abort();
#endif
}

// std::condition_variable::wait(std::unique_lock<std::mutex> &)
NEW(void, wait, "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
    (std::condition_variable * condition, std::unique_lock<std::mutex> *lock)) {
  pthread_cond_wait(condition->native_handle(), lock->mutex()->native_handle());
}

#endif
