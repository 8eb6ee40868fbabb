#include "cache/check.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache {
namespace {

using namespace inside;

// Returns whether the record is gone or belongs to a later installation; new stamps do not count. An
// unreadable record counts as unchanged.
bool is_another(const fs::path& file, const std::string& known) {
  const auto now = read_file(file);
  if (!now) return now.error().value(Key::errno_) == "ENOENT";
  const auto then = read_record(known, path_text(file), true),
             later = read_record(*now, path_text(file), true);
  if (!then || !later) return *now != known;
  return then->installed_at != later->installed_at || then->digest != later->digest;
}

class Checker {
 public:
  Checker(const fs::path& root, const CheckOptions& options) : root_(root), options_(options) {}

  Result<std::vector<Violation>> run() {
    TRY(records());
    TRY(trees());
    // A build that was removed or installed again meanwhile is not damaged: a build is removed record first,
    // and installed record last.
    std::map<std::string, bool> changed;
    for (const auto& [file, text] : records_) changed[path_text(file)] = is_another(file, text);
    std::erase_if(violations_, [&](const Violation& violation) {
      return !violation.build.empty() && changed[path_text(ref_file(root_, violation.build))];
    });
    if (options_.at_rest) rest();
    return std::move(violations_);
  }

 private:
  bool is_there(const std::string& name) const {
    calls::Status status{};
    return calls::lstat((root_ / path_of(name)).c_str(), &status) == 0;
  }
  bool canceled() const { return options_.cancel && options_.cancel->canceled(); }
  void note(const char* invariant, const std::string& build, Problem problem) {
    problem.diagnosis.with(Key::layer, path_text(root_)).with(Key::invariant, invariant);
    if (!build.empty()) problem.diagnosis.with(Key::build, build);
    violations_.push_back({invariant, build, std::move(problem)});
  }
  // `why`: the errno of the check.
  void note_missing(const char* invariant, const std::string& build, const fs::path& what, int why) {
    const bool missing = why == ENOENT || why == ENOTDIR;
    note(invariant, build,
         {missing ? Problem::Kind::missing : Problem::Kind::unreadable,
          generic_text(what.lexically_relative(root_)),
          (missing ? diagnose(Code::file_not_readable) : diagnose_errno(Code::file_not_readable, why))
              .with(Key::file, path_text(what))});
  }
  void note_no_folder(const char* invariant, const std::string& build, const fs::path& what,
                      calls::Mode mode) {
    note(invariant, build,
         {Problem::Kind::wrong_kind, generic_text(what.lexically_relative(root_)),
          diagnose(Code::path_leads_to_no_file)
              .with(Key::file, path_text(what))
              .with(Key::problem,
                    S_ISREG(mode)   ? "a file"
                    : S_ISLNK(mode) ? "a link"
                                    : "a named pipe, a socket or a device",
                    "lstat")
              .with(Key::expected_kind, "folder")});
  }
  std::optional<Problem> problem_in(const fs::path& folder, const TreeEntry& entry, bool closely = false) {
    auto problem = problem_of(folder, entry, options_.deep || closely, &digests_);
    return problem ? problem : mode_problem_of(folder, entry);
  }
  // A folder that cannot be read may hold anything. A missing one holds nothing.
  static bool is_unread(const std::error_code& error) {
    return error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory;
  }
  void note_unread(const char* invariant, const std::string& build, const fs::path& folder,
                   const std::error_code& error) {
    if (!is_unread(error)) return;
    if (!unread_.insert(folder).second) return;
    note(invariant, build,
         {Problem::Kind::unreadable, generic_text(folder.lexically_relative(root_)),
          diagnose_errno(Code::cache_unusable, error.value()).with(Key::folder, path_text(folder))});
  }
  std::vector<std::string> names_in(const char* folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const fs::path& entry : entries_of(root_ / folder, error))
      names.push_back(path_text(entry.filename()));
    note_unread("I2", "", root_ / folder, error);
    if (is_unread(error)) all_read_ = false;
    std::sort(names.begin(), names.end());
    return names;
  }
  template <class IsKnown>
  void report_unlisted(const char* invariant, const std::string& build, const fs::path& folder,
                       const IsKnown& known) {
    std::vector<fs::path> folders{folder};
    while (!folders.empty()) {
      const fs::path at = std::move(folders.back());
      folders.pop_back();
      std::error_code error, gone;
      for (const fs::path& entry : entries_of(at, error))
        if (fs::is_directory(fs::symlink_status(entry, gone)))
          folders.push_back(entry);
        else if (!known(generic_text(entry.lexically_relative(folder))))
          note(invariant, build, unlisted_file(folder, entry));
      note_unread(invariant, build, at, error);
    }
  }

  Result<void> records() {
    for (const std::string& name : names_in("refs")) {
      const fs::path file = root_ / "refs" / path_of(name);
      if (!name.ends_with(".ref") || name.front() == '.') continue;
      std::error_code error;
      // A folder in a record's place destroyed the record: its build is damaged.
      if (is_no_record(file) && !fs::is_directory(fs::symlink_status(file, error))) {
        if (options_.build.empty())
          note("I2", "",
               {Problem::Kind::wrong_kind, "refs/" + name,
                diagnose(Code::path_leads_to_no_file)
                    .with(Key::file, path_text(file))
                    .with(Key::problem, "a named pipe, a socket or a device", "lstat")
                    .with(Key::expected_kind, "file")});
        continue;
      }
      if (options_.build.empty() || file == ref_file(root_, options_.build)) TRY(record(file));
    }
    return {};
  }

  Result<void> record(const fs::path& file) {
    const auto text = read_file(file);
    if (!text && text.error().value(Key::errno_) == "ENOENT") return {};
    if (text) records_[file] = *text;
    auto installed = text ? read_record(*text, path_text(file)) : fail(text.error());
    if (!installed) {
      all_read_ = false;
      note("I2", path_text(file.stem()),
           {text ? Problem::Kind::wrong_bytes : Problem::Kind::unreadable,
            generic_text(file.lexically_relative(root_)), std::move(installed).error()});
      return {};
    }
    const std::string& build = installed->build;
    const fs::path view = root_ / "views" / installed->digest;
    views_.insert(installed->digest);
    calls::Status status{};
    bool whole = true;
    for (const std::string& tree : installed->trees) {
      owner_.emplace(tree, build);
      if (calls::lstat((root_ / "trees" / tree).c_str(), &status) == 0) {
        if (!S_ISDIR(status.st_mode)) note_no_folder("I2", build, root_ / "trees" / tree, status.st_mode);
        continue;
      }
      const int why = errno;
      note_missing("I2", build, root_ / "trees" / tree, why);
      whole = false;
    }
    if (calls::lstat(view.c_str(), &status) != 0) {
      note_missing("I2", build, view, errno);
      return {};
    }
    if (!S_ISDIR(status.st_mode)) {
      note_no_folder("I2", build, view, status.st_mode);
      return {};
    }
    const auto plan = plan_view(root_, installed->trees);
    if (!plan) {
      // A damaged list is reported with its tree.
      if (whole && plan.error().code == Code::components_collide)
        note("I2", build,
             {Problem::Kind::wrong_bytes, generic_text(view.lexically_relative(root_)), plan.error()});
      return {};
    }
    const std::set<std::string> restamped = files_with_other_stamps(view, *installed);
    for (const auto& [path, planned] : *plan) {
      if (canceled()) return fail(diagnose(Code::canceled).with(Key::build, build));
      if (auto problem = problem_in(view, planned.entry, restamped.contains(path)))
        note("I2", build, std::move(*problem));
    }
    report_unlisted("I2", build, view, [&](const std::string& path) { return plan->contains(path); });
    return {};
  }

  Result<void> trees() {
    for (const std::string& id : names_in("trees")) {
      if (!options_.build.empty() && !owner_.contains(id)) continue;
      const std::size_t before = violations_.size();
      TRY(tree(id));
      if (violations_.size() == before || owner_.contains(id)) continue;
      // A new tree has its list first, and a removed one loses its list last. A second look shows whether it
      // is gone or complete.
      violations_.resize(before);
      digests_.clear();
      if (is_there("trees/" + id)) TRY(tree(id));
    }
    if (options_.build.empty())
      for (const std::string& name : names_in("lists"))
        if (is_sha256_hex(name) && !is_there("trees/" + name))
          if (const auto list = load_list(root_, name); !list && is_there("lists/" + name))
            note("I1", "", {Problem::Kind::wrong_bytes, "lists/" + name, list.error()});
    return {};
  }

  Result<void> tree(const std::string& id) {
    const fs::path folder = root_ / "trees" / id;
    const auto owner = owner_.find(id);
    const std::string build = owner == owner_.end() ? "" : owner->second;
    const auto list = load_list(root_, id);
    if (!list) {
      note(
          "I1", build,
          {list.error().code == Code::file_not_readable ? Problem::Kind::missing : Problem::Kind::wrong_bytes,
           "lists/" + id, list.error()});
      return {};
    }
    std::set<std::string_view> known;
    for (const TreeEntry& entry : list->entries) {
      if (canceled()) return fail(diagnose(Code::canceled));
      known.insert(entry.path);
      if (auto problem = problem_in(folder, entry)) note("I1", build, std::move(*problem));
    }
    report_unlisted("I1", build, folder, [&](const std::string& path) { return known.contains(path); });
    return {};
  }

  void rest() {
    const auto left = [&](const char* folder, const std::string& name) {
      note("I5", "",
           {Problem::Kind::unexpected, std::string(folder) + "/" + name,
            diagnose(Code::file_damaged)
                .with(Key::file, path_text(root_ / folder / path_of(name)))
                .with(Key::problem, "nothing refers to it")});
    };
    for (const std::string& name : names_in("stage")) left("stage", name);
    if (!all_read_) return;
    for (const std::string& name : names_in("trees"))
      if (!owner_.contains(name)) left("trees", name);
    for (const std::string& name : names_in("views"))
      if (!views_.contains(name)) left("views", name);
    for (const std::string& name : names_in("lists"))
      if (is_sha256_hex(name) && !owner_.contains(name)) left("lists", name);
  }

  const fs::path& root_;
  const CheckOptions& options_;
  Digests digests_;
  std::map<std::string, std::string> owner_;  // tree -> a build that it belongs to
  std::set<std::string> views_;
  std::map<fs::path, std::string> records_;  // the text that was read
  std::set<fs::path> unread_;                // folders
  bool all_read_ = true;
  std::vector<Violation> violations_;
};

}  // namespace

Result<std::vector<Violation>> check(const fs::path& root, const CheckOptions& options) {
  TRY(Store::open(root).check_readable());
  return Checker(root, options).run();
}

}  // namespace enginehost::cache
