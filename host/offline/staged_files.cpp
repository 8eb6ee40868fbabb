#include "host/offline/staged_files.hpp"

#include <cerrno>
#include <functional>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

Result<void> each_piece(const fs::path& file, const std::function<Result<void>(std::string_view)>& take) {
  return read_pieces(FileDescriptor(calls::open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)).get(), file,
                     Code::file_not_readable, take);
}

}  // namespace

StagedFiles::StagedFiles(const cache::Store& store, fs::path folder)
    : store_(store), folder_(std::move(folder)) {}

Result<std::string> StagedFiles::keep(const std::string& sha256,
                                      const std::function<Result<void>(const Take&)>& read) {
  const fs::path place = place_of(sha256);
  const auto failure = [&](int error_number) {
    return fail(diagnose_errno(code_of_write_error(error_number), error_number)
                    .with(Key::file, path_text(place))
                    .with(Key::folder, path_text(store_.root())));
  };
  const bool wanted = is_wanted(sha256);
  FileDescriptor file;
  if (wanted) {
    file = FileDescriptor(calls::open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.valid()) return failure(errno);
  }
  Sha256 digest;
  TRY(read([&](std::string_view bytes) -> Result<void> {
    digest.update(bytes);
    if (const int why = wanted ? write_whole(file.get(), bytes) : 0; why != 0) return failure(why);
    return {};
  }));
  if (wanted && calls::close(file.release()) != 0) return failure(errno);
  return digest.hex();
}

Result<void> StagedFiles::find_in_caches(const std::vector<Blob>& blobs,
                                         const std::vector<cache::Store>& others) {
  std::map<std::string, std::uint64_t> looked_for;
  for (const Blob& blob : blobs) looked_for.emplace(blob.sha256, blob.size);
  std::vector<Diagnosis> unread;
  const auto look_in = [&](const cache::Store& store) {
    if (looked_for.empty()) return;
    for (const cache::Installed& summary : store.list(&unread))
      for (const std::string& tree : summary.trees) {
        auto list = store.list_of(summary, tree);
        if (!list) unread.push_back(std::move(list).error());
        if (!list) continue;
        for (const cache::TreeEntry& entry : list->entries)
          if (looked_for.erase(entry.identity) != 0)
            found_.emplace(entry.identity,
                           cache::Store::tree_folder(summary.layer, tree) / path_of(entry.path));
      }
  };
  look_in(store_);
  for (const cache::Store& other : others) look_in(other);
  if (looked_for.empty()) return {};
  // The missing files may be in what could not be read.
  for (Diagnosis& problem : unread)
    if (const std::string_view why = problem.value(Key::errno_); !why.empty() && why != "ENOENT")
      return fail(std::move(problem));
  Diagnosis diagnosis = diagnose(Code::bundle_needs_earlier_one);
  std::uint64_t bytes = 0;
  int reported = 0;
  for (const auto& [digest, size] : looked_for) {
    bytes += size;
    if (++reported <= 3) diagnosis.with(Key::missing, digest);
  }
  return fail(std::move(
      diagnosis.with(Key::count, std::to_string(looked_for.size())).with(Key::bytes, std::to_string(bytes))));
}

Result<void> StagedFiles::take_from_cache(const Blob& blob) {
  if (!is_wanted(blob.sha256)) return {};
  const fs::path& from = found_.at(blob.sha256);
  TRY_ASSIGN(const std::string actual,
             keep(blob.sha256, [&](const Take& take) { return each_piece(from, take); }));
  if (actual != blob.sha256)
    return fail(diagnose(Code::file_damaged)
                    .with(Key::file, path_text(from))
                    .with(Key::expected, blob.sha256)
                    .with(Key::found, actual));
  return {};
}

void StagedFiles::count_uses(const std::map<std::string, cache::TreeList>& trees,
                             const std::set<std::string>& wanted) {
  for (const std::string& tree : wanted)
    for (const cache::TreeEntry& entry : trees.at(tree).entries)
      if (entry.kind != cache::TreeEntry::Kind::link) ++uses_[entry.identity];
}

Result<void> StagedFiles::fill(cache::TreeWriter& writer, const cache::TreeList& tree) {
  for (const cache::TreeEntry& entry : tree.entries) {
    const bool executable = entry.kind == cache::TreeEntry::Kind::executable;
    if (entry.kind == cache::TreeEntry::Kind::link) {
      TRY(writer.add_link(entry.path, entry.identity));
    } else if (--uses_.at(entry.identity) == 0) {
      TRY(writer.adopt_file(entry.path, executable, place_of(entry.identity), entry.size, entry.identity));
    } else {
      TRY(writer.begin_file(entry.path, executable));
      TRY(each_piece(place_of(entry.identity), [&](std::string_view bytes) { return writer.write(bytes); }));
      TRY(writer.end_file());
    }
  }
  return {};
}

}  // namespace enginehost::offline
