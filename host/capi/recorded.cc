// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The functions of systole.h that tell what a device recorded.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/capi/device.h"
#include "host/capi/status.h"
#include "host/files/write_file.h"
#include "systole.h"

namespace systole::capi {
namespace {

// Calls `use` with the timeline of a device's last run.
template <typename Use>
systole_status WithTimeline(systole_device* handle, Use&& use) {
  return Guard([&]() -> absl::Status {
    const auto device = Devices().Find(handle);
    if (!device.ok()) return device.status();
    return (*device)->WithTimeline(use);
  });
}

absl::Status CoreAt(const char* what, int64_t index,
                    const std::vector<int32_t>& cores, int32_t* core) {
  if (absl::Status s = CheckPointer(core, "core"); !s.ok()) return s;
  if (absl::Status s = CheckIndex(what, index, cores); !s.ok()) return s;
  *core = cores[index];
  return absl::OkStatus();
}

}  // namespace
}  // namespace systole::capi

using namespace systole::capi;  // NOLINT: what follows is that namespace's C
                                // form

systole_status systole_device_num_layers(systole_device* handle,
                                         int64_t* count) {
  return WithTimeline(handle, [&](const Timeline& timeline) {
    if (absl::Status s = CheckPointer(count, "count"); !s.ok()) return s;
    *count = static_cast<int64_t>(timeline.layers.size());
    return absl::OkStatus();
  });
}

systole_status systole_device_layer(systole_device* handle, int64_t index,
                                    systole_layer* layer) {
  return WithTimeline(handle, [&](const Timeline& timeline) {
    if (absl::Status s = CheckPointer(layer, "layer"); !s.ok()) return s;
    if (absl::Status s = CheckIndex("layer", index, timeline.layers); !s.ok())
      return s;
    *layer = timeline.layers[index];
    return absl::OkStatus();
  });
}

systole_status systole_device_layer_core(systole_device* handle, int64_t index,
                                         int32_t* core) {
  return WithTimeline(handle, [&](const Timeline& timeline) {
    return CoreAt("layer", index, timeline.layer_cores, core);
  });
}

systole_status systole_device_num_events(systole_device* handle,
                                         int64_t* count) {
  return WithTimeline(handle, [&](const Timeline& timeline) {
    if (absl::Status s = CheckPointer(count, "count"); !s.ok()) return s;
    *count = static_cast<int64_t>(timeline.events.size());
    return absl::OkStatus();
  });
}

systole_status systole_device_event(systole_device* handle, int64_t index,
                                    systole_event* event) {
  return WithTimeline(handle, [&](const Timeline& timeline) {
    if (absl::Status s = CheckPointer(event, "event"); !s.ok()) return s;
    if (absl::Status s = CheckIndex("event", index, timeline.events); !s.ok())
      return s;
    *event = timeline.events[index].event;
    return absl::OkStatus();
  });
}

systole_status systole_device_event_core(systole_device* handle, int64_t index,
                                         int32_t* core) {
  return WithTimeline(handle, [&](const Timeline& timeline) {
    return CoreAt("event", index, timeline.event_cores, core);
  });
}

systole_status systole_device_write_profile(systole_device* handle,
                                            const char* format,
                                            const char* path) {
  return WithTimeline(handle, [&](const Timeline& timeline) -> absl::Status {
    namespace profile = systole::profile;
    if (absl::Status s = CheckPointer(format, "format"); !s.ok()) return s;
    if (absl::Status s = CheckPointer(path, "path"); !s.ok()) return s;
    const std::string wanted = format;
    if (wanted == "html")
      return systole::WriteFile(profile::PageOf(timeline.profile), path);
    if (wanted == "perfetto")
      return systole::WriteFile(profile::PerfettoTraceOf(timeline.profile),
                                path);
    if (wanted == "xspace")
      return systole::WriteFile(profile::XSpaceOf(timeline.profile), path);
    if (wanted == "json")
      return systole::WriteFile(profile::JsonOf(timeline.profile), path);
    return absl::InvalidArgumentError(absl::StrCat(
        "format '", wanted, "'; there are html, perfetto, xspace, json"));
  });
}
