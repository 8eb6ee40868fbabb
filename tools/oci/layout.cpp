#include "tools/oci/artifact.hpp"

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"

namespace enginehost::oci {
namespace {

namespace fs = std::filesystem;
constexpr const char* packing_prefix = ".packing-";
constexpr const char* reference_name = "org.opencontainers.image.ref.name";

Diagnosis disk_failure(int error, const fs::path& file) {
  return std::move(diagnose_errno(code_of_write_error(error), error)
                       .with(Key::file, path_text(file))
                       .with(Key::folder, path_text(file.parent_path())));
}

Result<void> write_blob(const fs::path& blobs, const Blob& blob) {
  const fs::path target = blobs / blob.descriptor.digest;
  std::error_code error;
  if (fs::file_size(target, error) == blob.descriptor.size && !error) return {};
  if (blob.file.empty()) return write_file(target, blob.bytes);
  // A file packed below this layout is moved; a file elsewhere is not.
  if (is_below(blob.file, blobs.parent_path())) {
    if (calls::rename(blob.file, target) == 0) return {};
    return fail(disk_failure(errno, target));
  }
  fs::path until_whole = target;
  until_whole += ".part-" + random_hex(4);
  return copy_into_place(blob.file, target, until_whole);
}

tl::unexpected<Diagnosis> no_layout(const fs::path& folder, std::string_view problem) {
  return fail(
      diagnose(Code::given_file_not_readable).with(Key::file, path_text(folder)).with(Key::problem, problem));
}

Result<Json> present_entries(const fs::path& folder) {
  const fs::path index = folder / "index.json";
  std::error_code error;
  // An index that cannot be examined is an error and is not replaced.
  if (!fs::exists(index, error) && !error) return Json::array();
  TRY_ASSIGN(const std::string text, read_file(index, largest_document));
  TRY_ASSIGN(const Json document, parse_json(text, path_text(index)));
  const Json* manifests = document.find("manifests");
  if (manifests == nullptr || !manifests->is_array())
    return no_layout(folder, "its index.json lists no manifests");
  return *manifests;
}

// Returns whether write_file() may have left a file of that name when it was killed.
bool is_temporary(std::string_view name) {
  return name.starts_with(".oci-layout.") || name.starts_with(".index.json.");
}

// Returns whether the folder holds only what a run leaves that was interrupted before it wrote `oci-layout`.
bool is_begun(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (const std::string name = path_text(at->path().filename()); name != "blobs" && !is_temporary(name))
      return false;
  return !error;
}

// Removes the leftovers of interrupted runs.
void remove_leftovers(const fs::path& folder) {
  const auto remove = [](const fs::path& where, const auto& is_left) {
    std::error_code error;
    for (fs::directory_iterator at(where, error), end; !error && at != end; at.increment(error))
      if (std::error_code ignored; is_left(path_text(at->path().filename())))
        remove_tree(at->path(), ignored);
  };
  remove(folder, is_temporary);
  remove(folder / "blobs", [](std::string_view name) { return name.starts_with(packing_prefix); });
  remove(folder / "blobs" / "sha256", [](std::string_view name) {
    return name.starts_with('.') || name.find(".part-") != std::string_view::npos;
  });
}

}  // namespace

Result<fs::path> begin_layout(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    return no_layout(folder, "it is not a folder");
  if (fs::exists(folder, error) && !fs::exists(folder / "oci-layout", error) && !is_begun(folder))
    return no_layout(folder, "the folder holds other things than an OCI image layout");
  TRY(present_entries(folder).map([](const Json&) {}));
  // Writes the file that marks the folder as ours first.
  TRY(make_folders(folder));
  TRY(write_file(folder / "oci-layout", "{\"imageLayoutVersion\": \"1.0.0\"}\n"));
  TRY(make_folders(folder / "blobs" / "sha256"));
  remove_leftovers(folder);
  return make_private_folder(folder / "blobs", packing_prefix);
}

Result<void> write_layout(const fs::path& folder, const std::vector<Artifact>& artifacts,
                          const std::string& index_name) {
  TRY_ASSIGN(const Json present, present_entries(folder));
  const fs::path blobs = folder / "blobs" / "sha256";
  std::map<std::string, Json> named;  // sorted, so that the order of the request does not matter
  const auto name = [&](Descriptor entry, const std::string& tag) {
    entry.annotations.emplace_back(reference_name, tag);
    named[tag] = to_json(entry);
  };
  for (const Artifact& artifact : artifacts) {
    for (const Blob& layer : artifact.layers) TRY(write_blob(blobs, layer));
    TRY(write_blob(blobs, artifact.config));
    TRY(write_blob(blobs, artifact.manifest));
    name(artifact.entry(), tag_of(artifact.build));
  }
  if (artifacts.size() > 1) {
    const Blob index = make_index(artifacts);
    TRY(write_blob(blobs, index));
    name(index.descriptor, index_name);
  }
  for (const Json& entry : present.as_array()) {
    const std::string& tag = entry["annotations"][reference_name].as_string();
    named.try_emplace(tag.empty() ? entry["digest"].as_string() : tag, entry);
  }
  TRY(sync_folder(blobs));
  remove_leftovers(folder);
  Json manifests = Json::array();
  for (auto& [tag, entry] : named) manifests.push(std::move(entry));
  return write_file(folder / "index.json", Json::object()
                                                   .set("schemaVersion", 2)
                                                   .set("mediaType", index_type)
                                                   .set("manifests", std::move(manifests))
                                                   .dump(1) +
                                               "\n");
}

}  // namespace enginehost::oci
