// Asking an open engine again whether a device works, and opening it again when it was lost.
#pragma once
#include <string>

#include <mutex>

#include "host/load/in_process/check.hpp"
#include "host/open/attempt.hpp"

namespace enginehost::open {

// load::check_device() on the device of that name, or the first. A device that is found to be lost is opened
// again by making the plugin's engine again in this process; where that works, the new engine takes the place
// of the old one, whose models and tensors stay valid but go on failing, and listeners are told that the
// device is back. EH-S09 when there is no such device; otherwise as load::check_device(), with "reopening"
// when opening again failed too. One thread at a time for an engine; others may read
// `opened.engine` under `readers`, which is held only while another takes its place.
Result<load::DeviceCheck> check_device(Opened& opened, const std::string& device,
                                       const load::CallOptions& options = {}, std::mutex* readers = nullptr);

}  // namespace enginehost::open
