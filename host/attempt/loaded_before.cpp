#include "host/attempt/loaded_before.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/attempt/process_engines.hpp"
#include "host/binary/binary.hpp"
#include "host/explain/explain.hpp"
#include "host/installations/in_place.hpp"
#include "host/linker/loaded_symbols.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/preflight/judgments.hpp"
#include "host/settings/policy.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

preflight::Spec spec_of_files(const cache::Installed& installed) {
  preflight::Spec spec;
  spec.view = installed.folder;
  spec.plugin = installed.folder / path_of(installed.plugin);
  for (const std::string& folder : installed.search)
    spec.search.push_back(installed.folder / path_of(folder));
  return spec;
}

// Returns the release of the engine whose installation the library belongs to; empty if nothing there says
// so.
std::string release_of(const fs::path& library, const std::string& engine) {
  // torch/lib/libtorch_cpu.so: the folder, the package, and the folder of packages.
  constexpr int most_above = 4;
  fs::path folder = library.parent_path();
  for (int above = 0; above < most_above && folder.has_relative_path(); ++above) {
    if (const auto found = installations::identify(folder))
      for (const installations::Runtime& runtime : found->runtimes)
        if (runtime.engine == engine && !runtime.version.empty() &&
            std::ranges::any_of(runtime.libraries, [&](const std::string& file) {
              return preflight::same_file(file, path_text(library));
            }))
          return runtime.version;
    folder = folder.parent_path();
  }
  return {};
}

// Finds the loaded copies of a build's libraries.
class Search {
 public:
  Search(const cache::Installed& installed, const settings::Policy& policy)
      : installed_(installed), policy_(policy), spec_(spec_of_files(installed)), index_(spec_, reader_) {}

  Result<Substitutes> run() {
    for (const std::string& file : index_.libraries()) TRY(use_copies_that_share(file));
    if (used_.empty()) return Substitutes();
    TRY(visit(path_text(spec_.plugin)));
    Substitutes found;
    for (const std::string& file : index_.libraries())
      if (!opened_.contains(file)) found.left_out.push_back(file);
    Diagnosis used =
        diagnose(Code::loaded_library_in_place_of_builds).with(Key::build, installed_.build, "manifest");
    for (const auto& [file, path] : used_)
      used.with(Key::library, path_text(path_of(file).filename()))
          .with(Key::path, path, "libraries of this process");
    if (!installed_.version.empty()) used.with(Key::release, installed_.version, "of both");
    found.used = std::move(used);
    return found;
  }

 private:
  // The linker marks files with unique symbols.
  bool may_share(const std::string& file) {
    const auto& info = reader_.read(file);
    return info && info->kind == binary::Kind::elf && !info->stand_in && info->os_abi == "GNU/Linux";
  }

  std::vector<linker::LoadedCopy> copies_of(const std::string& file) {
    const auto& info = reader_.read(file);
    const auto symbols = binary::read_symbols(path_of(file));
    if (!info || !symbols) return {};
    std::vector<linker::LoadedCopy> copies = linker::loaded_copies(info->soname, *symbols);
    // The very file is open already, and opening it again opens nothing.
    std::erase_if(copies, [&](const linker::LoadedCopy& copy) {
      return preflight::same_file(path_text(copy.path), file);
    });
    return copies;
  }

  Result<void> use_copies_that_share(const std::string& file) {
    if (!may_share(file)) return {};
    for (const linker::LoadedCopy& copy : copies_of(file))
      if (!copy.shared.empty()) TRY(use(file, copy));
    return {};
  }

  Result<void> use(const std::string& file, const linker::LoadedCopy& copy) {
    if (auto conflict = conflict_of(file, copy)) return fail(std::move(*conflict));
    const std::string path = path_text(copy.path);
    if (auto refused = settings::forbidden_loaded(policy_, path, installed_.build))
      return fail(std::move(*refused));
    used_.emplace(file, path);
    return {};
  }

  // Returns why the copy cannot serve, or nothing.
  std::optional<Diagnosis> conflict_of(const std::string& file, const linker::LoadedCopy& copy) {
    const std::string path = path_text(copy.path);
    Diagnosis conflict = diagnose(Code::other_file_already_loaded);
    conflict.with(Key::library, path_text(path_of(file).filename()))
        .with(Key::path, path, "libraries of this process")
        .with(Key::wanted, file, "files of the build");
    conflict.with(Key::shares, copy.shared.empty() ? "the libraries that need it" : copy.shared,
                  "dynamic symbols of both");
    if (const std::string holder = bringer_of(path, installed_); !holder.empty())
      conflict.with(Key::held_by, holder, "engines open in this process");
    if (const auto& info = reader_.read(file); info && info->soname != copy.soname)
      return std::move(conflict.with(
          Key::loaded_as, copy.soname.empty() ? path_text(copy.path.filename()) : copy.soname, "its SONAME"));
    // The release is compared first, because comparing bytes reads both files.
    const std::string release = copy.differs.empty() ? release_of(copy.path) : std::string();
    const bool same_release = !release.empty() && release == installed_.version;
    if (copy.differs.empty() && (same_release || load::same_content(copy.path, path_of(file))))
      return std::nullopt;
    if (!copy.differs.empty()) conflict.with(Key::differs, copy.differs, "dynamic symbols of both");
    if (const std::string& other = release_of(copy.path); !other.empty() && other != installed_.version)
      conflict.with(Key::loaded_release, other, "its installation");
    return std::move(conflict.with(Key::release, installed_.version, "manifest"));
  }

  const std::string& release_of(const fs::path& library) {
    const auto [known, added] = releases_.try_emplace(path_text(library.parent_path()));
    if (added) {
      known->second = release_of_engine(path_text(library), installed_.engine);
      if (known->second.empty()) known->second = open::release_of(library, installed_.engine);
    }
    return known->second;
  }

  // Visits what the file needs of the build, up to what loaded copies serve.
  Result<void> visit(const std::string& file) {
    const auto& info = reader_.read(file);
    if (!info) return {};
    for (const std::string& name : info->needed) {
      const std::string own = index_.find(name);
      if (own.empty() || own == file || used_.contains(own) || opened_.contains(own)) continue;
      bool served = false;
      for (const linker::LoadedCopy& copy : copies_of(own))
        if (is_beside_a_used_one(copy)) {
          TRY(use(own, copy));
          served = true;
        }
      if (served) continue;
      opened_.insert(own);
      TRY(visit(own));
    }
    return {};
  }

  bool is_beside_a_used_one(const linker::LoadedCopy& copy) const {
    return std::ranges::any_of(used_, [&](const auto& used) {
      return path_of(used.second).parent_path() == copy.path.parent_path();
    });
  }

  const cache::Installed& installed_;
  const settings::Policy& policy_;
  const preflight::Spec spec_;
  linker::Reader reader_;
  const preflight::ViewIndex index_;
  std::map<std::string, std::string> used_;      // file of the build -> the loaded file
  std::map<std::string, std::string> releases_;  // folder of loaded libraries -> release
  std::set<std::string> opened_;                 // files of the build that are opened
};

}  // namespace

bool Substitutes::leave_out(const fs::path& file) const {
  return std::ranges::any_of(
      left_out, [&](const std::string& one) { return preflight::same_file(one, path_text(file)); });
}

Result<Substitutes> substitutes_for(const cache::Installed& installed, const settings::Policy& policy) {
  if (!linker::may_share_objects()) return Substitutes();
  return Search(installed, policy).run();
}

std::optional<Diagnosis> failed_beside(const Diagnosis& failure, const cache::Installed& installed) {
  constexpr std::size_t most_named = 8;
  const history::Category category = explain::category(failure);
  if (category != history::Category::host && category != history::Category::crash) return std::nullopt;
  const std::vector<std::string> builds = builds_beside(identity_of(installed));
  std::vector<std::string> libraries;
  for (const linker::LoadedLibrary& library : linker::foreign_libraries())
    if (const std::string path = path_text(library.path);
        !is_below(library.path, installed.folder) &&
        (installed.in_place.empty() || !is_below(library.path, path_of(installed.in_place))) &&
        bringer_of(path, installed).empty())
      libraries.push_back(path);
  if (builds.empty() && libraries.empty()) return std::nullopt;
  if (area_of(failure.code) == Area::linking) return failure;
  Diagnosis beside = diagnose(Code::fails_beside_held_libraries);
  beside.with(Key::build, installed.build, "manifest").with(Key::failure, explain::one_line(failure));
  for (const std::string& build : builds) beside.with(Key::held_by, build, "engines of this process");
  for (std::size_t i = 0; i < std::min(libraries.size(), most_named); ++i)
    beside.with(Key::library, libraries[i], "libraries of this process");
  if (libraries.size() > most_named) beside.with(Key::more, std::to_string(libraries.size() - most_named));
  if (const std::string_view stage = failure.value(Key::stage); !stage.empty())
    beside.with(Key::stage, stage);
  return beside;
}

}  // namespace enginehost::open
