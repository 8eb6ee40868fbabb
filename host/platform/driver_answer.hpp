// What the helper's document about NVIDIA's driver means, as facts.
#pragma once
#include <chrono>
#include <string>

#include "base/child_process.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {

// What the lines of `enginehost-probe drivers` say together. Lines without the nonce are not the helper's.
struct DriverAnswer {
  Json document;          // null: not one line was the helper's
  bool complete = false;  // it got to its end
};
DriverAnswer read_driver_answer(const std::string& lines, const std::string& nonce);

// Fills driver_cuda, devices, init, completes driver and library, from the document. Expects the facts found
// in files (driver, hardware, library, visible_devices) to be in `cuda`. `why_incomplete` is why the helper
// did not get to its end: what it told until then stands, the rest is unknown for that reason; empty: it told
// all. Pure.
void apply_driver_answer(const Json& answer, const std::string& why_incomplete, Cuda& cuda);

// The same for a helper that gave no answer: the facts become unknown with this reason.
void apply_no_answer(const std::string& why, Cuda& cuda);

// What became of a helper that ended without a usable answer: "the driver did not answer in 15 s", "the
// driver's library crashed the helper (SIGSEGV)", ...
std::string why_no_answer(const ChildOutcome& outcome, std::chrono::milliseconds deadline);

// "12.2" for 12020.
std::string cuda_version_text(std::int64_t number);

}  // namespace enginehost::platform
