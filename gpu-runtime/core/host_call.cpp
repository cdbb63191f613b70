// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of a host program: its tensors, and its first error; see host_api.h.

#include "core/host_api.h"

#include <cstdlib>

using namespace tilewright::runtime;

tw_view::~tw_view() {
  if (staged)
    std::free(mapped);
}

CallViews::Place *CallViews::find(const tw_view *view) {
  auto in = [&](Place *places, size_t count) -> Place * {
    // Of unrelated memory, perhaps: as numbers.
    uintptr_t begin = reinterpret_cast<uintptr_t>(places), at = reinterpret_cast<uintptr_t>(view);
    if (at < begin || at - begin >= count * sizeof(Place))
      return nullptr;
    Place &place = places[(at - begin) / sizeof(Place)];
    return place.view && &*place.view == view ? &place : nullptr;
  };
  if (Place *place = in(first, kFirst))
    return place;
  for (size_t i = 0; i < more.size(); ++i)
    if (Place *place = in(more[i].get(), sizeOf(i)))
      return place;
  return nullptr;
}

tw_view *CallViews::add(View view) {
  if (!unused && fresh == end) {
    auto places = std::make_unique<Place[]>(sizeOf(more.size()));
    more.push_back(std::move(places));
    fresh = more.back().get();
    end = fresh + sizeOf(more.size() - 1);
  }
  Place &place = unused ? *unused : *fresh++;
  if (&place == unused)
    unused = place.nextUnused;
  tw_view &result = place.view.emplace();
  result.view = std::move(view);
  return &result;
}

void CallViews::remove(const tw_view *view) {
  Place &place = *find(view);
  place.view.reset();
  place.nextUnused = unused;
  unused = &place;
}

void tw_context::record(Status status) {
  if (error.isOk() && !status.isOk())
    error = std::move(status);
}

tw_view *tw_context::own(View view) {
  return views.add(std::move(view));
}

bool tw_context::isLive(const tw_view *view, const char *where) {
  if (views.has(view))
    return true;
  record(internalError(std::string(where) + ": the host program passed " +
                       (view ? "a tensor that it has released" : "no tensor")));
  return false;
}
