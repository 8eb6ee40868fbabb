// Writes installed builds into a bundle.
#pragma once
#include "tools/offline/bundle_writer.hpp"
#include "tools/offline/contents.hpp"

namespace enginehost::offline {

// Returns the bytes of the entry bundle.json; read_bundle_list() reads them.
std::string text_of(const BundleList& list);

struct Exported {
  BundleList list;
  std::string list_digest;
  std::vector<WrittenPart> parts;
  std::uint64_t size = 0;             // of all parts
  std::vector<std::string> warnings;  // as Contents::warnings
};

struct ExportRequest {
  std::filesystem::path file;
  Selection selection;
  std::uint64_t largest_part = 0;
  // Bytes before compression; may be called often.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// Hashes every file as it is read. Errors: EH-F08, EH-F04 or EH-F01 ("build", "file") when a file differs
// from what was installed; the bundle is removed then. EH-P10 when canceled. Those of gather() and of
// BundleWriter.
Result<Exported> export_bundle(const open::OpenContext& context, const ExportRequest& request);

// The list of a bundle, read without the rest of it.
struct ListOfBundle {
  BundleList list;
  std::string digest;
};
Result<ListOfBundle> list_of_bundle(const std::filesystem::path& file);

// Makes the selection leave out everything in an earlier bundle and in the bundles it builds on.
Result<void> leave_out(Selection& selection, const std::filesystem::path& base);

}  // namespace enginehost::offline
