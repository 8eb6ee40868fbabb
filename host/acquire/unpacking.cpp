#include "host/acquire/unpacking.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/remove_tree.hpp"
#include "base/text.hpp"
#include "host/acquire/zip_directory.hpp"
#include "host/acquire/zip_stream.hpp"

namespace enginehost::acquire {
namespace {

bool is_disk_failure(const Diagnosis& diagnosis) {
  return diagnosis.code == "EH-F15" || diagnosis.code == "EH-F16" || diagnosis.code == "EH-F17" ||
         diagnosis.code == "EH-F23" || diagnosis.code == "EH-F24";
}

// Adds the file's name, because the archive readers know only a descriptor.
Diagnosis in_file(Diagnosis diagnosis, const GrowingFile& file) {
  if (diagnosis.code == "EH-F23") diagnosis.with("file", path_text(file.path()));
  return diagnosis;
}

}  // namespace

Result<UnpackedTree> unpack_into(const manifest::Artifact& artifact, GrowingFile& file, bool seekable,
                                 const std::filesystem::path& folder, cache::TreeLimits limits,
                                 const std::optional<CancelToken>& cancel,
                                 const std::function<void(std::uint64_t)>& on_read) {
  const auto attempt = [&](Way way) -> Result<UnpackedTree> {
    std::error_code ignored;
    remove_tree(folder, ignored);
    TRY(make_folders(folder));
    cache::TreeWriter writer(folder, limits);
    auto unpacked = unpack(artifact, file, way, writer, cancel, on_read);
    // A disk failure must not be reported as a broken archive.
    if (auto why = file.why_unreadable(); !unpacked && why) return fail(std::move(*why));
    if (!unpacked) return fail(std::move(unpacked).error());
    TRY(writer.settle());
    return UnpackedTree{std::move(*unpacked), std::move(writer)};
  };
  if (seekable) return attempt(Way::seeking);
  if (artifact.archive == "zip" && has_zip_stream()) {
    auto tree = attempt(Way::fast);
    if (tree || tree.error().code != "EH-F21") return tree;
  }
  return attempt(Way::streaming);
}

Result<void> check_unpacked(const manifest::Artifact& artifact, UnpackedTree& tree, const GrowingFile& file,
                            const std::filesystem::path& folder) {
  if (artifact.archive == "zip") {
    const auto directory = read_zip_directory(file.descriptor(), file.held());
    if (!directory) return fail(in_file(directory.error(), file));
    if (auto right = check_zip(file.descriptor(), file.held(), *directory, tree.unpacked); !right)
      return fail(in_file(std::move(right).error(), file));
    TRY(check_late_checksums(*directory, tree.unpacked, folder));
    TRY(apply_modes(*directory, tree.unpacked, tree.writer));
  }
  if (tree.writer.entries() == 0)
    return fail(diagnose("EH-F21")
                    .with("archive", artifact.archive)
                    .with("problem", "it holds nothing that is selected")
                    .with("select", join(artifact.select, " "))
                    .with("strip", std::to_string(artifact.strip)));
  return {};
}

Unpacking::Unpacking(const manifest::Artifact& artifact, GrowingFile& file, std::filesystem::path folder,
                     cache::TreeLimits limits, std::optional<CancelToken> cancel)
    : file_(file),
      outcome_(std::async(std::launch::async,
                          [this, &artifact, folder = std::move(folder), limits, cancel = std::move(cancel)] {
                            return work(artifact, folder, limits, cancel);
                          })) {}

Unpacking::~Unpacking() {
  if (outcome_.valid()) {
    file_.abandon();
    outcome_.wait();
  }
}

Result<UnpackedTree> Unpacking::work(const manifest::Artifact& artifact, const std::filesystem::path& folder,
                                     cache::TreeLimits limits, const std::optional<CancelToken>& cancel) {
  for (;;) {
    const std::uint64_t generation = file_.generation();
    auto result = unpack_into(artifact, file_, false, folder, limits, cancel,
                              [this](std::uint64_t position) { position_ = position; });
    if (!result && is_disk_failure(result.error())) {
      file_.stop_receiving(result.error());
      return result;
    }
    // An archive may end, or turn out broken, before its last byte arrived. The bytes may still be dropped.
    if (file_.wait_until_settled(generation)) return result;
    if (file_.abandoned()) return result;
  }
}

}  // namespace enginehost::acquire
