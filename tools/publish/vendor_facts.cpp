#include "tools/publish/vendor_facts.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/manifest/repository.hpp"
#include "tools/publish/listing.hpp"

namespace enginehost::publish {

namespace fs = std::filesystem;

Result<std::optional<WorkspaceFacts>> workspace_facts(const fs::path& folder) {
  const fs::path file = folder / "vendor-facts.json";
  TRY_ASSIGN(const bool there, is_there(file));
  if (!there) return std::nullopt;
  WorkspaceFacts read;
  TRY_ASSIGN(read.bytes, read_file(file, vendor::largest_document + 1));
  TRY_ASSIGN(read.facts, vendor::read_facts(read.bytes, path_text(file), &vendor::built_in()));
  return std::optional(std::move(read));
}

Result<Json> prepare_vendor_facts(const fs::path& folder, const std::optional<Json>& before) {
  TRY_ASSIGN(const std::optional<WorkspaceFacts> read, workspace_facts(folder));
  if (!read) return Json();
  const std::string digest = sha256_hex(read->bytes), path = manifest::path_of_vendor_facts(digest);
  const Json member = Json::object()
                          .set("path", path)
                          .set("sha256", digest)
                          .set("size", static_cast<std::int64_t>(read->bytes.size()));
  const std::string published = before ? (*before)["vendor_facts"]["path"].as_string() : std::string();
  if (!published.empty() && published != path) {
    const auto bytes = read_file(folder / path_of(published), vendor::largest_document);
    const auto last = bytes ? parse_json(*bytes, published) : fail(bytes.error());
    if (last && (*last)["serial"].as_integer() >= read->facts.serial)
      return fail(diagnose(Code::vendor_facts_older)
                      .with(Key::document, path_text(folder / "vendor-facts.json"))
                      .with(Key::found, std::to_string(read->facts.serial))
                      .with(Key::expected, std::to_string((*last)["serial"].as_integer())));
  }
  const auto made = read_file(folder / path_of(path), vendor::largest_document);
  if (!made || *made != read->bytes) {
    TRY(make_folders(folder / "vendor-facts"));
    TRY(write_file(folder / path_of(path), read->bytes));
  }
  return member;
}

}  // namespace enginehost::publish
