#include "base/version_specifier.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"

namespace enginehost {
namespace {

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string_view without_label(std::string_view version) { return version.substr(0, version.find('+')); }

std::string_view without_v(std::string_view version) {
  if (version.starts_with('v') || version.starts_with('V')) version.remove_prefix(1);
  return version;
}

// Returns the part before the marks: "1.0." of "1.0.post1", "1.0.1" of "1.0.1rc1".
std::string_view release_of(std::string_view version) {
  version = without_v(version);
  return version.substr(0, std::min(version.find_first_not_of("0123456789.!"), version.size()));
}

// Returns "1.20" for "1.20.1"; empty if there is only one number.
std::string_view series_of(std::string_view version) {
  std::string_view release = release_of(version);
  while (release.ends_with('.')) release.remove_suffix(1);
  const std::size_t dot = release.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : release.substr(0, dot);
}

bool is_same(std::string_view version, std::string_view wanted) {
  return compare_versions(version, wanted) == 0 &&
         (local_label(wanted).empty() || local_label(version) == local_label(wanted));
}

bool is_of_same_release(std::string_view version, std::string_view wanted) {
  return compare_versions(release_of(without_label(version)), release_of(wanted)) == 0;
}

}  // namespace

VersionSpecifier::VersionSpecifier(std::string_view text) {
  if (text.empty()) return;
  const std::vector<std::string> parts = split(text, ',');
  for (const std::string& part : parts) {
    problem_ = read(trim(part), parts.size() == 1);
    if (problem_.empty()) continue;
    conditions_.clear();
    return;
  }
}

std::string VersionSpecifier::read(std::string_view part, bool is_only_one) {
  if (part.empty()) return "a condition is empty";
  const std::size_t length = std::min(part.find_first_not_of("<>=!~"), part.size());
  const std::string_view sign = part.substr(0, length);
  std::string_view version = trim(part.substr(length));
  if (version.empty()) return quoted(part) + " names no version";
  struct KnownOperator {
    std::string_view sign;
    Relation relation;
  };
  constexpr KnownOperator known[] = {
      {"", Relation::begins_with}, {"==", Relation::equal},      {"!=", Relation::different},
      {">=", Relation::least},     {"<=", Relation::most},       {">", Relation::above},
      {"<", Relation::below},      {"~=", Relation::compatible}, {"===", Relation::text}};
  const auto* const found = std::find_if(std::begin(known), std::end(known),
                                         [&](const KnownOperator& one) { return one.sign == sign; });
  if (found == std::end(known)) return quoted(sign) + " is no comparison operator";
  Relation relation = found->relation;
  if (relation == Relation::begins_with && !is_only_one)
    return quoted(part) + " is one of several conditions and has no comparison operator";
  if (relation == Relation::text) {
    conditions_.push_back({relation, std::string(version)});
    names_prerelease_ = names_prerelease_ || is_prerelease(version);
    return {};
  }
  const bool any_refinement = version.ends_with(".*");
  if (any_refinement) {
    if (relation != Relation::equal && relation != Relation::different && relation != Relation::begins_with)
      return quoted(part) + ": \".*\" goes with == and != only";
    relation = relation == Relation::different ? Relation::differs_from_prefix : Relation::begins_with;
    version.remove_suffix(2);
  }
  version = without_v(version);
  if (!is_version(version)) return quoted(version) + " is no version";
  if (any_refinement && release_of(version) != version)
    return quoted(part) + ": only numbers may precede \".*\"";
  if (relation == Relation::compatible && series_of(version).empty())
    return quoted(part) + ": \"~=\" needs at least two numbers";
  const bool is_exact =
      relation == Relation::equal || relation == Relation::different || relation == Relation::begins_with;
  if (!is_exact && !local_label(version).empty())
    return quoted(part) + ": the part after \"+\" has no order, so it goes with == and != only";
  conditions_.push_back({relation, std::string(version)});
  const bool wants_it = relation != Relation::different && relation != Relation::differs_from_prefix;
  names_prerelease_ = names_prerelease_ || (wants_it && is_prerelease(version));
  return {};
}

bool VersionSpecifier::holds(const Condition& condition, std::string_view version) {
  const std::string_view wanted = condition.version;
  switch (condition.relation) {
    case Relation::begins_with:
      return has_version_prefix(version, wanted) || is_same(version, wanted);
    case Relation::differs_from_prefix:
      return !has_version_prefix(version, wanted);
    case Relation::equal:
      return is_same(version, wanted);
    case Relation::different:
      return !is_same(version, wanted);
    case Relation::least:
      return compare_versions(version, wanted) >= 0;
    case Relation::most:
      return compare_versions(version, wanted) <= 0;
    case Relation::above:
      // A post-release of 1.0 is not above 1.0, and a prerelease of 2.0 is not below 2.0, unless the
      // specifier names one.
      return compare_versions(version, wanted) > 0 &&
             (release_of(wanted) != wanted || !is_of_same_release(version, wanted));
    case Relation::below:
      return compare_versions(version, wanted) < 0 &&
             (is_prerelease(wanted) || !is_prerelease(version) || !is_of_same_release(version, wanted));
    case Relation::compatible:
      return compare_versions(version, wanted) >= 0 && has_version_prefix(version, series_of(wanted));
    case Relation::text:
      return version == wanted;
  }
  return false;
}

bool VersionSpecifier::accepts(std::string_view version) const {
  return problem_.empty() && std::all_of(conditions_.begin(), conditions_.end(),
                                         [&](const Condition& one) { return holds(one, version); });
}

}  // namespace enginehost
