// The list of a bundle, as text and at the beginning of a bundle.
#include "host/offline/bundle_list.hpp"
#include "host/offline/bundle_reader.hpp"
#include "tests/fuzz/input_file.hpp"
#include "tools/offline/export_bundle.hpp"

using enginehost::fuzz::require;
namespace offline = enginehost::offline;

namespace {

void read_list(std::string_view text) {
  const auto list = offline::read_bundle_list(text, "input");
  if (!list) {
    require(list.error().code != enginehost::Code::none);
    return;
  }
  // An accepted list is the same when it is written again.
  const std::string written = text_of(*list);
  const auto again = offline::read_bundle_list(written, "again");
  require(again && text_of(*again) == written);
  for (const offline::BundledRepository& repository : list->repositories)
    for (const offline::RepositoryDocument& document : repository.documents)
      require(document.path.front() != '/' && document.path.find("..") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_list(text);
  const auto reader = offline::BundleReader::open(enginehost::fuzz::as_file(data, size));
  if (!reader) return 0;
  std::uint64_t read = 0;
  for (;;) {
    const auto entry = (*reader)->next();
    if (!entry || !*entry) break;
    const auto bytes = (*reader)->read_whole();
    if (!bytes) break;
    require(bytes->size() == (*entry)->size);
    read += bytes->size();
    if ((*entry)->name == offline::list_entry) read_list(*bytes);
    if (read > (std::uint64_t{64} << 20)) break;  // a few bytes of zstd may unpack to very many
  }
  return 0;
}
