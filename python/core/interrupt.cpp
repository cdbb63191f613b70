// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ctrl-C while the main thread is in the runtime. Python's own handler only notes it for
// when the call returns, which may be minutes later; so ours stands in front of it as
// long as a call lasts, and wakes a thread that gives the device up:
//
//   SIGINT ─▶ onInterrupt ─ sem_post ─▶ watch: tilewright_stream_synchronize(stream, 0)
//                 └▶ Python's handler        └▶ the device is lost, its kernels stop, and
//                                               the call returns; `unlocked` raises
#include "core.h"

#include <cerrno>
#include <csignal>
#include <functional>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <thread>

namespace tilewright::python {

namespace {

/// What Python knows, and who waits. Of a process: a fork has neither the thread nor the
/// same main thread. Looked up once, since calls may take microseconds, and never
/// destroyed, since the interpreter may be gone by then.
struct Watch {
  nb::object getSignal = nb::module_::import_("signal").attr("getsignal");
  nb::object raises = nb::module_::import_("signal").attr("default_int_handler");
  nb::object number = nb::int_(SIGINT);
  unsigned long mainThread = nb::cast<unsigned long>(
      nb::module_::import_("threading").attr("main_thread")().attr("ident"));

  std::mutex mutex; // of what follows; held while the device is given up
  tilewright_stream *waiting = nullptr;
};

Watch *watch = nullptr;
sem_t arrived;
struct sigaction pythons;

void onInterrupt(int signal) {
  int before = errno;
  sem_post(&arrived);
  pythons.sa_handler(signal);
  errno = before;
}

[[noreturn]] void run(Watch &watch) {
  for (;;) {
    if (sem_wait(&arrived) != 0)
      continue;
    std::lock_guard<std::mutex> lock(watch.mutex);
    if (watch.waiting)
      tilewright_status_release(tilewright_stream_synchronize(watch.waiting, 0));
  }
}

/// With the GIL.
void prepare() {
  static int registered = pthread_atfork(nullptr, nullptr, [] { watch = nullptr; });
  (void)registered;
  if (watch)
    return;
  watch = new Watch;
  sem_init(&arrived, 0, 0);
  std::thread(run, std::ref(*watch)).detach();
}

/// Whether Ctrl-C means KeyboardInterrupt here and now. With the GIL.
bool raisesInterrupts() {
  return PyThread_get_thread_ident() == watch->mainThread &&
         watch->getSignal(watch->number).is(watch->raises);
}

} // namespace

Interruptible::Interruptible(const Stream &stream) {
  prepare();
  if (!raisesInterrupts())
    return;
  {
    std::lock_guard<std::mutex> lock(watch->mutex);
    watch->waiting = stream.handle.get();
  }
  struct sigaction ours = {};
  ours.sa_handler = onInterrupt;
  ours.sa_flags = SA_ONSTACK; // as Python's
  isArmed = sigaction(SIGINT, &ours, &pythons) == 0;
  // Another library's, which knows what to do.
  if ((pythons.sa_flags & SA_SIGINFO) || pythons.sa_handler == SIG_DFL ||
      pythons.sa_handler == SIG_IGN)
    end();
}

void Interruptible::end() {
  if (!isArmed)
    return;
  isArmed = false;
  sigaction(SIGINT, &pythons, nullptr);
  std::lock_guard<std::mutex> lock(watch->mutex);
  watch->waiting = nullptr;
}

void raiseInterrupt(tilewright_status *status) {
  if (!status || PyErr_CheckSignals() == 0)
    return;
  tilewright_status_release(status);
  nb::python_error raised;
  // The device is opened anew where its name is asked for.
  nb::module_ errors = nb::module_::import_("tilewright._errors");
  errors.attr("losses") = errors.attr("losses") + nb::int_(1);
  throw raised;
}

} // namespace tilewright::python
