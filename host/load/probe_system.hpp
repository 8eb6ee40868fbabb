// What of a probe each system does in its own way.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/child_process.hpp"
#include "host/load/probe.hpp"

namespace enginehost::load {

// Runs the helper once. With `audit`, the loader is listened to by that library, whose lines bear
// `audit_nonce`.
Result<ChildOutcome> run_helper(const ProbeRequest& request, const std::string& nonce,
                                const std::filesystem::path& audit = {}, const std::string& audit_nonce = {});

// Has the loader itself tell in a second run which search failed, where it can be made to tell.
void ask_loader(const ProbeRequest& request, Diagnosis& diagnosis);

// How often the kernel has killed for want of memory among the processes that this one is counted with, where
// it counts that.
std::optional<std::int64_t> count_oom_kills();

// What ended the probe.
enum class Ending { crash, bus_error, killed, alarm };
Ending ending_of(int signal);

// Whether this is how a launcher (an emulator, a shell) reports a signal of its child: 128 + number.
bool is_reported_signal(int number);

}  // namespace enginehost::load
