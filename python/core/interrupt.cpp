// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ctrl-C while the main thread is in the runtime. Python's own handler only notes it for
// when the call returns, which may be minutes later; so ours stands in front of it as
// long as a call lasts, and wakes a thread that gives the device up:
//
//   SIGINT ─▶ onInterrupt ─ sem_post ─▶ watch: tilewright_stream_synchronize(stream, 0)
//                 └▶ Python's handler        └▶ the device is lost, its kernels stop, and
//                                               the call returns; `unlockedOn` raises
#include "core.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
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
  // `signal` wraps these in Python, which takes longer than a short call.
  nb::object getSignal = nb::module_::import_("_signal").attr("getsignal");
  nb::object raises = nb::module_::import_("_signal").attr("default_int_handler");
  nb::object number = nb::int_(SIGINT);
  unsigned long mainThread = nb::cast<unsigned long>(
      nb::module_::import_("threading").attr("main_thread")().attr("ident"));

  std::mutex mutex; // of what follows; held while the device is given up
  tilewright_stream *waiting = nullptr;
  bool isGivenUp = false; // for the call that waits
};

Watch *watch = nullptr;
sem_t arrived;
struct sigaction pythons;

std::atomic<bool> everGivenUp{false};

/// Calls by their number, 0 for none: the one that waits, and the last one that was
/// interrupted. The thread may wake up when another one waits.
std::atomic<uint64_t> calls{0}, current{0}, interrupted{0};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "a signal handler uses them");

void onInterrupt(int signal) {
  int before = errno;
  if (uint64_t call = current) {
    interrupted = call;
    sem_post(&arrived);
  }
  pythons.sa_handler(signal);
  errno = before;
}

[[noreturn]] void run(Watch &watch) {
  for (;;) {
    if (sem_wait(&arrived) != 0)
      continue;
    std::lock_guard<std::mutex> lock(watch.mutex);
    if (!watch.waiting || watch.isGivenUp || interrupted != current)
      continue;
    watch.isGivenUp = everGivenUp = true;
    tilewright_status_release(tilewright_stream_synchronize(watch.waiting, 0));
  }
}

/// In the child of a fork. The main thread may have been in a call.
void forget() {
  watch = nullptr;
  current = 0;
  struct sigaction found;
  if (sigaction(SIGINT, nullptr, &found) == 0 && found.sa_handler == onInterrupt)
    sigaction(SIGINT, &pythons, nullptr);
}

/// With the GIL.
void prepare() {
  static int registered = pthread_atfork(nullptr, nullptr, forget);
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

/// Whether a handler is Python's: not another library's, which knows what to do.
bool isPythons(const struct sigaction &action) {
  return !(action.sa_flags & SA_SIGINFO) && action.sa_handler != SIG_DFL &&
         action.sa_handler != SIG_IGN && action.sa_handler != onInterrupt;
}

} // namespace

Interruptible::Interruptible(const Stream &stream) {
  prepare();
  struct sigaction found;
  if (!raisesInterrupts() || sigaction(SIGINT, nullptr, &found) != 0 || !isPythons(found))
    return;
  pythons = found; // before our handler, which calls it
  {
    std::lock_guard<std::mutex> lock(watch->mutex);
    watch->waiting = stream.handle.get();
    watch->isGivenUp = false;
    current = ++calls;
  }
  struct sigaction ours = {};
  ours.sa_handler = onInterrupt;
  ours.sa_flags = SA_ONSTACK; // as Python's
  isArmed = true;
  if (sigaction(SIGINT, &ours, nullptr) != 0)
    end();
}

bool Interruptible::end() {
  if (!isArmed)
    return isGivenUp;
  isArmed = false;
  sigaction(SIGINT, &pythons, nullptr);
  std::lock_guard<std::mutex> lock(watch->mutex);
  watch->waiting = nullptr;
  current = 0;
  while (sem_trywait(&arrived) == 0)
    ;
  return isGivenUp = watch->isGivenUp;
}

namespace {
/// The device is opened anew where its name is asked for.
void noteLoss() {
  nb::module_ errors = nb::module_::import_("tilewright._errors");
  errors.attr("losses") = errors.attr("losses") + nb::int_(1);
}
} // namespace

bool anyGivenUp() { return everGivenUp; }

void raiseInterrupt(tilewright_status *status, bool isGivenUp) {
  if (!status || PyErr_CheckSignals() == 0) {
    if (isGivenUp) // Python raises at once, or the call was done before
      noteLoss();
    return;
  }
  tilewright_status_release(status);
  nb::python_error raised;
  noteLoss();
  throw raised;
}

} // namespace tilewright::python
