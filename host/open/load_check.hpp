// That a build will load: by a proof on record, or by its static check and a probe in a child.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/load/in_process/load.hpp"
#include "host/load/probe.hpp"
#include "host/open/attempt.hpp"
#include "host/open/remember.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::open {

// What all parts of one attempt work with; all of it outlives them.
struct AttemptParts {
  OpenContext& context;
  const std::vector<std::string>& devices;  // that must be there
  const AttemptOptions& options;
  AttemptLog& log;
};

// ENGINE_LOG_*, from which on the plugin's log is wanted.
std::int32_t log_level(const AttemptParts& attempting);

// Of one build, which may be proven more than once. Use from one thread.
class LoadCheck {
 public:
  explicit LoadCheck(const AttemptParts& attempting) : parts_(attempting) {}

  // By the record of an earlier success, if it still speaks of these very bytes on this machine. What the
  // child was seen to do is told again.
  bool by_record(const cache::Installed& installed, const manifest::Build& build);
  // By a cached decision, which holds the load order and the warnings of such a record.
  void by_cached_decision(const CachedDecision& decision);
  // Checks the files, and tries them in a child unless `without_probe`: nothing is executed in this process.
  // `hinted`: how long the build's publisher gives the probe.
  Result<void> check_and_probe(const cache::Installed& installed, bool without_probe,
                               std::chrono::seconds hinted);
  // A proven build was proven alone: beside other engines, its static check is made again.
  Result<void> beside_others(const cache::Installed& installed);
  // EH-L17 where its libraries would be served by what a failed load left in this process.
  Result<void> beside_failed_load_libraries(const cache::Installed& installed) const;

  // What was said of a failure, held against the files and the machine. The static check, which may have been
  // skipped, is made up for where loading failed all the same.
  Diagnosis explained(Diagnosis failure, const cache::Installed& installed);

  // A warning that holds as long as the proof does, and is told again at every open by it.
  void note(Diagnosis warning);

  load::LoadRequest load_request(const cache::Installed& installed) const;
  // The build's libraries, as far as they are known: those that are opened first, those that a probe saw
  // beside them, and what the process holds in place of one.
  const std::vector<load::Library>& own_libraries() const { return own_; }
  // The static check passed the last time it was made.
  bool checked_whole() const { return checked_whole_; }
  // What was learned in the child, and the load order.
  Json facts() const;
  // In the child, whose second try passed.
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

  const AttemptParts& parts_;
  std::optional<preflight::Spec> spec_;  // large, and seldom asked for
  std::vector<std::filesystem::path> load_order_, via_program_rpath_, depends_on_;
  bool checked_whole_ = false;
  std::vector<load::Library> own_;
  Json probe_facts_ = Json::object();
  std::optional<Diagnosis> crashed_once_;
};

}  // namespace enginehost::open
