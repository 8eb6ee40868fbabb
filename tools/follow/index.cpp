#include "tools/follow/index.hpp"

#include <algorithm>
#include <map>

#include "base/version.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/shapes.hpp"
#include "host/transfer/package_index.hpp"
#include "tools/publish/names.hpp"

namespace enginehost::follow {
namespace {

// "2026-11-20T00:00:00.123456Z", as indexes write it; 0 for other text.
std::int64_t upload_time(const std::string& text) {
  std::string whole = text.substr(0, text.find_first_of(".Z+"));
  return manifest::seconds_of_time(whole + "Z").value_or(0);
}

// Returns why a wheel of the page cannot be used; "" if it can.
std::string problem_of(const transfer::ListedFile& listed, const std::optional<publish::WheelName>& name,
                       const std::string& project) {
  if (!manifest::is_file_name(listed.file) || !name) return "its name is no wheel's name";
  if (name->project != project) return "its name is one of " + name->project;
  if (!is_version(name->version)) return "\"" + name->version + "\" is no version";
  if (listed.sha256.empty()) return "the index gives no SHA-256 digest of it";
  if (listed.url.empty()) return "the index gives no address of it, or one that is not on the web";
  if (!manifest::is_digest(listed.sha256)) return "\"" + listed.sha256 + "\" is no SHA-256 digest";
  return {};
}

}  // namespace

transfer::Place place_of(const PublishedFile& file) {
  transfer::Place place;
  place.url = file.url;
  if (const auto path = transfer::path_of_file_url(file.url)) {
    place.url.clear();
    place.path = *path;
  }
  if (file.options) place.options = *file.options;
  place.size = file.size;
  return place;
}

Result<std::vector<Release>> PackageIndex::releases(const std::string& name) {
  const std::string project = publish::normal_project(name);
  for (const auto& [asked, known] : asked_)
    if (asked == project) return known;
  asked_.emplace_back(project, ask(project));
  return asked_.back().second;
}

Result<std::vector<Release>> PackageIndex::ask(const std::string& project) {
  TRY_ASSIGN(transfer::PackageFiles page, transfer::list_package(project, options_, cancel_));
  const auto options = std::make_shared<const transfer::TransferOptions>(std::move(page.options));
  const auto newer = [](const std::string& left, const std::string& right) {
    const auto order = compare_versions(left, right);
    return order != 0 ? order > 0 : left < right;
  };
  std::map<std::string, Release, decltype(newer)> releases(newer);
  for (transfer::ListedFile& listed : page.files) {
    if (!listed.file.ends_with(".whl")) continue;  // a source distribution, or a signature
    const auto name = publish::read_wheel_name(listed.file);
    if (std::string problem = problem_of(listed, name, project); !problem.empty()) {
      left_out_.push_back({project, {}, listed.file, std::move(problem)});
      continue;
    }
    Release& release = releases[name->version];
    release.version = name->version;
    std::string yanked;
    if (listed.yanked) yanked = listed.yanked->empty() ? "no reason given" : *listed.yanked;
    release.files.push_back({project, name->version, listed.file, listed.url, listed.sha256, listed.size,
                             upload_time(listed.uploaded), std::move(yanked), options});
  }
  std::vector<Release> sorted;
  for (auto& [version, release] : releases) {
    if (release.files.size() > most_files_of_release) {
      left_out_.push_back({project,
                           version,
                           {},
                           "it has " + std::to_string(release.files.size()) + " files, and at most " +
                               std::to_string(most_files_of_release) + " are read"});
      continue;
    }
    std::sort(release.files.begin(), release.files.end(),
              [](const PublishedFile& left, const PublishedFile& right) { return left.file < right.file; });
    sorted.push_back(std::move(release));
  }
  return sorted;
}

}  // namespace enginehost::follow
