// Checks a device of an open engine again, and reopens a device that was lost.
#pragma once
#include <string>

#include <mutex>

#include "host/attempt/attempt.hpp"
#include "host/load/in_process/check.hpp"

namespace enginehost::open {

// Runs load::check_device() on the device of that name, or on the first device if the name is empty.
//
// A lost device is reopened: the plugin creates a new engine in this process. If that works, the new engine
// replaces the old one, and listeners are notified that the device is back. Models and tensors of the old
// engine stay valid, but keep failing.
//
// Errors: EH-S09 if there is no such device. Otherwise those of load::check_device(), with "reopening" if
// reopening failed too. Thread safety: one thread at a time for an engine. Others may read `opened.engine`
// under `readers`, which is locked only while the engine is replaced.
Result<load::DeviceCheck> check_device(Opened& opened, const std::string& device,
                                       const load::CallOptions& options = {}, std::mutex* readers = nullptr);

}  // namespace enginehost::open
