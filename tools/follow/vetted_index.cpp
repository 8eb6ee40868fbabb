#include "tools/follow/vetted_index.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "tools/publish/names.hpp"

namespace enginehost::follow {
namespace {

constexpr std::int64_t seconds_a_day = 86'400;

}  // namespace

void NamedFiles::add(const Json& components) {
  for (const auto& [id, component] : components.as_object())
    for (const Json& artifact : component["artifacts"].as_array())
      for (const Json& source : artifact["sources"].as_array()) {
        const std::string& file = source["package_index"]["file"].as_string();
        const auto name = publish::read_wheel_name(file);
        if (!name) continue;
        digests[file] = artifact["sha256"].as_string();
        versions[name->project].insert(name->version);
      }
}

// Files keep their bytes under one name; an index that shows others was changed, or changes them.
bool VettedIndex::is_changed(const PublishedFile& file) {
  const auto named = named_.digests.find(file.file);
  std::string before = named == named_.digests.end() ? "" : named->second;
  if (const auto project = memory_.seen.find(file.project); before.empty() && project != memory_.seen.end())
    if (const auto seen = project->second.find(file.file); seen != project->second.end())
      before = seen->second.sha256;
  if (before.empty() || before == file.sha256) return false;
  changed_.push_back(diagnose(Code::published_file_changed)
                         .with(Key::project, file.project)
                         .with(Key::version, file.version)
                         .with(Key::file, file.file)
                         .with(Key::expected, before)
                         .with(Key::actual, file.sha256, "the package index"));
  return true;
}

VettedIndex::Age VettedIndex::age_of(const PublishedFile& file) {
  auto& seen = memory_.seen[file.project];
  const auto known = seen.find(file.file);
  if (file.uploaded != 0) {
    // The digest is remembered while others may still withdraw it.
    if (known == seen.end() && now_ - file.uploaded < hold_back_days_ * seconds_a_day)
      seen[file.file] = {file.sha256, now_};
    return {file.uploaded, true};
  }
  if (known == seen.end()) seen[file.file] = {file.sha256, now_};
  return {seen[file.file].since, false};
}

// Leaves the usable files in the release, or returns why there are none.
std::optional<SkippedRelease> VettedIndex::vet(Release& release, const std::string& project) {
  SkippedRelease skipped{project, release.version, {}, 0};
  if (is_prerelease(release.version)) {
    skipped.reason = "it is a pre-release";
    return skipped;
  }
  std::string yanked;
  std::erase_if(release.files, [&](const PublishedFile& file) {
    if (!file.yanked.empty()) yanked = file.yanked;
    return !file.yanked.empty();
  });
  if (release.files.empty()) {
    skipped.reason = "it was yanked: " + yanked;
    return skipped;
  }
  const std::size_t changed_before = changed_.size();
  std::erase_if(release.files, [&](const PublishedFile& file) { return is_changed(file); });
  if (changed_.size() != changed_before) {
    skipped.reason = "a file of it has another digest than before";
    return skipped;
  }
  const std::int64_t held_for = hold_back_days_ * seconds_a_day;
  Age newest{INT64_MIN, true};
  std::erase_if(release.files, [&](const PublishedFile& file) {
    const Age age = age_of(file);
    const bool is_fresh = now_ - age.since < held_for && !named_.digests.contains(file.file);
    if (is_fresh && age.since > newest.since) newest = age;
    return is_fresh;
  });
  const auto known = named_.versions.find(project);
  const bool is_known = known != named_.versions.end() && known->second.contains(release.version);
  // Only the new files wait of a release that the manifest has.
  if (newest.since == INT64_MIN || (is_known && !release.files.empty())) return {};
  skipped.until = newest.since + held_for;
  const std::string since = text_of_time(newest.since);
  skipped.reason = newest.since > now_ ? "its upload time " + since +
                                             " has not come yet: this machine's clock or the index's is wrong"
                   : newest.dated ? "it was uploaded at " + since
                                  : "the index gives no date of it, and it was seen first at " + since;
  return skipped;
}

Result<std::vector<Release>> VettedIndex::releases(const std::string& name) {
  const std::string project = publish::normal_project(name);
  if (const auto known = asked_.find(project); known != asked_.end()) return known->second;
  TRY_ASSIGN(std::vector<Release> releases, all_.releases(name));
  std::vector<Release> usable;
  std::vector<SkippedRelease> skipped;
  for (Release& release : releases) {
    if (auto why = vet(release, project))
      skipped.push_back(std::move(*why));
    else
      usable.push_back(std::move(release));
  }
  if (const auto seen = memory_.seen.find(project); seen != memory_.seen.end() && seen->second.empty())
    memory_.seen.erase(seen);
  skipped_[project] = std::move(skipped);
  return asked_[project] = std::move(usable);
}

const std::vector<SkippedRelease>& VettedIndex::skipped(const std::string& project) const {
  static const std::vector<SkippedRelease> none;
  const auto found = skipped_.find(publish::normal_project(project));
  return found == skipped_.end() ? none : found->second;
}

}  // namespace enginehost::follow
