// engine-info: describes this machine, decides which build of an engine fits it, opens it, and explains
// failures. tools/commands adds --bench and --from-index.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/attempt/attempt.hpp"
#include "host/commands/derived_builds.hpp"
#include "host/context/open_context.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace enginehost::commands {

struct Measured {
  Json document;                     // the member "bench"
  std::string text;                  // the part of the report
  std::optional<Diagnosis> failure;  // of the picture; the engine is open
};

// The measurement of --bench. Without the tools it is never asked for.
struct Measurement {
  std::function<bool()> asked = [] { return false; };
  std::function<Result<void>()> check;  // before anything is opened
  std::function<Measured(open::OpenContext&, open::Opened&)> run;
};
using AddMeasurement = Measurement (*)(CLI::App& app, const char* group);

// Runs the program and returns its status. `add_bench` and `add_derived` may be null.
int run_engine_info(int argc, char** argv, AddMeasurement add_bench, AddDerivedBuilds add_derived);

}  // namespace enginehost::commands
