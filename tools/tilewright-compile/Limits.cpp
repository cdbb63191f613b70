// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Limits.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Signals.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/// What is said when memory runs out: made beforehand, because then nothing can
/// be allocated.
static char memoryMessage[256];

/// Allocates nothing; any thread may call it, while others go on.
[[noreturn]] static void endWith(const char *message) {
  (void)!::write(STDERR_FILENO, message, std::strlen(message));
  // Removes temporary files.
  llvm::sys::RunInterruptHandlers();
  ::_exit(1);
}

std::optional<uint64_t> parseMemorySize(const std::string &text) {
  llvm::StringRef rest = text;
  uint64_t number = 0;
  if (rest.consumeInteger(10, number) || !number)
    return std::nullopt;
  rest.consume_back_insensitive("b");
  rest.consume_back_insensitive("i");
  unsigned shift = llvm::StringSwitch<unsigned>(rest)
                       .Case("", 0)
                       .CaseLower("k", 10)
                       .CaseLower("m", 20)
                       .CaseLower("g", 30)
                       .CaseLower("t", 40)
                       .Default(64);
  if (shift == 64 || number > UINT64_MAX >> shift)
    return std::nullopt;
  return number << shift;
}

static void setMemoryMessage(const std::string &text) {
  std::strncpy(memoryMessage, text.c_str(), sizeof(memoryMessage) - 1);
}

void reportOutOfMemory(const std::string &tool) {
  setMemoryMessage(tool + ": error: out of memory\n");
  std::set_new_handler([] { endWith(memoryMessage); });
  // malloc, as LLVM calls it.
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endWith(memoryMessage); });
}

/// Bytes of memory in use that no file backs; 0 where the system does not say.
static uint64_t residentBytes() {
  int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  char text[128] = {};
  ssize_t length = ::read(file, text, sizeof(text) - 1);
  ::close(file);
  unsigned long long size = 0, resident = 0, shared = 0;
  if (length <= 0 ||
      std::sscanf(text, "%llu %llu %llu", &size, &resident, &shared) != 3 ||
      shared > resident)
    return 0;
  return (resident - shared) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Allocations fail that lead far beyond `maxBytes` before the thread looks
/// again. The limit counts stacks of threads in full, of which little is used.
static void limitAllocations(uint64_t maxBytes) {
  constexpr uint64_t kStack = 8 << 20, kSlack = 64 << 20;
  rlimit limit;
  if (::getrlimit(RLIMIT_DATA, &limit) != 0)
    return;
  uint64_t most =
      maxBytes + kSlack +
      2 * kStack * std::max(1u, std::thread::hardware_concurrency());
  if (most < maxBytes || most >= limit.rlim_cur)
    return;
  limit.rlim_cur = most;
  ::setrlimit(RLIMIT_DATA, &limit);
}

struct Limits::Watch {
  std::mutex mutex;
  std::condition_variable stop;
  bool stopped = false;
  std::thread thread;

  using Seconds = std::chrono::duration<double>;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
  Seconds timeout;
  uint64_t maxBytes;
  std::string timeoutMessage;

  /// Ends the process where a limit is reached; says how long to wait until the
  /// next look.
  Seconds look() const {
    if (maxBytes && residentBytes() > maxBytes)
      endWith(memoryMessage);
    Seconds wait(maxBytes ? 0.02 : 3600);
    if (!timeout.count())
      return wait;
    Seconds left = timeout - (std::chrono::steady_clock::now() - start);
    if (left.count() <= 0)
      endWith(timeoutMessage.c_str());
    return std::min(wait, left);
  }

  void run() {
    std::unique_lock<std::mutex> lock(mutex);
    while (!stopped)
      stop.wait_for(lock, look());
  }
};

Limits::Limits(std::string tool, double timeoutSeconds, uint64_t maxBytes) {
  reportOutOfMemory(tool);
  if (!timeoutSeconds && !maxBytes)
    return;
  if (maxBytes) {
    setMemoryMessage(tool +
                     llvm::formatv(": error: stopped, because it took more "
                                   "than {0} MiB of memory (--max-memory)\n",
                                   (maxBytes + (1 << 20) - 1) >> 20)
                         .str());
    limitAllocations(maxBytes);
  }
  watch = std::make_unique<Watch>();
  watch->timeout = Watch::Seconds(timeoutSeconds);
  watch->maxBytes = maxBytes;
  watch->timeoutMessage =
      tool +
      llvm::formatv(": error: stopped, because it took longer than {0} s "
                    "(--timeout)\n",
                    timeoutSeconds)
          .str();
  watch->look();
  watch->thread = std::thread([watch = watch.get()] { watch->run(); });
}

Limits::~Limits() {
  if (!watch)
    return;
  {
    std::lock_guard<std::mutex> lock(watch->mutex);
    watch->stopped = true;
  }
  watch->stop.notify_one();
  watch->thread.join();
}
