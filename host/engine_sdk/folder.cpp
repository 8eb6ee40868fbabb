#include "host/engine_sdk/folder.hpp"

#include <set>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"

namespace enginehost::engine_sdk {
namespace {

namespace fs = std::filesystem;

Diagnosis holds(const fs::path& folder, const std::string& what) {
  return diagnose(Code::sdk_folder_holds_something_else)
      .with(Key::folder, path_text(folder))
      .with(Key::holds, what);
}
Diagnosis changed(const fs::path& folder, const std::string& file, const std::string& problem) {
  return diagnose(Code::sdk_folder_holds_something_else)
      .with(Key::folder, path_text(folder))
      .with(Key::changed, file)
      .with(Key::problem, problem);
}

bool is_canceled(const std::optional<CancelToken>& cancel) { return cancel && cancel->canceled(); }

// The list names every file, so anything that is not in it is somebody's own and does not matter.
Result<FolderSize> check_against(const fs::path& folder, const Json& list,
                                 const std::optional<CancelToken>& cancel) {
  FolderSize size;
  for (const Json& file : list["files"].as_array()) {
    if (is_canceled(cancel)) return fail(diagnose(Code::canceled));
    const std::string& path = file["path"].as_string();
    const fs::path place = folder / path_of(path);
    if (const std::string& target = file["link"].as_string(); !target.empty()) {
      std::error_code error;
      if (generic_text(fs::read_symlink(place, error)) != target)
        return fail(changed(folder, path, "it is no link to " + target));
      continue;
    }
    const auto digest = sha256_of_file(place);
    if (!digest) return fail(changed(folder, path, "it cannot be read"));
    if (*digest != file["sha256"].as_string()) return fail(changed(folder, path, "it has other bytes"));
    ++size.files;
    size.bytes += static_cast<std::uint64_t>(file["size"].as_integer());
  }
  return size;
}

// Writes into a folder that only this process knows.
class FolderWriter {
 public:
  FolderWriter(fs::path folder, const fs::path& named) : folder_(std::move(folder)), named_(named) {}

  Result<void> copy(const CopiedFile& file) {
    TRY_ASSIGN(const fs::path to, place_for(file.path));
    TRY(write_copy(file.from, to, named_ / path_of(file.path)));
    TRY_ASSIGN(const std::string digest, sha256_of_file(to));
    if (digest != file.entry.identity)
      return fail(diagnose(Code::file_damaged)
                      .with(Key::file, path_text(file.from))
                      .with(Key::expected_sha256, file.entry.identity)
                      .with(Key::actual_sha256, digest));
    if (file.entry.kind == cache::TreeEntry::Kind::executable)
      fs::permissions(to, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, error_);
    add(file.path, file.entry.size, digest);
    return {};
  }
  Result<void> generate(const GeneratedFile& file) {
    TRY_ASSIGN(const fs::path to, place_for(file.path));
    TRY(write_file(to, file.text, false));
    add(file.path, file.text.size(), sha256_hex(file.text));
    return {};
  }
  Result<void> link(const NamedLink& link) {
    TRY_ASSIGN(const fs::path at, place_for(link.path));
    fs::create_symlink(path_of(link.target), at, error_);
    if (error_) return fail(write_failure(error_.value(), named_ / path_of(link.path)));
    files_.push(Json::object().set("path", link.path).set("link", link.target));
    return {};
  }
  FolderSize size() const { return size_; }
  Json files() { return std::move(files_); }

 private:
  Result<fs::path> place_for(const std::string& path) {
    fs::path place = folder_ / path_of(path);
    if (made_.insert(place.parent_path()).second) TRY(make_folders(place.parent_path()));
    return place;
  }
  void add(const std::string& path, std::uint64_t size, const std::string& sha256) {
    files_.push(Json::object().set("path", path).set("size", size).set("sha256", sha256));
    ++size_.files;
    size_.bytes += size;
  }

  const fs::path folder_;
  const fs::path& named_;  // what messages say
  std::set<fs::path> made_;
  FolderSize size_;
  Json files_ = Json::array();
  std::error_code error_;
};

Result<FolderSize> write_into(const fs::path& unfinished, const fs::path& folder, const Contents& contents,
                              Json identity, const std::optional<CancelToken>& cancel) {
  TRY(make_folders(unfinished));
  FolderWriter writer(unfinished, folder);
  for (const CopiedFile& file : contents.copied) {
    if (is_canceled(cancel)) return fail(diagnose(Code::canceled));
    TRY(writer.copy(file));
  }
  for (const NamedLink& link : contents.links) TRY(writer.link(link));
  for (const GeneratedFile& file : contents.generated) TRY(writer.generate(file));
  const FolderSize size = writer.size();
  identity.set("files", writer.files());
  TRY(write_file(unfinished / path_of(list_name), identity.dump(1) + "\n"));
  std::error_code error;
  fs::rename(unfinished, folder, error);
  if (error == std::errc::directory_not_empty || error == std::errc::file_exists)
    return fail(holds(folder, "files that another program wrote meanwhile"));
  if (error) return fail(write_failure(error.value(), folder));
  TRY(sync_folder(folder.parent_path()));
  return size;
}

}  // namespace

fs::path place_of_folder(const fs::path& folder) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(folder, error);
  if (error) place = folder.lexically_normal();
  return place.has_filename() ? place : place.parent_path();
}

Result<std::optional<FolderSize>> sdk_in(const fs::path& folder, const Json& identity,
                                         const std::optional<CancelToken>& cancel) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return std::optional<FolderSize>();
  if (error) return fail(write_failure(error.value(), folder));
  if (status.type() != fs::file_type::directory)
    return fail(diagnose(Code::sdk_folder_holds_something_else)
                    .with(Key::folder, path_text(folder))
                    .with(Key::is_file, "yes"));
  const auto entries = entries_of(folder, error);
  if (error) return fail(write_failure(error.value(), folder));
  if (entries.empty()) return std::optional<FolderSize>();
  const fs::path list_file = folder / path_of(list_name);
  if (!fs::exists(list_file, error)) return fail(holds(folder, path_text(entries.front().filename())));
  const auto text = read_file(list_file);
  auto list = text ? parse_json(*text, path_text(list_file), {64u << 20, 32, 2'000'000})
                   : Result<Json>(fail(text.error()));
  if (!list) return fail(changed(folder, std::string(list_name), "it cannot be read"));
  for (const auto& [name, value] : identity.as_object())
    if (const Json* const there = list->find(name); there == nullptr || *there != value)
      return fail(holds(folder, "the SDK of " + (*list)["engine"].as_string() + " " +
                                    (*list)["version"].as_string() + " (" + (*list)["build"].as_string() +
                                    ")"));
  TRY_ASSIGN(const FolderSize size, check_against(folder, *list, cancel));
  return std::optional(size);
}

Result<FolderSize> write_folder(const fs::path& folder, const Contents& contents, Json identity,
                                const std::optional<CancelToken>& cancel) {
  const fs::path parent = folder.parent_path();
  TRY(make_folders(parent));
  const fs::path unfinished = parent / path_of("." + path_text(folder.filename()) + ".unfinished-sdk");
  std::error_code error;
  remove_tree(unfinished, error);
  if (error) return fail(write_failure(error.value(), unfinished));
  auto written = write_into(unfinished, folder, contents, std::move(identity), cancel);
  if (!written) remove_tree(unfinished, error);
  return written;
}

}  // namespace enginehost::engine_sdk
