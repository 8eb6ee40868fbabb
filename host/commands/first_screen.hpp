// The first screen of engine-info: this machine in at most three lines, and one row per engine.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "host/commands/screen.hpp"
#include "host/context/open_context.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::commands {

// The result that a request for an engine would have. All texts are printable and on one line.
struct EngineRow {
  enum class State { opens, fallback, none };
  State state = State::none;
  std::string engine;
  std::string build;     // "1.27.0 cpu"; "none"
  std::string download;  // "installed", "built in", "261 MiB"
  std::string reason;  // why a better build, or any, is out of reach: "2.11.0 cu130: needs driver 580.65.06"
};

// Returns the row of a plan. `download` returns the text for the chosen build.
EngineRow row_of(const resolve::Plan& plan,
                 const std::function<std::string(const manifest::Build&)>& download);

// Returns the machine in at most three lines: system, processor and memory; GPUs and driver, or why there is
// none.
std::vector<std::string> machine_lines(const platform::Platform& platform, std::size_t width);

// Returns the rows as a table with its heading. Reasons take at most two lines.
std::string engine_table(const std::vector<EngineRow>& rows, const Screen& screen);

// Decides for every engine of the catalog, as an open does. Downloads nothing and asks nobody. With
// `engines` false, only the machine is shown: nothing can be decided without the configuration.
std::string first_screen(open::OpenContext& context, const Screen& screen, bool engines);

}  // namespace enginehost::commands
