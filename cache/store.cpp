#include "cache/store.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/layer_trust.hpp"
#include "cache/record_names.hpp"
#include "cache/sharing.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache {
namespace {

using namespace inside;

constexpr std::uint64_t record_limit = 16u << 20;
constexpr std::size_t summary_bytes = 4096;
// The bytes required by https://bford.info/cachedir/.
constexpr std::string_view cache_tag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder holds downloaded engine builds that can be fetched again. Backup programs may skip it.\n";
constexpr std::string_view readme =
    "Engine builds installed by EngineHost. `engine-cache list` shows them, `engine-cache remove` removes "
    "one,\n"
    "`engine-cache verify` checks them. Nothing here is edited in place; the whole folder may be deleted "
    "when no\n"
    "program uses it, and is then fetched again on demand. state/ holds facts about this machine.\n";

std::string layout_text(std::string_view program) {
  Json layer = Json::object();
  layer.set("format", layer_format).set("id", random_hex(16)).set("created_by", program);
  return layer.dump() + "\n";
}

// A user who may open a lock file may hold its lock for ever. Only the cache's owner takes these locks;
// others need the leases only. Others may list the folder, but enter it only in a cache of an earlier
// version.
void close_to_others(const fs::path& folder) {
  calls::Status status{};
  if (calls::stat(folder.c_str(), &status) == 0 && (status.st_mode & 0033) != 0)
    static_cast<void>(calls::chmod(folder.c_str(), 0744));  // a folder of another user stays as it is
}

Result<void> make_layer(const fs::path& root, std::string_view program) {
  if (unexpected_note(orphaned_trees_file(root)))
    TRY(move_unexpected_entry_aside(root, orphaned_trees_file(root)).map([](const auto&) {}));
  TRY(note_orphaned_trees(root));
  for (const char* folder : top_folders) {
    auto made = make_folders(root / folder);
    if (!made && unexpected_entry(root / folder)) {
      TRY(move_unexpected_entry_aside(root, root / folder).map([](const auto&) {}));
      made = make_folders(root / folder);
    }
    TRY(std::move(made));
  }
  close_to_others(root / "locks");
  // If something else is in its place, other modules write elsewhere; the store does not need it.
  static_cast<void>(make_folders(root / "state"));
  const auto write_once = [&](const char* name, std::string_view text) -> Result<void> {
    TRY_ASSIGN(const bool written, is_there(root / name));
    if (written) return {};
    return write_file(root / name, text);
  };
  TRY(write_once("CACHEDIR.TAG", cache_tag));
  TRY(write_once("README.txt", readme));
  return write_once("LAYER.json", layout_text(program));
}

// Hashes one file. A different stamp alone does not prove damage, because the cache may have been copied.
Result<void> check_bytes(const fs::path& root, const Installed& installed, const LoadableFile& file) {
  for (const std::string& tree : installed.trees) {
    TRY_ASSIGN(const TreeList list, load_list(root, tree));
    const TreeEntry* entry = list.find(file.path);
    if (entry == nullptr) continue;
    if (auto problem = problem_of(installed.folder, *entry, true)) return fail(std::move(problem->diagnosis));
    return {};
  }
  return fail(diagnose(Code::file_damaged)
                  .with(Key::file, path_text(installed.folder / path_of(file.path)))
                  .with(Key::problem, "not in the list of any tree of the build"));
}

bool is_as_stamped(const calls::Status& status, const LoadableFile& file) {
  return S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) == file.size &&
         status.st_ino == file.inode && calls::modified_ns(status) == file.modified_ns;
}

// Reports a loadable file that differs from the installed one. `renewed`: some file has a new stamp but the
// right bytes.
Result<bool> check_files(const fs::path& root, Installed& installed) {
  bool renewed = false;
  for (LoadableFile& file : installed.files) {
    calls::Status status{};
    const fs::path place = installed.folder / path_of(file.path);
    if (calls::lstat(place, &status) != 0)
      return fail(diagnose_errno(Code::file_not_readable, errno)
                      .with(Key::file, path_text(place))
                      .with(Key::needed_size, std::to_string(file.size)));
    if (is_as_stamped(status, file)) continue;
    TRY(check_bytes(root, installed, file));
    file.inode = status.st_ino;
    file.modified_ns = calls::modified_ns(status);
    renewed = true;
  }
  return renewed;
}

// Records the new stamps, so that the next open need not hash. Only while no process changes this build.
void renew(const fs::path& root, const Installed& installed) {
  if (!check_format(root)) return;
  Installed record = installed;
  record.build = record_name(installed);
  const auto lock = FileLock::try_exclusive(lock_file(root, Store::key_of(record.build)), {});
  if (!lock || !*lock) return;
  const auto now = read_ref(root, record.build, false);
  if (!now || !*now || (*now)->digest != record.digest) return;
  // A failure is harmless: the next open hashes the file again.
  (void)write_file(ref_file(root, record.build), write_record(record), false);
}

// The builds of the layers before.
struct Listed {
  RecordNames names;
  std::set<std::string> seen;                            // names
  std::set<std::pair<std::string, std::string>> builds;  // engines and ids
};

void list_layer(const fs::path& root, bool read_only, Listed& listed, std::vector<Installed>& result,
                std::vector<Diagnosis>* unread) {
  char buffer[summary_bytes];
  const std::size_t before = result.size();
  const auto note = [&](int why, Key what, const fs::path& place) {
    // A record that was removed meanwhile does not exist.
    if (unread == nullptr || why == 0 || why == ENOENT || why == ENOTDIR) return;
    unread->push_back(std::move(diagnose_errno(Code::cache_unusable, why)
                                    .with(what, path_text(place))
                                    .with(Key::layer, path_text(root))));
  };
  const int failure = calls::for_each_name(root / "refs", [&](int folder, const char* entry) {
    const std::string_view name(entry);
    if (!name.ends_with(".ref") || name.front() == '.') return;
    // Only a file is a record; opening a named pipe would block.
    const FileDescriptor file(calls::openat(folder, entry, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const ssize_t got = file.valid() ? calls::read(file.get(), buffer, sizeof buffer) : -1;
    if (got < 0) {
      const int why = errno;
      const fs::path place = root / "refs" / path_of(name);
      if (!is_no_record(place)) note(why, Key::file, place);
    }
    if (got <= 0) return;
    auto record = read_record(std::string_view(buffer, static_cast<std::size_t>(got)), name, true);
    if (!record || listed.builds.contains({record->engine, record->published_id()})) return;
    std::string build = listed.names.take(record->build, record->engine, record->published_id());
    if (!listed.seen.insert(build).second) return;
    if (build != record->build) {
      record->id = record->published_id();
      record->record = std::exchange(record->build, std::move(build));
    }
    record->folder = view_folder(root, record->digest);
    record->layer = root;
    record->read_only = read_only;
    result.push_back(std::move(*record));
  });
  note(failure, Key::folder, root / "refs");
  for (std::size_t at = before; at < result.size(); ++at)
    listed.builds.emplace(result[at].engine, result[at].published_id());
}

// Returns the record ID of an engine for the name ENGINE+ID. Engines and ids may contain '+'.
std::optional<Installed> record_of_engine(const fs::path& root, std::string_view name, bool read_only) {
  for (std::size_t at = name.find('+'); at != name.npos; at = name.find('+', at + 1)) {
    const std::string_view engine = name.substr(0, at), id = name.substr(at + 1);
    if (engine.empty() || id.empty()) continue;
    auto record = read_ref(root, id, read_only);
    if (!record || !*record || (*record)->engine != engine || !(*record)->record.empty()) continue;
    (*record)->id = (*record)->published_id();
    (*record)->record = std::exchange((*record)->build, std::string(name));
    return std::move(*record);
  }
  return {};
}

}  // namespace

namespace inside {

Result<std::optional<Installed>> read_ref(const fs::path& root, std::string_view build, bool read_only) {
  const fs::path file = ref_file(root, build);
  auto text = read_file(file, record_limit);
  if (!text && text.error().value(Key::errno_) == "ENOENT") return record_of_engine(root, build, read_only);
  if (!text) return fail(std::move(text.error()));
  TRY_ASSIGN(Installed installed, read_record(*text, path_text(file)));
  installed.folder = view_folder(root, installed.digest);
  installed.layer = root;
  installed.read_only = read_only;
  return std::optional<Installed>(std::move(installed));
}

bool are_as_stamped(const Installed& installed) {
  std::string path = path_text(installed.folder) + static_cast<char>(fs::path::preferred_separator);
  const std::size_t folder = path.size();
  for (const LoadableFile& file : installed.files) {
    calls::Status status{};
    path.resize(folder);
    if (calls::lstat(path.append(file.path), &status) != 0 || !is_as_stamped(status, file)) return false;
  }
  return true;
}

Result<void> check_format(const fs::path& root) {
  const fs::path file = root / "LAYER.json";
  const auto text = read_file(file, 1u << 20);
  if (!text) return {};
  const auto layer = parse_json(*text, path_text(file));
  // Writing to a layer of unknown format could damage what a newer program made.
  if (!layer || !(*layer)["format"].is_integer())
    return fail(diagnose(Code::cache_unusable)
                    .with(Key::folder, path_text(root))
                    .with(Key::file, path_text(file))
                    .with(Key::damaged, "LAYER.json")
                    .with(Key::problem,
                          layer ? "it has no number called \"format\"" : layer.error().value(Key::problem)));
  const std::int64_t format = (*layer)["format"].as_integer();
  if (format <= layer_format) return {};
  return fail(diagnose(Code::folder_not_writable)
                  .with(Key::folder, path_text(root))
                  .with(Key::format, std::to_string(format), path_text(root / "LAYER.json"))
                  .with(Key::supported_format, std::to_string(layer_format))
                  .with(Key::problem, "a newer program made this cache"));
}

Result<bool> is_there(const fs::path& file) {
  if (calls::access(file.c_str(), F_OK) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return fail(diagnose_errno(Code::cache_unusable, errno).with(Key::file, path_text(file)));
}

std::string file_name_for(std::string_view text) {
  std::string name = percent_encoded(text, "-_+.");
  if (name.starts_with('.')) name.replace(0, 1, "%2E");
  return name.size() <= 200 && !name.empty() ? name : sha256_hex(text);
}

Result<TreeList> load_list(const fs::path& root, std::string_view tree_id) {
  const fs::path file = root / "lists" / tree_id;
  TRY_ASSIGN(const std::string text, read_file(file, 256u << 20));
  if (const std::string actual = sha256_hex(text); actual != tree_id)
    return fail(diagnose(Code::file_damaged)
                    .with(Key::file, path_text(file))
                    .with(Key::expected, tree_id)
                    .with(Key::found, actual));
  return read_tree_list(text, path_text(file));
}

Diagnosis disk_failure(int error_number, const fs::path& file, const fs::path& root) {
  Diagnosis diagnosis = write_failure(error_number, file, root);
  if (error_number == EXDEV) diagnosis.with(Key::crossed, path_text(file));
  if (error_number != EACCES && error_number != EPERM) return diagnosis;
  if (const auto foreign = made_by_another(root, file)) {
    diagnosis.with(Key::foreign, path_text(foreign->path)).with(Key::foreign_owner, foreign->owner, "stat");
    if (foreign->within != root) diagnosis.with(Key::reference, path_text(foreign->within));
  }
  return diagnosis;
}

}  // namespace inside

Store Store::open(fs::path root, std::vector<fs::path> layers, std::string program) {
  Store store;
  store.root_ = std::move(root);
  store.layers_ = std::move(layers);
  // A layer that is also the cache is writable.
  std::erase_if(store.layers_, [&](const fs::path& layer) {
    std::error_code error;
    return layer == store.root_ || fs::equivalent(layer, store.root_, error);
  });
  store.program_ = std::move(program);
  return store;
}

Result<void> Store::check_place() const {
  if (!root_.empty()) return {};
  return fail(diagnose(Code::folder_not_writable)
                  .with(Key::variable, home_variable())
                  .with(Key::problem,
                        std::string("there is no folder for the cache: this user has no home folder (") +
                            home_variable() +
                            " is not set, or is no absolute path), or it belongs to another user"));
}

Result<void> Store::check_readable() const {
  TRY(check_place());
  if (auto problem = folder_unreadable(root_)) return fail(std::move(*problem));
  for (const char* folder : {"refs", "views", "trees", "lists"}) {
    if (auto odd = unexpected_entry(root_ / folder)) return fail(std::move(*odd));
    if (auto problem = folder_unreadable(root_ / folder)) return fail(std::move(*problem));
  }
  return {};
}

std::vector<Diagnosis> Store::unexpected_entries() const {
  std::vector<Diagnosis> odd;
  for (const char* folder : top_folders)
    if (auto one = root_.empty() ? std::nullopt : unexpected_entry(root_ / folder))
      odd.push_back(std::move(*one));
  if (auto one = root_.empty() ? std::nullopt : unexpected_note(orphaned_trees_file(root_)))
    odd.push_back(std::move(*one));
  return odd;
}

Result<std::optional<fs::path>> Store::move_aside(const fs::path& odd) const {
  return move_unexpected_entry_aside(root_, odd);
}

Result<bool> Store::repair_layout() const {
  const auto checked = check_format(root_);
  if (checked || checked.error().code != Code::cache_unusable) return false;
  TRY(write_file(root_ / "LAYER.json", layout_text(program_)));
  return true;
}

namespace {

// In a container with a read-only root often only a folder for temporary files can be written.
Result<void> with_usable_folder(Result<void> ready) {
  if (!ready && ready.error().code == Code::folder_not_writable)
    if (const fs::path folder = usable_temporary_folder(); !folder.empty())
      ready.error().with(Key::usable_folder, path_text(folder));
  return ready;
}

}  // namespace

Result<void> Store::check_writable() const {
  TRY(check_place());
  TRY(check_format(root_));
  for (const char* folder : top_folders) {
    fs::path there = root_ / folder;
    std::error_code error;
    while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
    // prepare() moves aside what is no folder.
    if (fs::is_directory(there, error) && !calls::may_access(there, W_OK | X_OK))
      return with_usable_folder(fail(disk_failure(errno, root_ / folder, root_)));
  }
  return {};
}

Result<void> Store::prepare() const {
  TRY(check_place());
  TRY(check_format(root_));
  auto ready = make_layer(root_, program_);
  if (ready) ready = try_locks(root_);
  return with_usable_folder(std::move(ready));
}

Result<std::optional<Installed>> Store::record_of(std::string_view build) const {
  for (const fs::path& layer : layers_)
    if (auto record = read_ref(layer, build, true); record && *record && !layer_problem(layer)) return record;
  if (root_.empty()) return std::optional<Installed>();
  return read_ref(root_, build, false);
}

std::optional<std::string> Store::own_record(std::string_view build) const {
  const std::vector<Installed> all = list();
  const auto known = std::ranges::find(all, build, &Installed::build);
  // A record that cannot be read has no other name than that of its file.
  if (known == all.end()) {
    const auto there = is_there(ref_file(root_, build));
    return there && !*there ? std::nullopt : std::optional(std::string(build));
  }
  if (!known->read_only) return record_name(*known);
  // The writable layer may have that build, too.
  for (const Installed& here : Store::open(root_).list())
    if (here.engine == known->engine && here.published_id() == known->published_id()) return here.build;
  return {};
}

Diagnosis Store::not_installed(std::string_view build) const {
  if (auto readable = check_readable(); !readable) return std::move(readable).error();
  Diagnosis diagnosis =
      diagnose(Code::build_not_installed).with(Key::build, build).with(Key::folder, path_text(root_));
  std::vector<std::string> known;
  std::vector<Diagnosis> unread;
  for (const Installed& installed : list(&unread)) {
    known.push_back(installed.build);
    if (installed.build != build || !installed.read_only) continue;
    diagnosis.with(Key::in_layer, path_text(installed.layer));
    return diagnosis;
  }
  // Records of other builds do not matter here.
  const fs::path record = ref_file(root_, build).filename();
  for (Diagnosis& why : unread)
    if (const fs::path file = path_of(why.value(Key::file)); file.empty() || file.filename() == record)
      return std::move(why);
  if (const auto near = nearest(build, known)) diagnosis.with(Key::nearest, *near);
  for (const std::string& one : known) diagnosis.with(Key::installed, one);
  return diagnosis;
}

Result<TreeList> Store::list_of(const Installed& installed, std::string_view tree_id) const {
  return load_list(installed.layer, tree_id);
}

Result<std::optional<Installed>> Store::find(std::string_view build,
                                             const std::function<bool(const Installed&)>& is_wanted) const {
  std::optional<Diagnosis> damaged;
  bool has_another = false;  // the last layer has a record of that name, which is not wanted
  const auto look = [&](const fs::path& layer, std::string_view name,
                        bool read_only) -> std::optional<Installed> {
    const auto note = [&](Diagnosis diagnosis) {
      if (damaged) return;
      damaged = std::move(diagnosis.with(Key::build, build).with(Key::layer, path_text(layer)));
      if (read_only) damaged->with(Key::read_only_layer, path_text(layer));
    };
    auto record = read_ref(layer, name, read_only);
    if (!record) {
      note(std::move(record.error()));
      return {};
    }
    has_another = *record && is_wanted && !is_wanted(**record);
    if (!*record || has_another) return {};
    if (read_only)
      if (auto problem = layer_problem(layer)) {
        note(std::move(*problem));
        return {};
      }
    auto checked = check_files(layer, **record);
    if (!checked) {
      // A build that was removed meanwhile is not damaged but missing.
      if (is_there(ref_file(layer, record_name(**record))).value_or(true)) note(std::move(checked.error()));
      return {};
    }
    if (*checked && !read_only) renew(layer, **record);
    return std::move(*record);
  };
  for (const fs::path& layer : layers_)
    if (auto found = look(layer, build, true)) return found;
  if (!root_.empty()) {
    if (auto found = look(root_, build, false)) return found;
    // A layer's build has that name, and the writable layer has a newer one of it under another.
    const auto record = has_another && !layers_.empty() ? own_record(build) : std::nullopt;
    if (record && *record != build)
      if (auto found = look(root_, *record, false)) {
        found->id = found->published_id();
        found->record = std::exchange(found->build, std::string(build));
        return found;
      }
  }
  if (damaged) return fail(std::move(*damaged));
  return std::optional<Installed>();
}

std::vector<Installed> Store::list(std::vector<Diagnosis>* unread) const {
  Listed listed;
  std::vector<Installed> result;
  for (const fs::path& layer : layers_)
    if (!layer_problem(layer)) list_layer(layer, true, listed, result, unread);
  if (!root_.empty()) list_layer(root_, false, listed, result, unread);
  std::sort(result.begin(), result.end(),
            [](const Installed& left, const Installed& right) { return left.build < right.build; });
  return result;
}

}  // namespace enginehost::cache
