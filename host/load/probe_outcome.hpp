// Derives a probe's result from the way its process ended.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/diagnosis.hpp"
#include "host/load/probe.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::load {

// `nonce` is the value that was passed to the child; lines without it are not the probe's own.
ProbeResult judge(const ChildOutcome& outcome, const std::string& nonce, const ProbeRequest& request);

// Gives an EH-E01 with a CUDA error number (origin "cuda") the code of its own class (EH-G..). Keeps all
// evidence.
void refine_report(Diagnosis& diagnosis);

// System-specific parts of running a probe.

// The bytes that are kept of the probe's channel: enough for lists of libraries and devices and a loader's
// searches.
inline constexpr std::size_t channel_bytes = 16u << 20;

// Runs the probe once. With `audit`, that library observes the loader and marks its lines with `audit_nonce`.
Result<ChildOutcome> run_helper(const ProbeRequest& request, const std::string& nonce,
                                const std::filesystem::path& audit = {}, const std::string& audit_nonce = {});

// True where the probe ends what a build leaves behind (helper/this_process.hpp).
extern const bool probe_ends_descendants;

// Runs the probe a second time, on systems where the loader can report its searches, and adds the failed one.
void ask_loader(const ProbeRequest& request, Diagnosis& diagnosis);

// Returns how often the kernel has killed processes for lack of memory in this process's group, where the
// kernel counts them.
std::optional<std::int64_t> count_oom_kills();

// The way a signal ended the probe.
enum class Ending { crash, killed, alarm };
Ending ending_of(int signal);

// True for the exit status with which a launcher (an emulator, a shell) reports a signal of its child: 128 +
// number.
bool is_reported_signal(int number);

// The searches of glibc's loader, as reported by a probe that ran again under enginehost_audit.so.

// One name that the loader looked for.
struct LoaderSearch {
  struct Folder {
    std::string path;
    std::string rule;  // "LD_LIBRARY_PATH", "RPATH or RUNPATH", "ld.so.cache", "default", "path"
  };
  std::string name;
  std::string needed_by;        // the file that needs it; "" = the program
  std::vector<Folder> folders;  // in search order, without the hwcaps and tls folders below them
  std::string taken;            // the file that was found; "" = none
};

// Reads the searches of the stages "preload" and "load" from everything that came over a probe's private
// channel. Lines without the nonce are ignored.
std::vector<LoaderSearch> read_loader_searches(const std::string& channel, const std::string& nonce);

// Adds the last unsuccessful search to its diagnosis: "loader_asked_for", "loader_asked_by" and one
// "loader_searched" for each folder, in the loader's order.
void add_loader_search(const std::vector<LoaderSearch>& searches, Diagnosis& diagnosis);

// Checks a loader's or an engine's message against the files. A loader's text names only the first missing
// library and not its user, reports "No such file" for existing files, and uses one text for four causes.

// Returns the better diagnosis of a failed load. A finding of the static check (with its symbol pass) wins
// over the text; "os_said" and the stage are kept. `spec` is the one that preflight had. A text that the
// files do not explain keeps its class and gets "rechecked". Reads files, starts nothing; takes some 10 ms.
Diagnosis recheck(Diagnosis said, const preflight::Spec& spec);

}  // namespace enginehost::load
