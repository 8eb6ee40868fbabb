#include "base/version.hpp"
#include "host/resolve/checks.hpp"
#include "host/resolve/nvidia_rules.hpp"

namespace enginehost::resolve {
namespace {

constexpr std::string_view servers = "sbsa-linux", jetsons = "aarch64-linux";
constexpr std::string_view first_unified_l4t = "38", first_unified_toolkit = "13.0";

std::string kind_of(std::string_view target) {
  if (target == servers) return "an arm64 server (CUDA for sbsa-linux)";
  if (target == jetsons) return "a Jetson (CUDA for aarch64-linux)";
  return "CUDA for " + std::string(target);
}

bool is_unified(const Jetson& jetson) { return compare_versions(jetson.l4t, first_unified_l4t) >= 0; }

// Returns a Jetson's answer. From L4T 38 on a Jetson runs server builds of CUDA 13. NVIDIA does not document
// what builds for older Jetsons do there.
Answer on_jetson(const Jetson& jetson, const manifest::CudaRequirement& cuda) {
  if (cuda.target == servers && compare_versions(cuda.toolkit, first_unified_toolkit) < 0) return Answer::no;
  if (jetson.l4t.empty()) return Answer::unknown;
  if (cuda.target == servers) return is_unified(jetson) ? Answer::yes : Answer::no;
  return is_unified(jetson) ? Answer::unknown : Answer::yes;
}

}  // namespace

std::optional<Jetson> jetson_of(const platform::Platform& machine) {
  const auto& hardware = machine.cuda.hardware;
  if (!hardware.is_known() || !hardware.value().starts_with("tegra")) return std::nullopt;
  constexpr std::string_view before_release = ", L4T ";
  const std::string& text = hardware.value();
  const std::size_t at = text.find(before_release);
  if (at == std::string::npos) return Jetson{};
  const std::size_t begin = at + before_release.size();
  return Jetson{text.substr(begin, text.find(',', begin) - begin)};
}

void check_cuda_target(const manifest::Build& build, const platform::Platform& machine,
                       CheckFindings& findings) {
  if (build.os != "linux" || build.arch != "aarch64" || !build.requires_.cuda) return;
  const manifest::CudaRequirement& cuda = *build.requires_.cuda;
  const auto& hardware = machine.cuda.hardware;
  const auto jetson = jetson_of(machine);
  if (cuda.target.empty()) {
    // Most builds for arm64 are for servers. On a server a missing target is no problem.
    if (jetson)
      findings.note_unknown([&] {
        return unanswered("CUDA for this Jetson",
                          "the manifest does not say for which arm64 machines the build is");
      });
    return;
  }
  const auto requirement = [&] { return kind_of(cuda.target); };
  if (hardware.is_unknown() || (cuda.target != servers && cuda.target != jetsons)) {
    findings.note_unknown([&] {
      return unanswered(requirement(), hardware.is_unknown()
                                           ? hardware.why()
                                           : "this version of EngineHost does not know the target");
    });
    return;
  }
  const Answer answer = jetson ? on_jetson(*jetson, cuda) : cuda.target == servers ? Answer::yes : Answer::no;
  findings.note(answer, "EH-S21", [&] {
    if (answer == Answer::unknown)
      return unanswered(requirement(), jetson->l4t.empty()
                                           ? "the release of Linux for Tegra is unknown"
                                           : "L4T " + jetson->l4t + " takes builds for servers");
    const std::string observed =
        jetson ? "a Jetson (" + hardware.value() + ")"
               : "no Jetson" + (hardware.is_known() ? " (" + hardware.value() + ")" : "");
    Check check = reported(requirement(), observed, hardware.source());
    if (answer == Answer::no)
      check.evidence = {{"required", requirement(), "manifest"}, {"found", observed, hardware.source()}};
    return check;
  });
}

}  // namespace enginehost::resolve
