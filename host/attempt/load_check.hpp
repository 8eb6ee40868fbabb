// Decides whether a build will load: by a proof on record, or by the static check and a probe in a child
// process.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/attempt/attempt.hpp"
#include "host/attempt/remember.hpp"
#include "host/load/in_process/load.hpp"
#include "host/load/probe.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::open {

// The inputs of all parts of one attempt; they outlive the parts.
struct AttemptParts {
  OpenContext& context;
  const std::vector<std::string>& devices;  // that must be there
  const AttemptOptions& options;
  AttemptLog& log;
};

// Returns the lowest ENGINE_LOG_* level that is wanted from the plugin's log.
std::int32_t log_level(const AttemptParts& attempting);

// The checks of one build. May run more than once. Use from one thread.
class LoadCheck {
 public:
  explicit LoadCheck(const AttemptParts& attempting) : parts_(attempting) {}

  // Returns true if the record of an earlier success still describes these bytes on this machine. Repeats the
  // warnings of that record.
  bool by_record(const cache::Installed& installed, const manifest::Build& build);
  // Takes the load order and the warnings from a cached decision.
  void by_cached_decision(const CachedDecision& decision);
  // Checks the files, then probes them in a child process unless `without_probe`. Executes nothing in this
  // process. `hinted`: the probe time that the manifest suggests.
  Result<void> check_and_probe(const cache::Installed& installed, bool without_probe,
                               std::chrono::seconds hinted);
  // Repeats the static check beside other open engines, because a proven build was proven alone.
  Result<void> beside_others(const cache::Installed& installed);
  // Fails with EH-L17 if a failed load left a library in this process that would replace one of the build.
  Result<void> beside_failed_load_libraries(const cache::Installed& installed) const;

  // Explains a failure by the files and by the machine. Runs the static check now if it was skipped.
  Diagnosis explained(Diagnosis failure, const cache::Installed& installed);

  // Adds a warning that holds as long as the proof, and is repeated at every open that uses the proof.
  void note(Diagnosis warning);

  load::LoadRequest load_request(const cache::Installed& installed) const;
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
  std::vector<load::Library> opened_first() const;
  std::vector<load::Library> libraries_in(const Json& facts) const;
  Result<void> probe(const cache::Installed& installed, std::chrono::seconds hinted);
  void add_who_chose_probe(Diagnosis& diagnosis) const;
  static void add_whose_option(const cache::Installed& installed, Diagnosis& failure);
  std::pair<std::chrono::seconds, std::string> allowed_deadline(std::chrono::seconds hinted) const;
  void set_deadline(load::ProbeRequest& request, std::chrono::seconds hinted) const;
  void set_memory(load::ProbeRequest& request) const;

  const AttemptParts& parts_;
  std::optional<preflight::Spec> spec_;  // large, and rarely needed
  std::vector<std::filesystem::path> load_order_, via_program_rpath_, depends_on_;
  bool checked_whole_ = false;
  std::vector<load::Library> own_;
  Json probe_facts_ = Json::object();
  std::optional<Diagnosis> crashed_once_;
};

}  // namespace enginehost::open
