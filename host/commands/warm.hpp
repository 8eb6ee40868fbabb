// engine-info ENGINE --warm: the driver compiles the build's GPU code now, so that no later run waits for it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "host/attempt/attempt.hpp"

namespace enginehost::commands {

// How long the driver may compile for one GPU. It takes seconds to minutes.
constexpr std::chrono::seconds longest_compilation{15 * 60};

struct Warmed {
  struct Gpu {
    std::string device, name;
    double seconds = 0;
    std::optional<Diagnosis> failure;
  };
  std::vector<Gpu> gpus;          // empty: nothing needs warming
  std::string why;                // it needs none
  std::vector<Diagnosis> unkept;  // EH-G28: the driver does not keep what it compiled
  bool passed() const;
};

// Returns EH-G28 for each variable that keeps the driver from keeping what it compiles: CUDA_CACHE_DISABLE,
// CUDA_CACHE_PATH and CUDA_CACHE_MAXSIZE of this process.
std::vector<Diagnosis> unkept_compilations();

// Runs the engine's self-test with a graph on each GPU of `compiled_for` (resolve::compiled_for). The probe
// did the same in a child process, if the build was not proven.
Warmed warm(open::Opened& opened, const std::vector<std::string>& compiled_for,
            const std::optional<CancelToken>& cancel);

std::string describe(const Warmed& warmed);
Json to_json(const Warmed& warmed);

}  // namespace enginehost::commands
