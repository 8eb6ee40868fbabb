#include "tools/follow/needs.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "tools/follow/layout.hpp"
#include "tools/follow/plan.hpp"

namespace enginehost::follow {
namespace {

// NVIDIA's package that has no files: its extras name the components of one toolkit.
constexpr const char* toolkit_project = "cuda-toolkit";
constexpr std::string_view component_start = "nvidia-", runtime_project = "nvidia-cuda-runtime";

// "13.0" of "13.0.96"
std::string short_version(const std::string& version) {
  const std::size_t dot = version.find('.');
  return dot == std::string::npos ? version : version.substr(0, version.find('.', dot + 1));
}

// "nvidia-cuda-runtime" and "nvidia-cuda-runtime-cu12"
bool is_runtime(std::string_view project) {
  return project == runtime_project ||
         (project.starts_with(runtime_project) && project.substr(runtime_project.size()).starts_with("-cu"));
}

bool is_in(const std::string& version, const std::vector<std::string>& ranges) {
  return std::ranges::all_of(ranges, [&](const std::string& range) {
    return range.empty() || (is_range(range) && in_range(version, range));
  });
}

// "2.0" of "==2.0"; another range as it is.
std::string asked_version(const std::string& range) {
  constexpr std::string_view equal = "==";
  return range.starts_with(equal) && range.find(',') == std::string::npos ? range.substr(equal.size())
                                                                          : range;
}

class NeedsReader {
 public:
  NeedsReader(const Target& target, const std::vector<std::string>& others, const Choice& choice,
              WheelReader& reader)
      : target_(target), others_(others), choice_(choice), reader_(reader) {}

  Result<void> add(const Wheel& wheel, const std::vector<std::string>& extras) {
    Target target = target_;
    target.extras = extras;
    for (const Requirement& one : wheel.metadata.requirements) {
      if (!counts(one.project)) continue;
      const std::optional<bool> asked = holds(one.marker, target);
      if (asked == false) continue;
      if (!asked)
        return fail(not_as_planned(
            wheel.published.project, wheel.published.version, wheel.published.file,
            "it requires " + one.project + " under a condition that cannot be decided here: " + one.marker,
            "a condition may depend on the system and the processor only"));
      if (one.project == toolkit_project)
        TRY(add_toolkit(wheel, one));
      else
        note(one.project, one.versions, wheel.published.file);
    }
    return {};
  }

  Needs finish() {
    if (needs_.cuda.empty())
      for (const Need& need : needs_.projects)
        for (const std::string& range : need.ranges)
          if (is_runtime(need.project) && range.starts_with("==") && range.find(',') == std::string::npos)
            needs_.cuda = short_version(range.substr(range.find_first_not_of("= ")));
    return std::move(needs_);
  }

 private:
  bool counts(const std::string& project) const {
    return project.starts_with(component_start) || project == toolkit_project ||
           std::ranges::find(others_, project) != others_.end();
  }

  Result<void> add_toolkit(const Wheel& wheel, const Requirement& one) {
    const PublishedFile& file = wheel.published;
    if (!is_pin(one.versions) || !needs_.cuda.empty())
      return fail(not_as_planned(
          file.project, file.version, file.file,
          "it requires " + one.project + " " + one.versions + ", which is not one version",
          "name the toolkit's version in the plan, as \"cuda\" of the row, and the versions of its parts"));
    TRY_ASSIGN(const PublishedFile found,
               choose_release(choice_, one.project, {one.versions}, "cuda_toolkit-{version}-*-none-any.whl"));
    TRY_ASSIGN(const auto metapackage, reader_.read(found));
    needs_.cuda = short_version(metapackage->metadata.version);
    return add(*metapackage, one.extras);
  }

  void note(const std::string& project, const std::string& range, const std::string& source) {
    auto known = std::ranges::find(needs_.projects, project, &Need::project);
    if (known == needs_.projects.end()) known = needs_.projects.insert(known, Need{project, {}, {}});
    known->ranges.push_back(range);
    known->sources.push_back(source);
  }

  const Target& target_;
  const std::vector<std::string>& others_;
  const Choice& choice_;
  WheelReader& reader_;
  Needs needs_;
};

}  // namespace

Result<PublishedFile> choose_release(const Choice& choice, const std::string& project,
                                     const std::vector<std::string>& ranges,
                                     const std::string& wheel_pattern) {
  TRY_ASSIGN(const std::vector<Release> releases, choice.index.releases(project));
  const bool pinned = std::ranges::any_of(ranges, [](const std::string& range) { return is_pin(range); });
  std::vector<std::string> written = ranges;
  std::erase(written, "");
  const std::string range = written.empty() ? "any version" : join(written, ",");
  const Release* newest = nullptr;
  const PublishedFile* found = nullptr;
  std::string yanked;
  for (const Release& release : releases) {
    if (!is_in(release.version, ranges) || (is_prerelease(release.version) && !pinned)) continue;
    if (newest == nullptr) newest = &release;
    const std::string pattern = filled(wheel_pattern, {release.version, {}});
    for (const PublishedFile& file : release.files) {
      if (!matches_pattern(file.file, pattern)) continue;
      if (!file.yanked.empty()) {
        yanked = file.yanked;
        continue;
      }
      if (found == nullptr || file.file < found->file) found = &file;
    }
    if (found != nullptr) break;
  }
  if (found != nullptr) {
    TRY(choice.memory.check(*found));
    return *found;
  }
  const std::string version = newest != nullptr ? newest->version : asked_version(range);
  const std::string problem = newest == nullptr ? "the package index has no release in the range " + range
                              : !yanked.empty() ? "its file is yanked: " + yanked
                                                : "it has no file that matches " + wheel_pattern;
  return fail(not_as_planned(
      project, version, "", problem,
      "look at the files of " + project + ", and change the layout's \"wheel\" or the part's version"));
}

const Need* Needs::find(const std::string& project) const {
  const auto found = std::ranges::find(projects, project, &Need::project);
  return found == projects.end() ? nullptr : &*found;
}

Result<Needs> needs_of(const Wheel& wheel, const Target& target, const std::vector<std::string>& others,
                       const Choice& choice, WheelReader& reader) {
  NeedsReader needs(target, others, choice, reader);
  TRY(needs.add(wheel, {}));
  return needs.finish();
}

}  // namespace enginehost::follow
