#include "host/resolve/ranking.hpp"

#include <algorithm>
#include <tuple>

#include "base/version.hpp"

namespace enginehost::resolve {
namespace {

int compare(const std::string* left, const std::string* right) {
  if (left == nullptr || right == nullptr) return (left != nullptr) - (right != nullptr);
  if (*left == *right) return 0;
  const auto order = compare_versions(*left, *right);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace

Rank rank_of(const manifest::Build& build, const Request& request, const Checks& checks, CudaFit cuda,
             bool proven) {
  Rank rank;
  const std::string_view device = main_device(build);
  rank.not_forced = request.force.empty() || request.force != build.id;
  rank.flavor_not_wished = !request.flavor.empty() && request.flavor != build.flavor;
  if (!request.device.empty()) {
    for (const std::string& wanted : devices_of(request.device)) {
      if (std::string_view(wanted).substr(0, wanted.find(':')) == device) break;
      ++rank.device_place;
    }
  }
  rank.has_unknown = std::any_of(checks.begin(), checks.end(),
                                 [](const Check& check) { return check.result == Answer::unknown; });
  rank.is_cpu = device == "cpu";
  rank.version = &build.version;
  rank.by_minor_version = cuda == CudaFit::minor_version;
  rank.priority = build.priority;
  if (build.requires_.cuda)
    rank.toolkit = &build.requires_.cuda->toolkit;
  else if (build.requires_.rocm)
    rank.toolkit = &build.requires_.rocm->version;
  rank.not_proven = !proven;
  return rank;
}

bool goes_before(const Rank& left, const Rank& right) {
  const auto first = [](const Rank& rank) {
    return std::tie(rank.not_forced, rank.flavor_not_wished, rank.device_place, rank.has_unknown,
                    rank.is_cpu);
  };
  if (first(left) != first(right)) return first(left) < first(right);
  if (const int order = compare(left.version, right.version); order != 0) return order > 0;
  if (left.by_minor_version != right.by_minor_version) return left.by_minor_version < right.by_minor_version;
  if (left.priority != right.priority) return left.priority > right.priority;
  if (const int order = compare(left.toolkit, right.toolkit); order != 0) return order > 0;
  return left.not_proven < right.not_proven;
}

}  // namespace enginehost::resolve
