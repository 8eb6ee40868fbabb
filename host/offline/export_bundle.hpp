// Writes installed builds into a bundle.
#pragma once
#include "host/offline/bundle_writer.hpp"
#include "host/offline/contents.hpp"

namespace enginehost::offline {

struct Exported {
  BundleList list;
  std::string list_digest;
  std::vector<WrittenPart> parts;
  std::uint64_t size = 0;  // of all parts
};

struct ExportRequest {
  std::filesystem::path file;
  Selection selection;
  std::uint64_t largest_part = 0;
  // Of bytes before compression; may be called often.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// Every file is hashed as it is read: EH-F08, EH-F04 or EH-F01 ("build", "file") when it is not what was
// installed; nothing is left of the bundle then. Errors of gather() and of BundleWriter. EH-P10 when
// canceled.
Result<Exported> export_bundle(const open::OpenContext& context, const ExportRequest& request);

// The list of a bundle, without looking at the rest of it.
struct ListOfBundle {
  BundleList list;
  std::string digest;
};
Result<ListOfBundle> list_of_bundle(const std::filesystem::path& file);

// Makes the selection leave out what an earlier bundle, and those it builds upon, brought.
Result<void> leave_out(Selection& selection, const std::filesystem::path& base);

}  // namespace enginehost::offline
