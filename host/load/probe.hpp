// Running a build for the first time in a child process: what crashes, hangs or lies does it there.
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
#include "host/load/in_process/engine_log.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::load {

struct ProbeRequest {
  std::filesystem::path helper;       // enginehost-probe
  std::vector<std::string> launcher;  // a prefix for its command line (ENGINEHOST_PROBE_LAUNCHER)
  LoadRequest load;
  std::vector<std::pair<std::string, std::string>> options;  // for create()
  std::int32_t log_level = 0;  // ENGINE_LOG_*, from which on the plugin's log is brought; 0: none
  // "cuda:0": must be opened. Empty: the first device of each kind that the engine offers, where one that
  // fails to open is a warning as long as another opens.
  std::vector<std::string> devices;
  int self_test = ENGINE_SELFTEST_GRAPH;  // level; -1: stop after create
  bool unload = true;                     // the stages "unload" and "exit", apart: a crash there is a warning
  std::chrono::milliseconds deadline{30'000};
  std::string deadline_source;  // who set it; for the evidence
  std::optional<CancelToken> cancel;
};

struct ProbeResult {
  bool passed = false;
  std::string stage;  // the last one entered: "start", "preload", "load", "entry", "create", "selftest",
                      // "unload", "exit"
  std::vector<std::string> stages;
  std::optional<Diagnosis>
      diagnosis;  // when it did not pass: EH-R01 … R06, R10, R14, R15, L12, L13, F08, R11, R12, E01, G..
  std::vector<Diagnosis> warnings;  // EH-R07 (it printed), R08, R09 (what it changed in the process), R13,
                                    // devices that did not open
  std::vector<std::pair<std::string, std::string>> facts;  // engine's
  std::vector<Device> devices;
  std::vector<Library> libraries;         // where each was loaded from, in the child
  std::optional<Diagnosis> crashed_once;  // it passed, but only the second time: what happened first
  std::string error_output;               // the last 64 KiB of the child's standard error
  std::vector<LogLine> log;               // of the plugin, of all tries; a mebibyte of each at most
  std::chrono::milliseconds duration{0};
  Json to_json() const;  // for a proof's facts: devices, facts, stages, duration, warnings
};

// Blocks until the child ended or the deadline passed (+ 3 s at most). A crash, and a hang that
// could be ended, is tried once more before it is believed. EH-P20 in the diagnosis when the helper cannot be
// started; EH-P10 when canceled. Any thread.
ProbeResult probe(const ProbeRequest& request);

}  // namespace enginehost::load
