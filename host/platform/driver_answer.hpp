// Turns the driver query's document about NVIDIA's driver into facts.
#pragma once
#include <chrono>
#include <string>

#include "base/child_process.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {

// The lines that `enginehost-probe drivers` printed, as one document. Lines without the nonce are ignored
// because other code printed them.
struct DriverAnswer {
  Json document;          // null: no line carried the nonce
  bool complete = false;  // the driver query reached its end
};
DriverAnswer read_driver_answer(const std::string& lines, const std::string& nonce);

// Fills driver_cuda, devices and init from the document, and completes driver and library. `cuda` must
// already hold the facts found in files (driver, hardware, library, visible_devices). `why_incomplete` says
// why the driver query did not reach its end; empty: it did. An incomplete query's answers stand, and
// everything it did not reach becomes unknown for that reason. Pure.
void apply_driver_answer(const Json& answer, const std::string& why_incomplete, Cuda& cuda);

// The same for a driver query that gave no answer: its facts become unknown with this reason.
void apply_no_answer(const std::string& why, Cuda& cuda);

// Describes how a driver query ended without a usable answer: "the driver did not answer in 15 s", "the
// driver's library crashed the probe (SIGSEGV)", ...
std::string why_no_answer(const ChildOutcome& outcome, std::chrono::milliseconds deadline);

// "12.2" for 12020.
std::string cuda_version_text(std::int64_t number);

}  // namespace enginehost::platform
