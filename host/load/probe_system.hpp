// System-specific parts of running a probe.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/child_process.hpp"
#include "host/load/probe.hpp"

namespace enginehost::load {

// The bytes that are kept of the probe's channel: enough for lists of libraries and devices and a loader's
// searches.
inline constexpr std::size_t channel_bytes = 16u << 20;

// Runs the probe once. With `audit`, that library observes the loader and marks its lines with `audit_nonce`.
Result<ChildOutcome> run_helper(const ProbeRequest& request, const std::string& nonce,
                                const std::filesystem::path& audit = {}, const std::string& audit_nonce = {});

// True where the probe ends what a build leaves behind (helper/supervise.hpp).
extern const bool probe_ends_descendants;

// Runs the probe a second time, on systems where the loader can report its searches, and adds the failed one.
void ask_loader(const ProbeRequest& request, Diagnosis& diagnosis);

// Returns how often the kernel has killed processes for lack of memory in this process's group, where the
// kernel counts them.
std::optional<std::int64_t> count_oom_kills();

// The way a signal ended the probe.
enum class Ending { crash, bus_error, killed, alarm };
Ending ending_of(int signal);

// True for the exit status with which a launcher (an emulator, a shell) reports a signal of its child: 128 +
// number.
bool is_reported_signal(int number);

}  // namespace enginehost::load
