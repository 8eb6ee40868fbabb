#include "host/preflight/judgments.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "base/version.hpp"
#include "host/linker/loader_rules.hpp"

namespace enginehost::preflight {
namespace {

constexpr const char* record = "the recorded machine";

// Determines the file's C library from its symbol versions or from the names that it needs. Empty: unknown.
std::string libc_of(const binary::BinaryInfo& info, std::string& reported_by) {
  for (const binary::VersionNeed& need : info.version_needs)
    if (need.version.starts_with("GLIBC_")) {
      reported_by = need.version;
      return "glibc";
    }
  for (const std::string& name : info.needed) {
    reported_by = name;
    if (name == "libc.so" || name.starts_with("libc.musl-") || name.starts_with("ld-musl-")) return "musl";
    if (name.starts_with("ld-linux") || name == "libc.so.6") return "glibc";
  }
  return {};
}

std::string newest_glibc(const binary::BinaryInfo& info) {
  std::string newest;
  for (const binary::VersionNeed& need : info.version_needs) {
    const std::string version = need.version.starts_with("GLIBC_") ? need.version.substr(6) : std::string();
    const bool numbered = !version.empty() && version.front() >= '0' && version.front() <= '9';
    if (numbered && !need.weak && (newest.empty() || compare_versions(version, newest) > 0)) newest = version;
  }
  return newest;
}

// Takes the machine's facts from the record; `here` supplies the rest.
linker::Machine machine_of(const platform::Platform& platform, linker::Machine here) {
  if (platform.arch.is_known()) {
    if (platform.arch.value() != here.architecture) here.page_size = 4096;
    here.architecture = platform.arch.value();
    here.bits = 64;
  }
  if (platform.libc.is_known()) {
    here.libc = platform.libc.value().name == "musl" ? linker::Libc::musl : linker::Libc::glibc;
    here.libc_version = platform.libc.value().version;
  }
  here.isa = 0;
  if (platform.cpu.is_known())
    for (const auto& [level, bits] :
         {std::pair("x86-64", 1u), {"x86-64-v2", 3u}, {"x86-64-v3", 7u}, {"x86-64-v4", 15u}})
      if (platform.cpu.value().level == level) here.isa = bits;
  return here;
}

class Judged {
 public:
  Judged(Spec spec, const binary::BinaryInfo& info)
      : spec_(std::move(spec)),
        info_(info),
        recorded_(machine_of(*spec_.platform, spec_.machine)),
        libc_(libc_of(info, reported_by_)) {}

  Report run() {
    judge();
    const std::string other = why_not_here();
    Report report;
    if (!found_.empty() || !other.empty()) {
      report.file = spec_.plugin;
      report.kind = info_.kind;
      report.verdict = found_.empty() ? Verdict::unsure : Verdict::fails;
      report.notes.push_back(
          found_.empty() ? "judged for the recorded machine from the file alone; the libraries that it needs "
                           "were not searched, because " +
                               other
                         : "judged for the recorded machine; the libraries that it needs were not searched");
      report.diagnoses = std::move(found_);
      return report;
    }
    // Its other libraries come from this machine and suit this machine's C library.
    spec_.machine.isa = recorded_.isa;
    report = check(spec_);
    without_this_libc(report);
    report.notes.push_back(
        "system, processor and C library are those of the recorded machine; folders and libraries are those "
        "of this machine, because a record has none");
    return report;
  }

 private:
  void judge() {
    const platform::Platform& platform = *spec_.platform;
    const std::string file = path_text(spec_.plugin);
    if (platform.os.is_known() && platform.os.value() != "linux") {
      found_.push_back(
          std::move(diagnose("EH-F09")
                        .with("file", file)
                        .with("format", info_.sniffed + " for " + info_.machine +
                                            ", and the recorded machine runs " + platform.os.value())
                        .with("built_for", info_.machine)));
      return;
    }
    if (auto refusal = linker::refusal_of(recorded_, info_, file, true)) {
      found_.push_back(std::move(refusal->diagnosis));
      return;
    }
    if (!platform.libc.is_known()) return;
    const platform::Libc& libc = platform.libc.value();
    if (!libc_.empty() && libc.name != libc_) {
      found_.push_back(std::move(diagnose(libc_ == "musl" ? "EH-L28" : "EH-L29")
                                     .with("needed_by", file)
                                     .with("library", reported_by_)
                                     .with("found", libc.name + " " + libc.version, record)));
    } else if (libc_ == "glibc") {
      judge_glibc(libc, file);
    }
  }

  void judge_glibc(const platform::Libc& libc, const std::string& file) {
    const std::string needs = newest_glibc(info_);
    const bool packed = std::any_of(info_.version_needs.begin(), info_.version_needs.end(),
                                    [](const auto& need) { return need.version == "GLIBC_ABI_DT_RELR"; });
    if (!needs.empty() && compare_versions(needs, libc.version) > 0)
      found_.push_back(std::move(diagnose("EH-L08")
                                     .with("file", file)
                                     .with("required_by", file)
                                     .with("needs", "GLIBC_" + needs, "DT_VERNEED")
                                     .with("path", record)
                                     .with("have", libc.name + " " + libc.version, record)));
    else if (packed && compare_versions(libc.version, "2.36") < 0)
      found_.push_back(std::move(diagnose("EH-L10")
                                     .with("file", file)
                                     .with("required_by", file, "DT_VERNEED")
                                     .with("needs", "glibc 2.36")
                                     .with("have", libc.version, record)));
  }

  // Returns why this machine's libraries cannot stand for the recorded machine's; empty: they can.
  std::string why_not_here() const {
    const linker::Machine& here = spec_.machine;
    if (!is_native(binary::Kind::elf)) return "this machine runs another system";
    if (!here.architecture.empty() && here.architecture != info_.machine)
      return "this machine is " + here.architecture;
    if (here.libc != recorded_.libc)
      return std::string("this machine's C library is ") +
             (here.libc == linker::Libc::musl ? "musl" : "glibc");
    return {};
  }

  // The file's C library version was compared with the record's, so findings about this machine's are
  // dropped.
  void without_this_libc(Report& report) const {
    const std::string file = path_text(spec_.plugin);
    std::erase_if(report.diagnoses, [&](const Diagnosis& one) {
      return (one.code == "EH-L08" || one.code == "EH-L10") && one.value("required_by") == file &&
             spec_.platform->libc.is_known();
    });
    if (report.diagnoses.empty()) report.verdict = Verdict::loads;
  }

  Spec spec_;
  const binary::BinaryInfo& info_;
  linker::Machine recorded_;
  std::string reported_by_, libc_;
  std::vector<Diagnosis> found_;
};

}  // namespace

Report check_for_record(Spec spec, const binary::BinaryInfo& info) {
  return Judged(std::move(spec), info).run();
}

}  // namespace enginehost::preflight
