#include "host/resolve/checks.hpp"

#include "base/version.hpp"

namespace enginehost::resolve {
namespace {

// Returns 1208 for "12.8", and 602 for ">=6.2".
int number_of(std::string_view version) {
  const std::size_t begin = version.find_first_of("0123456789");
  if (begin == std::string_view::npos) return 0;
  int parts[2] = {0, 0};
  std::size_t part = 0;
  for (const char c : version.substr(begin)) {
    if (c == '.' && part == 0)
      part = 1;
    else if (c >= '0' && c <= '9' && parts[part] < 100)
      parts[part] = parts[part] * 10 + (c - '0');
    else
      break;
  }
  return parts[0] * 100 + parts[1];
}

}  // namespace

Rank rank_of(const manifest::Build& build, const Question& question, const CheckFindings& findings,
             const CudaChecked& cuda, bool proven) {
  Rank rank;
  const Request& request = question.request;
  const std::string_view device = main_device(build);
  rank.not_forced = request.force.empty() || request.force != build.id;
  rank.unnamed_prerelease = is_prerelease(build.version) && !question.version.names_prerelease();
  rank.flavor_not_requested = !request.flavor.empty() && request.flavor != build.flavor;
  for (const std::string& wanted : question.devices) {
    const std::string_view kind = std::string_view(wanted).substr(0, wanted.find(':'));
    if (kind == device || (kind == "gpu" && device != "cpu")) break;
    ++rank.device_place;
  }
  rank.has_unknown = findings.has_unknown();
  rank.is_cpu = device == "cpu";
  rank.unserved = cuda.unserved;
  rank.by_minor_version = cuda.fit == CudaFit::minor_version;
  rank.library_not_looked_for = findings.leaves_to_preflight();
  rank.priority = -build.priority;
  if (build.requires_.cuda)
    rank.toolkit = -number_of(build.requires_.cuda->toolkit);
  else if (build.requires_.rocm)
    rank.toolkit = -number_of(build.requires_.rocm->version);
  rank.not_completed = !build.in_place;
  rank.not_proven = !proven;
  return rank;
}

}  // namespace enginehost::resolve
