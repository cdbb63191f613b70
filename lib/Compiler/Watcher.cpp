// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Printing, timing, tracing and reproducers over MLIR's own instruments.

#include "Watcher.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright;

Watcher::Watcher(const WatchOptions &options)
    : options(options) {
  if (options.trace)
    trace = std::make_unique<TraceRecorder>();
  if (options.timing) {
    timing = std::make_unique<DefaultTimingManager>();
    timing->setEnabled(true);
    timing->setDisplayMode(DefaultTimingManager::DisplayMode::Tree);
    // Nothing is printed but by takeTiming.
    timing->setOutput(createOutputStrategy(
        DefaultTimingManager::OutputFormat::Text, llvm::nulls()));
    rootTimer = timing->getRootScope();
  }
  armRecovery();
}

void Watcher::armRecovery() {
  if (!options.crashReproducer.empty())
    llvm::CrashRecoveryContext::Enable();
}

Watcher::~Watcher() {
  if (timing) {
    timers.clear();
    rootTimer.stop();
    timing->clear();
  }
  if (!options.crashReproducer.empty())
    llvm::CrashRecoveryContext::Disable();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

TimingScope &Watcher::currentTimer() {
  auto own = timers.find(std::this_thread::get_id());
  if (own != timers.end() && !own->second.empty())
    return own->second.back();
  return shared.empty() ? rootTimer : *shared.back();
}

void Watcher::begin(StringRef category, const Twine &name) {
  armRecovery();
  if (trace)
    trace->begin(category, name.str());
  if (!timing)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  auto &stack = timers[std::this_thread::get_id()];
  stack.push_back(currentTimer().nest(StringRef(name.str())));
  if (category == kSharedStep)
    shared.push_back(&stack.back());
}

void Watcher::end() {
  armRecovery();
  if (trace)
    trace->end();
  if (!timing)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  auto &stack = timers[std::this_thread::get_id()];
  if (stack.empty())
    return;
  if (!shared.empty() && shared.back() == &stack.back())
    shared.pop_back();
  stack.pop_back();
}

std::string Watcher::takeTiming() {
  if (!timing)
    return "";
  shared.clear();
  timers.clear();
  rootTimer.stop();
  llvm::raw_string_ostream os(timingText);
  timing->setOutput(
      createOutputStrategy(DefaultTimingManager::OutputFormat::Text, os));
  timing->print();
  timing->setOutput(createOutputStrategy(
      DefaultTimingManager::OutputFormat::Text, llvm::nulls()));
  return timingText;
}

//===----------------------------------------------------------------------===//
// Pass managers
//===----------------------------------------------------------------------===//

void Watcher::watch(PassManager &pm) {
  addPrinting(pm);
  if (trace)
    pm.addInstrumentation(trace->instrument());
  if (!options.crashReproducer.empty())
    addReproducer(pm);
  if (timing) {
    std::lock_guard<std::mutex> lock(mutex);
    pm.enableTiming(currentTimer());
  }
}

bool Watcher::isNamed(ArrayRef<std::string> names, StringRef name) {
  if (!llvm::is_contained(names, name))
    return false;
  std::lock_guard<std::mutex> lock(mutex);
  matched.insert(name);
  return true;
}

void Watcher::addPrinting(PassManager &pm) {
  if (options.printAfterFailure)
    pm.enableIRPrinting([](Pass *, Operation *) { return false; },
                        [](Pass *, Operation *) { return true; },
                        /*printModuleScope=*/false,
                        /*printAfterOnlyOnChange=*/false,
                        /*printAfterOnlyOnFailure=*/true, *options.irStream);
  if (options.printBefore.empty() && options.printAfter.empty() &&
      !options.printBeforeAll && !options.printAfterAll)
    return;
  auto wants = [this](ArrayRef<std::string> names, bool all, Pass *pass) {
    StringRef name = pass->getArgument();
    if (!name.empty()) {
      std::lock_guard<std::mutex> lock(mutex);
      seenPasses.insert(name.str());
    }
    return isNamed(names, name) || all;
  };
  pm.enableIRPrinting(
      [this, wants](Pass *pass, Operation *) {
        return wants(options.printBefore, options.printBeforeAll, pass);
      },
      [this, wants](Pass *pass, Operation *) {
        return wants(options.printAfter, options.printAfterAll, pass);
      },
      /*printModuleScope=*/false, /*printAfterOnlyOnChange=*/false,
      /*printAfterOnlyOnFailure=*/false, *options.irStream);
}

void Watcher::aroundStage(bool before, Stage stage, Operation *module) {
  StringRef name = getStageName(stage);
  if (!isNamed(before ? options.printBefore : options.printAfter, name))
    return;
  *options.irStream << "// -----// IR Dump " << (before ? "Before" : "After")
                    << " stage " << name << " //----- //\n";
  module->print(*options.irStream);
  *options.irStream << "\n\n";
}

std::string Watcher::unknownNames() const {
  std::string text;
  for (const auto *names : {&options.printBefore, &options.printAfter})
    for (const std::string &name : *names)
      if (!matched.contains(name))
        text += (text.empty() ? "'" : ", '") + name + "'";
  if (text.empty())
    return "";
  text += ": neither a stage nor a pass that ran; passes that did:";
  for (const std::string &pass : seenPasses)
    text += " " + pass;
  return text;
}

//===----------------------------------------------------------------------===//
// Reproducers
//===----------------------------------------------------------------------===//

bool Watcher::writeReproducer(StringRef text, std::string &error) {
  std::error_code code;
  llvm::raw_fd_ostream os(options.crashReproducer, code);
  if (!code) {
    os << text;
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code) {
    error = "cannot write '" + options.crashReproducer + "': " + code.message();
    return false;
  }
  reproducerWritten = true;
  return true;
}

namespace {
/// Collects what MLIR writes of a failure; the file appears when it is complete.
class Collector : public ReproducerStream {
public:
  Collector(std::string path, std::function<void(StringRef)> finish)
      : path(std::move(path)), finish(std::move(finish)), stream(text) {}
  ~Collector() override { finish(text); }
  StringRef description() override { return path; }
  raw_ostream &os() override { return stream; }

private:
  std::string path, text;
  std::function<void(StringRef)> finish;
  llvm::raw_string_ostream stream;
};
} // namespace

void Watcher::addReproducer(PassManager &pm) {
  pm.enableCrashReproducerGeneration([this](std::string &error) {
    // The file must be writable before its path is told to anybody.
    if (!writeReproducer("", error))
      return std::unique_ptr<ReproducerStream>();
    auto finish = [this](StringRef text) {
      std::string ignored;
      writeReproducer("// tilewright-opt --run-reproducer " +
                          options.crashReproducer + " -o /dev/null\n" +
                          text.str(),
                      ignored);
    };
    return std::unique_ptr<ReproducerStream>(
        std::make_unique<Collector>(options.crashReproducer, finish));
  });
}

LogicalResult Watcher::guard(Location loc, const Twine &command,
                             llvm::function_ref<std::string()> text,
                             llvm::function_ref<LogicalResult()> body,
                             bool onFailure) {
  if (options.crashReproducer.empty())
    return body();
  std::string before = text();
  LogicalResult result = failure();
  llvm::CrashRecoveryContext recovery;
  bool ended = recovery.RunSafelyOnThread([&] { result = body(); });
  crashed |= !ended;
  if (ended && (succeeded(result) || !onFailure))
    return result;
  std::string error;
  if (!reproducerWritten &&
      !writeReproducer(
          ("// " + command + " " + options.crashReproducer + "\n" + before).str(),
          error))
    return emitError(loc) << error;
  if (!ended)
    return emitError(loc) << "the compiler crashed; '"
                          << options.crashReproducer
                          << "' reproduces it, please report it";
  return failure();
}
