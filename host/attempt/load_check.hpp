// Decides whether a build will load: by a proof on record, or by the static check and a probe in a child
// process.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnosis.hpp"
#include "cache/store.hpp"
#include "host/attempt/attempt.hpp"
#include "host/attempt/build_devices.hpp"
#include "host/attempt/loaded_before.hpp"
#include "host/context/open_context.hpp"
#include "host/load/in_process/load.hpp"
#include "host/platform/platform.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::open {

// Facts that the attempt learned about the build.
struct Basis {
  const cache::Installed* installed = nullptr;
  std::string artifacts, loading;                 // manifest::Build::artifacts_digest(), loading_digest()
  const preflight::Spec* spec = nullptr;          // where libraries were searched; may be null
  std::vector<std::filesystem::path> depends_on;  // preflight::Report::depends_on
  bool works_elsewhere = false;  // passed in the probe: the failure concerns only this program
  bool has_accelerators = false;
};

// The inputs of all parts of one attempt; they outlive the parts.
struct AttemptParts {
  OpenContext& context;
  const std::vector<std::string>& devices;  // that must be there
  const AttemptOptions& options;
  AttemptLog& log;
};

// The checks of one build. May run more than once. Use from one thread.
class LoadCheck {
 public:
  explicit LoadCheck(const AttemptParts& attempting) : parts_(attempting) {}

  // Says what the build is for; accelerator_of(). Call it first, unless the plugin has no manifest.
  void is_for(std::string accelerator) { accelerator_ = std::move(accelerator); }

  // Returns true if the record of an earlier success still describes these bytes on this machine, and says
  // enough about the devices of the request. Repeats the warnings of that record.
  bool by_record(const cache::Installed& installed, const manifest::Build& build);
  // Takes the load order and the warnings from a cached decision.
  void by_cached_decision(const CachedDecision& decision);
  // Checks the files, then probes them in a child process unless `without_probe`. Executes nothing in this
  // process. `hinted`: the probe time that the manifest suggests.
  Result<void> check_and_probe(const cache::Installed& installed, bool without_probe,
                               std::chrono::seconds hinted);
  // Finds the libraries that the process had loaded and that serve in place of the build's. Errors: those of
  // substitutes_for().
  Result<void> beside_loaded_libraries(const cache::Installed& installed);
  // Repeats the static check beside other open engines, because a proven build was proven alone.
  Result<void> beside_others(const cache::Installed& installed);
  // Fails with EH-L17 if a failed load left a library in this process that would replace one of the build.
  Result<void> beside_failed_load_libraries(const cache::Installed& installed) const;

  // Fails if none of the devices works that the build is for, or that the request names. Knows nothing, and
  // passes, without a probe or a record.
  Result<void> check_devices();
  // Returns true if check_devices() failed, or the probe because of a device that the request names.
  bool failed_by_device() const { return failed_by_device_; }
  // Returns true if the devices work that the build is for.
  bool serves_its_purpose() const;
  const BuildDevices& devices() const { return devices_; }

  // Explains a failure by the files and by the machine. Runs the static check now if it was skipped.
  Diagnosis explained(Diagnosis failure, const cache::Installed& installed);

  // Adds a warning that holds as long as the proof, and is repeated at every open that uses the proof.
  void note(Diagnosis warning);

  // Returns the failure as one of this process if the build works alone (failed_beside()); else nothing.
  std::optional<Diagnosis> as_of_this_process(const Diagnosis& failure, const cache::Installed& installed);

  // Leaves out the libraries of the build that substitutes() serve in this process.
  load::LoadRequest load_request(const cache::Installed& installed) const;
  const Substitutes& substitutes() const { return substitutes_; }
  // Returns the known libraries of the build: those opened first, those that a probe saw beside them, and the
  // ones that the process holds instead of them.
  const std::vector<load::Library>& own_libraries() const { return own_; }
  // Returns true if the last static check passed.
  bool checked_whole() const { return checked_whole_; }
  // Returns the facts from the child, and the load order.
  Json facts() const;
  // Returns the crash of a first probe whose repetition passed.
  const std::optional<Diagnosis>& crashed_once() const { return crashed_once_; }
  Basis basis(const cache::Installed& installed, const manifest::Build& build) const;

 private:
  preflight::Spec spec_of(const cache::Installed& installed) const;
  void drop_served(std::vector<Diagnosis>& warnings) const;
  std::vector<load::Library> opened_first() const;
  std::vector<load::Library> libraries_in(const Json& facts) const;
  Result<void> probe(const cache::Installed& installed, std::chrono::seconds hinted);
  void take_devices(load::ProbeResult& result, const cache::Installed& installed);
  void warn_of_devices(load::ProbeResult& result, const cache::Installed& installed);

  const AttemptParts& parts_;
  std::optional<preflight::Spec> spec_;  // large, and rarely needed
  std::vector<std::filesystem::path> load_order_, via_program_rpath_, depends_on_;
  bool checked_whole_ = false, failed_static_check_ = false;
  Substitutes substitutes_;
  std::vector<load::Library> own_;
  Json probe_facts_ = Json::object();
  std::string accelerator_;  // what the build is for; empty: the processor
  BuildDevices devices_;
  bool failed_by_device_ = false;
  std::optional<Diagnosis> crashed_once_;
};

// Adds the time of its scope to the log.
class Stopwatch {
 public:
  Stopwatch(AttemptLog& log, std::string what) : log_(log), what_(std::move(what)) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void leave_out(std::chrono::steady_clock::duration time) { begin_ += time; }
  ~Stopwatch() {
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin_;
    for (auto& [what, milliseconds] : log_.timings_ms)
      if (what == what_) {
        milliseconds += passed.count();
        return;
      }
    log_.timings_ms.emplace_back(std::move(what_), passed.count());
  }

 private:
  AttemptLog& log_;
  std::string what_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Writes the result of an attempt to the history: a failure with its dependencies, or a proof.
//
// Thread safety: one thread at a time, as for OpenContext.

// Records a failure. Returns true if the record is kept, so that the next open chooses another build.
bool remember_failure(OpenContext& context, const Basis& basis, const Diagnosis& failure);

// Returns the record of a build for GPUs that works on the processor only. `facts`: of the probe.
history::Record proof_on_processor(OpenContext& context, const Basis& basis, Json facts);
// Records that the GPUs of the build failed, with that proof if its processor works. Returns as
// remember_failure().
bool remember_device_failure(OpenContext& context, const Basis& basis, const Diagnosis& failure,
                             const std::optional<history::Record>& on_processor);

// Records a proof with the facts of the probe. Records a suspicion instead if the build crashed in the probe
// and passed only the second time. A build that the user disabled and forced stays disabled.
void remember_success(OpenContext& context, const Basis& basis, Json facts,
                      const std::optional<Diagnosis>& crashed_once);

// Adds facts about the machine's GPUs to a CUDA error of an engine.

// Changes EH-G03 to EH-G01 if there is no driver at all. Otherwise adds the driver's version, what it
// supports, and the version that the build's flavor needs. Adds CUDA_VISIBLE_DEVICES to EH-G07 if it hides
// the devices ("visible_devices", "devices") or may do so ("limited_to"). Leaves other diagnoses unchanged.
void add_gpu_facts(const platform::Platform& platform, const cache::Installed& installed,
                   Diagnosis& diagnosis);

}  // namespace enginehost::open
