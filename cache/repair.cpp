// Repair: one file at a time, from the nearest source.
#include "cache/store.hpp"

#include <cerrno>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "cache/layer_trust.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache {
namespace {

using namespace inside;

class Repair {
 public:
  Repair(const Store& store, const Installed& installed, const fs::path& scratch, const FetchFiles& fetch,
         const std::optional<CancelToken>& cancel)
      : store_(store),
        root_(store.root()),
        installed_(installed),
        scratch_(scratch),
        fetch_(fetch),
        cancel_(cancel) {}

  Result<Repaired> run() {
    for (const std::string& tree : installed_.trees) TRY(tree_of(tree));
    if (repaired_.left.empty()) TRY(view());
    return std::move(repaired_);
  }

 private:
  void note(const Problem& problem, const std::string& from) {
    for (const RepairedFile& file : repaired_.files)
      if (file.problem.path == problem.path) return;
    repaired_.files.push_back({problem, from});
    repaired_.files.back()
        .problem.diagnosis.with(Key::build, installed_.build)
        .with(Key::layer, path_text(root_));
  }

  // The list of a tree is the same in every layer.
  Result<TreeList> list_of(const std::string& tree) {
    auto list = load_list(root_, tree);
    if (list) return list;
    for (const fs::path& layer : store_.layers()) {
      if (layer_problem(layer)) continue;
      auto other = load_list(layer, tree);
      if (!other) continue;
      TRY(clear_for_file(root_, root_ / "lists" / tree));
      TRY(write_file(root_ / "lists" / tree, other->text()));
      note({Problem::Kind::wrong_bytes, "lists/" + tree, list.error()}, "layer " + path_text(layer));
      return other;
    }
    // An intact tree proves its content: its name is the list's digest.
    if (auto again = rebuild_list(root_, tree)) {
      note({Problem::Kind::wrong_bytes, "lists/" + tree, list.error()}, "tree " + tree);
      return std::move(*again);
    }
    return list;
  }

  // Renames the fresh file over whatever is there; a process that has the old file open keeps it.
  Result<void> put(const TreeEntry& entry, const fs::path& fresh, const fs::path& folder) {
    const fs::path target = folder / path_of(entry.path);
    std::error_code error;
    for (fs::path parent = target.parent_path(); is_below(parent, folder) && parent != folder;
         parent = parent.parent_path())
      if (const auto status = fs::symlink_status(parent, error);
          fs::exists(status) && !fs::is_directory(status))
        TRY(discard(root_, parent));
    if (fs::is_directory(fs::symlink_status(target, error))) TRY(discard(root_, target));
    TRY(make_folders(target.parent_path()));
    if (entry.kind != TreeEntry::Kind::link) {
      const FileDescriptor file(calls::open(fresh.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
      if (!file.valid() || calls::fchmod(file.get(), mode_of(entry)) != 0 || calls::fsync(file.get()) != 0)
        return fail(disk_failure(errno, fresh, root_));
    }
    if (calls::rename(fresh.c_str(), target.c_str()) != 0) return fail(disk_failure(errno, target, root_));
    return sync_folder(target.parent_path());
  }

  // Returns false if the file at `from` is not the needed one.
  Result<bool> take(const TreeEntry& entry, const fs::path& from, const fs::path& folder,
                    const Problem& problem, const std::string& source) {
    const fs::path fresh = scratch_ / random_hex(8);
    if (!copy_file(from, fresh, root_)) return false;
    TreeEntry copied = entry;
    copied.path = generic_text(fresh.filename());
    if (problem_of(scratch_, copied, true)) return false;
    TRY(put(entry, fresh, folder));
    note(problem, source);
    return true;
  }

  Result<bool> from_here(const fs::path& folder, const std::string& tree, const TreeEntry& entry,
                         const Problem& problem) {
    if (problem.kind == Problem::Kind::wrong_mode) {
      const FileDescriptor file(calls::open((folder / path_of(entry.path)).c_str(),
                                            O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
      if (file.valid() && calls::fchmod(file.get(), mode_of(entry)) == 0 && !mode_problem_of(folder, entry)) {
        note(problem, "mode");
        return true;
      }
    }
    if (entry.kind == TreeEntry::Kind::link) {
      const fs::path fresh = scratch_ / random_hex(8);
      if (calls::symlink(entry.identity.c_str(), fresh.c_str()) != 0)
        return fail(disk_failure(errno, fresh, root_));
      TRY(put(entry, fresh, folder));
      note(problem, "its list");
      return true;
    }
    TRY_ASSIGN(const bool in_view,
               take(entry, installed_.folder / path_of(entry.path), folder, problem, "the view"));
    if (in_view) return true;
    for (const fs::path& layer : store_.layers()) {
      if (layer_problem(layer)) continue;
      TRY_ASSIGN(const bool there, take(entry, layer / "trees" / tree / path_of(entry.path), folder, problem,
                                        "layer " + path_text(layer)));
      if (there) return true;
    }
    // The same bytes may be in another tree, under another name.
    std::error_code error;
    for (const fs::path& listed : entries_of(root_ / "lists", error)) {
      const std::string other = path_text(listed.filename());
      if (other == tree || other.starts_with("of-")) continue;
      const auto list = load_list(root_, other);
      if (!list) continue;
      for (const TreeEntry& twin : list->entries) {
        if (twin.kind == TreeEntry::Kind::link || twin.identity != entry.identity) continue;
        TRY_ASSIGN(const bool there, take(entry, root_ / "trees" / other / path_of(twin.path), folder,
                                          problem, "tree " + other));
        if (there) return true;
      }
    }
    return false;
  }

  // Returns the problems left after all local sources were tried.
  Result<std::vector<Problem>> from_nearby(const fs::path& folder, const std::string& tree,
                                           const TreeList& list) {
    std::vector<Problem> left;
    for (const TreeEntry& entry : list.entries) {
      if (cancel_ && cancel_->canceled())
        return fail(diagnose(Code::canceled).with(Key::build, installed_.build));
      auto problem = problem_of(folder, entry, true, &digests_);
      if (!problem) problem = mode_problem_of(folder, entry);
      if (!problem) continue;
      TRY_ASSIGN(const bool repaired, from_here(folder, tree, entry, *problem));
      if (!repaired) left.push_back(std::move(*problem));
    }
    return left;
  }

  Result<void> from_afar(const fs::path& folder, const std::string& tree, const TreeList& list,
                         std::vector<Problem> wanted) {
    TRY_ASSIGN(const fs::path into, make_private_folder(scratch_, "fetched"));
    std::vector<TreeEntry> entries;
    for (const Problem& problem : wanted) entries.push_back(*list.find(problem.path));
    calls::Status status{};
    const auto is_there = [&] { return calls::lstat(folder.c_str(), &status) == 0; };
    const bool was_there = is_there();
    auto source = fetch_ ? fetch_(tree, entries, into) : Result<std::string>(std::string());
    if (!source) {
      if (source.error().code == Code::canceled) return fail(std::move(source).error());
      repaired_.not_fetched.push_back(std::move(source).error());
    }
    TRY_ASSIGN(const FileLock lock, lock_tree(root_, tree, {}));
    // Another process may have quarantined the tree meanwhile: then it is fetched as a whole.
    const bool gone = was_there && !is_there();
    for (std::size_t at = 0; at < wanted.size(); ++at) {
      const fs::path fresh = into / path_of(entries[at].path);
      const bool right = source && !gone && !problem_of(into, entries[at], true);
      if (!right) {
        repaired_.left.push_back(std::move(wanted[at]));
        continue;
      }
      TRY(put(entries[at], fresh, folder));
      note(wanted[at], *source);
    }
    return {};
  }

  Result<void> tree_of(const std::string& tree) {
    TRY_ASSIGN(const TreeList list, list_of(tree));
    const fs::path folder = root_ / "trees" / tree;
    std::vector<Problem> left;
    {
      TRY_ASSIGN(const FileLock lock, lock_tree(root_, tree, {}));
      TRY(clear_for_folder(root_, folder));
      TRY_ASSIGN(left, from_nearby(folder, tree, list));
    }
    if (!left.empty()) TRY(from_afar(folder, tree, list, std::move(left)));
    std::set<std::string> known;
    for (const TreeEntry& entry : list.entries) known.insert(entry.path);
    return drop_unlisted(folder, known);
  }

  Result<void> drop_unlisted(const fs::path& folder, const std::set<std::string>& known) {
    const auto is_known = [&](const std::string& path) { return known.contains(path); };
    for (const fs::path& file : unlisted_files(folder, is_known)) {
      note(unlisted_file(folder, file), "removed");
      TRY(discard(root_, file));
    }
    return {};
  }

  // The trees are intact now and contain everything that the view lacks.
  Result<void> view() {
    TRY_ASSIGN(const ViewPlan plan, plan_view(root_, installed_.trees));
    TRY(clear_for_folder(root_, installed_.folder));
    std::set<std::string> known;
    Digests digests;
    for (const auto& [path, planned] : plan) {
      known.insert(path);
      auto problem = problem_of(installed_.folder, planned.entry, true, &digests);
      if (!problem) problem = mode_problem_of(installed_.folder, planned.entry);
      if (!problem) continue;
      const fs::path fresh = scratch_ / random_hex(8);
      TRY(place(planned.entry, root_ / "trees" / planned.tree / path_of(path), fresh, root_));
      TRY(put(planned.entry, fresh, installed_.folder));
      note(*problem, "the tree");
    }
    return drop_unlisted(installed_.folder, known);
  }

  const Store& store_;
  const fs::path& root_;
  const Installed& installed_;
  const fs::path& scratch_;
  const FetchFiles& fetch_;
  const std::optional<CancelToken>& cancel_;
  Digests digests_;
  Repaired repaired_;
};

}  // namespace

Result<Repaired> Store::repair(std::string_view build, Stage& stage, const FetchFiles& fetch,
                               const std::optional<CancelToken>& cancel) const {
  const std::optional<std::string> record = own_record(build);
  if (!record) return fail(not_installed(build));
  TRY_ASSIGN(std::optional<Installed> installed, read_ref(root_, *record, false));
  if (!installed) return fail(not_installed(build));
  TRY_ASSIGN(const fs::path scratch, make_private_folder(stage.folder(), "repair"));
  return Repair(*this, *installed, scratch, fetch, cancel).run();
}

}  // namespace enginehost::cache
