// Why a loader refuses a file or a closure, and how that is reported.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host/linker/linker.hpp"
#include "host/linker/machine.hpp"

namespace enginehost::linker {

// Whether a loader accepts a file that it finds.
struct Refusal {
  std::string why;
  bool fatal = false;  // the loader stops with an error; otherwise it continues its search
  Diagnosis diagnosis;
};

// Returns why the loader would refuse the file; nothing if it accepts it. The checks have the order of
// open_verify and _dl_map_object_from_fd (glibc elf/dl-load.c): a file of another class or machine is
// skipped, every other problem ends the search with an error. `direct` = the requested file.
std::optional<Refusal> refusal_of(const Machine& machine, const binary::BinaryInfo& info,
                                  const std::string& path, bool direct);

// Returns why a file was not taken, in a word or two.
std::string short_reason(const Diagnosis& why);
// Adds a refused file to the closure and returns whether it ends the search. `parent` is the index of the
// library that needs it; -1 = none.
bool reject(Closure& closure, const std::string& name, const std::string& path, int parent, Refusal refusal);
// Returns the paths from the requested file to the object with this index.
std::vector<std::string> chain_to(const Closure& closure, int index);

// How the missing libraries of one system are reported.
struct MissingRules {
  const char* table;  // that names the needed libraries: "DT_NEEDED"
  std::function<Code(const Missing&)> code;
  std::function<bool(const Rejected&, const Missing&)> is_about;
  const char* of;  // before the needer's path: "DT_NEEDED of "
  // Adds where one library was searched. Null: all libraries of a needer are searched in the same folders.
  std::function<void(const Missing&, Diagnosis&)> add_search = nullptr;
};
// Adds the files that end a search (`fatal`), or those that were skipped and that nothing replaced.
void add_rejected(const Closure& closure, const MissingRules& rules, bool fatal,
                  std::vector<Diagnosis>& found);
// Adds the missing libraries that no skipped file explains. Those of one needer share one diagnosis with the
// searched folders. A path was not searched for and has its own.
void add_missing(const Closure& closure, const MissingRules& rules, std::vector<Diagnosis>& found);

// Looks up each DT_VERNEED entry among the DT_VERDEF of the file that serves the name, as glibc
// elf/dl-version.c does (`serving`: name -> index of that object). musl checks no versions when it loads, so
// only the highest versions are recorded there. The check whether packed relocations (DT_RELR) are announced
// is also here, as in glibc.
void check_versions(const Machine& machine, const Reader& reader,
                    const std::unordered_map<std::string, int>& serving, Closure& closure);

// "GLIBC" and "2.34" for "GLIBC_2.34"; the second part is empty if the name is no dotted version of a family.
struct VersionName {
  std::string_view family;
  std::string_view version;
};
VersionName parse_version_name(std::string_view name);

// Returns the number that the text assigns to this name; the last assignment counts. Absent = not set, or no
// number.
std::optional<std::uint64_t> tunable(std::string_view tunables, std::string_view name);

// Returns the bytes that glibc reserves at the start of a process for libraries opened later (elf/dl-tls.c,
// _dl_tls_static_surplus_init): 1664, or the result of the tunables glibc.rtld.nns and
// glibc.rtld.optional_static_tls.
std::uint64_t static_tls_reserve(const Machine& machine, std::string_view tunables);

// Adds to the closure: refused (EH-L19) if its needs exceed the reserve in any process, a doubt if they may.
// musl has no reserve: refused (EH-L29).
void judge_static_tls(const Machine& machine, const Request& request, Reader& reader, Closure& closure);

// Returns GLIBC_TUNABLES at the start of this process, "" = not set. Read once. Thread safety: any thread.
const std::string& loader_tunables_at_start();

// Adds EH-L20 to the closure for such a library. It is a warning where the loader makes the stack executable
// (glibc before 2.41) or does not check (musl). It is refused where the loader refuses it (glibc 2.41 and
// newer, NEWS of 2.41), and a doubt where the stack may be executable from the start.
void judge_executable_stack(const Machine& machine, const Request& request, Reader& reader, Closure& closure);

// The settings at program start, "" = not set.
struct UnsupportedLoaderSettings {
  std::string audit;       // LD_AUDIT
  std::string tunables;    // GLIBC_TUNABLES
  std::string hwcap_mask;  // LD_HWCAP_MASK
};

// Returns the variable or tunable because of which this machine's loader may find other files, "" = none. An
// audit library may name any file; a masked processor feature changes which hwcaps folders are searched. Only
// loading can decide then.
std::string unsupported_setting(const Machine& machine, const UnsupportedLoaderSettings& loader_settings);

// Returns the settings at the start of this process. Thread safety: any thread.
UnsupportedLoaderSettings loader_settings_at_start();

}  // namespace enginehost::linker
