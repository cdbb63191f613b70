// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records slices and writes them; see Trace.h.

#include "Trace.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace tilewright;

namespace json = llvm::json;

void TraceRecorder::begin(StringRef category, std::string name) {
  std::lock_guard<std::mutex> lock(mutex);
  Lane &lane = lanes.try_emplace(std::this_thread::get_id()).first->second;
  if (!lane.number)
    lane.number = lanes.size();
  lane.open.push_back(
      {category, std::move(name), Clock::now(), {}, lane.number});
}

void TraceRecorder::end() {
  Clock::time_point now = Clock::now();
  std::lock_guard<std::mutex> lock(mutex);
  auto lane = lanes.find(std::this_thread::get_id());
  if (lane == lanes.end() || lane->second.open.empty())
    return;
  Slice slice = std::move(lane->second.open.back());
  lane->second.open.pop_back();
  slice.end = now;
  slices.push_back(std::move(slice));
}

std::string TraceRecorder::toJson() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Slice> sorted = slices;
  // Outer slices before those that they contain.
  std::sort(sorted.begin(), sorted.end(), [](const Slice &a, const Slice &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  auto micros = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  std::string text;
  llvm::raw_string_ostream os(text);
  json::OStream out(os, 1);
  out.object([&] {
    out.attribute("displayTimeUnit", "ms");
    out.attributeArray("traceEvents", [&] {
      for (const Slice &slice : sorted)
        out.value(json::Object{{"name", slice.name},
                               {"cat", slice.category},
                               {"ph", "X"},
                               {"pid", 1},
                               {"tid", slice.lane},
                               {"ts", micros(slice.begin - start)},
                               {"dur", micros(slice.end - slice.begin)},
                               {"args", json::Object()}});
      auto name = [&](StringRef what, unsigned lane, std::string text) {
        out.value(json::Object{
            {"name", what},
            {"ph", "M"},
            {"pid", 1},
            {"tid", lane},
            {"args", json::Object{{"name", std::move(text)}}}});
      };
      name("process_name", 0, "tilewright-compile");
      for (unsigned lane = 1; lane <= lanes.size(); ++lane)
        name("thread_name", lane, "thread " + std::to_string(lane));
    });
  });
  os << "\n";
  return text;
}

namespace {
/// Passes as slices. Adaptors, which only hold nested pipelines, have no name.
class TraceInstrumentation : public PassInstrumentation {
public:
  explicit TraceInstrumentation(TraceRecorder &trace) : trace(trace) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (pass->getArgument().empty())
      return;
    std::string name = pass->getArgument().str();
    if (auto symbol = op->getAttrOfType<StringAttr>(
            SymbolTable::getSymbolAttrName()))
      name += " @" + symbol.getValue().str();
    trace.begin("pass", std::move(name));
  }
  void runAfterPass(Pass *pass, Operation *) override { end(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { end(pass); }

private:
  void end(Pass *pass) {
    if (!pass->getArgument().empty())
      trace.end();
  }
  TraceRecorder &trace;
};
} // namespace

std::unique_ptr<PassInstrumentation> TraceRecorder::instrument() {
  return std::make_unique<TraceInstrumentation>(*this);
}
