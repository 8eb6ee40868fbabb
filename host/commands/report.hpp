// The reports of engine-info: everything about the machine, and the result of a request.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/installations/in_place.hpp"
#include "host/open/open.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::commands {

// Returns why the catalog lists no engine, for people.
std::string why_no_engine_is_known(open::OpenContext& context);

// Returns every fact about the machine with its source, the known engines, the installed and the quarantined
// builds, and every setting.
std::string machine_report(open::OpenContext& context);
// Returns the same as a document. `broken`: why the configuration was not used.
Json machine_document(open::OpenContext& context, const std::optional<Diagnosis>& broken = {});

// The result of a request. The diagnosis of a failure is printed between the parts.
struct OutcomeReport {
  std::string result;
  std::string builds;  // the builds that were considered, or their number
};

// Returns the report. `explain`: every check of every candidate. `verbose`: every library, and whole paths
// and ids. `recorded`: the file of the recorded machine that was decided for, or empty.
OutcomeReport outcome_report(open::OpenContext& context, const open::Outcome& outcome, bool explain,
                             bool verbose, const std::string& recorded);

// Returns the better builds that were not taken, one line each, and the requested flavor if another one was
// taken. `explains`: the flags or the command that show the reason.
std::string not_taken(const resolve::Plan& plan, const std::string& flavor, const std::string& explains);

// The result that a request for an engine would have. All texts are printable and on one line.
struct EngineRow {
  enum class State { opens, fallback, none };
  State state = State::none;
  std::string engine;
  std::string build;     // "1.27.0 cpu"; "none"
  std::string download;  // "installed", "built in", "261 MiB"
  std::string note;      // what an open would do first: "asks: license NVIDIA-CUDA-EULA"
  std::string reason;  // why a better build, or any, is out of reach: "2.11.0 cu130: needs driver 580.65.06"
};

// Returns the plan of each engine of the catalog, with what would stop an open of it (open::foresee()). Asks
// no server and no person. Errors: those of open::decide(); EH-P01 if policy forbids what the command line
// names.
Result<std::vector<resolve::Plan>> plans_of_engines(open::OpenContext& context);

// Returns {"state": "opens", "asks" or "none", "build", …}: the facts of the row for a document.
Json to_json(const resolve::Plan& plan);

// Returns the row of such a plan. `download` returns the text for the chosen build.
EngineRow row_of(const resolve::Plan& plan,
                 const std::function<std::string(const manifest::Build&)>& download);

// Returns the machine in at most three lines: system, processor and memory; GPUs and driver, or why there is
// none. `use`: what may use a GPU of another maker than NVIDIA ("--flavor openvino of onnxruntime may use
// it"); empty: no engine build does.
std::vector<std::string> machine_lines(const platform::Platform& platform, std::size_t width,
                                       const std::string& use = {});

// Returns the rows as a table with its heading. Note and reason take at most two lines together.
std::string engine_table(const std::vector<EngineRow>& rows, const Screen& screen);

// Returns the machine, and what an open of each engine would do. Downloads nothing and asks nobody. With
// `engines` false, only the machine is shown: nothing can be decided without the configuration.
std::string first_screen(open::OpenContext& context, const Screen& screen, bool engines);

// A requested place, or a usual one.
struct SeenInstallation {
  std::filesystem::path path;
  std::string source;  // "--installation", "CONDA_PREFIX", "the system's libraries"
  bool asked_for = false;
  Result<installations::Installation> content;
  std::vector<std::shared_ptr<const manifest::Manifest>> builds;  // one per runtime of the content
};

// Returns every requested place, and the usual places that contain something. Reads files; runs nothing.
std::vector<SeenInstallation> look_for_installations(open::OpenContext& context);

Json to_json(const std::vector<SeenInstallation>& seen);
std::string describe(const std::vector<SeenInstallation>& seen);

}  // namespace enginehost::commands
