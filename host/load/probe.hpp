// Runs a build for the first time in a child process, where it may crash, hang or misreport without harm.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/listeners.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::load {

struct ProbeRequest {
  std::filesystem::path helper;       // enginehost-probe
  std::vector<std::string> launcher;  // a prefix for its command line (ENGINEHOST_PROBE_LAUNCHER)
  LoadRequest load;
  std::vector<std::pair<std::string, std::string>> options;  // for create()
  std::int32_t log_level = 0;  // ENGINE_LOG_*: the level from which the plugin's log is passed on; 0: none
  // The request's devices. If all are processors, only they are tested, otherwise every accelerator and the
  // first processor.
  std::vector<std::string> devices;
  // The kind of device that the build is for ("cuda"); empty: the processor. An engine that lists none of it
  // is asked why.
  std::string accelerator;
  std::vector<std::string> skipped;  // accelerators that are not tested; every_accelerator of wire.hpp: none
  int self_test = ENGINE_SELFTEST_GRAPH;  // level; -1: stop after create
  std::chrono::milliseconds deadline{30'000};
  std::string deadline_source;  // origin of the deadline; for the evidence
  // Bytes that loading and testing may take; 0: no limit. Linux and Windows only.
  std::uint64_t memory_bytes = 0;
  std::string memory_source;  // origin of that limit; for the evidence
  std::optional<CancelToken> cancel;
};

// The result of the engine's self-test on one device.
struct TestedDevice {
  std::string device;                // "cuda:0"
  std::optional<Diagnosis> failure;  // with "device"; nothing: it computed, and the result was right
  bool is_listed = true;  // false: a device that the build is for, and that the engine does not list
  bool is_accelerator = false;
};

struct ProbeResult {
  bool passed = false;  // and at least one device works
  std::string stage;    // the last one entered: "start", "preload", "load", "entry", "create", "selftest",
                        // "unload", "exit"
  std::vector<std::string> stages;
  std::optional<Diagnosis>
      diagnosis;  // when it did not pass: EH-R01 … R06, R10, R14, R15, R19, L12, L13, F08, R11, R12, E01, G..
  std::vector<Diagnosis> warnings;  // EH-R07 (it printed), R08, R09 (process state that it changed), R13
  std::vector<std::pair<std::string, std::string>> facts;  // of the engine
  std::vector<Device> devices;
  std::vector<TestedDevice> tested;
  std::string testing;                    // the accelerator whose self-test began last, and did not end
  std::vector<Library> libraries;         // where each was loaded from, in the child
  std::optional<Diagnosis> crashed_once;  // it passed, but only the second time: the first failure
  std::string error_output;               // the last 64 KiB of the child's standard error
  std::vector<LogLine> log;               // of the plugin, from all attempts; at most 1 MiB from each
  std::chrono::milliseconds duration{0};
  // For a proof's facts: devices, facts, stages, duration, warnings; "tested", the devices that work.
  Json to_json() const;
};

// Returns the limit of memory for requests that set none: the memory of the machine, which no engine takes to
// load, but at least 4 GiB, because threads reserve stacks that they never use. A control group's limit does
// not count: an engine reserves for the processors of the machine. 0 (no limit) on Windows, and if the system
// does not report its memory.
std::uint64_t default_memory_limit();

// Blocks until the child ends or the deadline passes (+ 3 s at most). A crash, or a hang that could be ended,
// is tried once more before it counts. EH-P20 in the diagnosis when the probe cannot be started; EH-P10 when
// canceled. Any thread.
//
// An accelerator whose self-test crashes or hangs does not end the probe: it runs again without that one, and
// after a second such accelerator without any. A hang is not repeated, because it takes the whole deadline.
ProbeResult probe(const ProbeRequest& request);

}  // namespace enginehost::load
