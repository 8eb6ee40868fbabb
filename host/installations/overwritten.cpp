// Two Python packages of one engine in one folder, of which the second overwrote files of the first.
#include <algorithm>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/installations/parts.hpp"
#include "host/manifest/trust/minisign.hpp"

namespace enginehost::installations {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_record = 16u << 20;

// Returns 64 hexadecimal digits of a digest in URL-safe base64 without padding (PEP 376); empty if it is
// none.
std::string digits_of(std::string_view digest) {
  std::string base64(digest);
  std::ranges::replace(base64, '-', '+');
  std::ranges::replace(base64, '_', '/');
  base64.append((4 - base64.size() % 4) % 4, '=');
  const std::string digits = hex_of(manifest::bytes_of_base64(base64));
  return is_sha256_hex(digits) ? digits : std::string();
}

// The files that a package recorded, as "path,sha256=DIGEST,size" lines.
class PackageRecord {
 public:
  PackageRecord(const Package& package, const fs::path& folder) : folder_(folder) {
    if (auto text = read_file(package.file.parent_path() / "RECORD", largest_record)) text_ = "\n" + *text;
  }
  bool has(const fs::path& file) const { return place_of(file) != std::string::npos; }
  // The digest that the package gave the file; empty if it gave none.
  std::string digest_of(const fs::path& file) const {
    const std::size_t at = place_of(file);
    if (at == std::string::npos) return {};
    const std::string_view line = std::string_view(text_).substr(at, text_.find_first_of("\r\n", at) - at);
    constexpr std::string_view kind = "sha256=";
    if (!line.starts_with(kind)) return {};
    return digits_of(line.substr(kind.size(), line.find(',') - kind.size()));
  }

 private:
  // Where the text after the file's path and its comma begins.
  std::size_t place_of(const fs::path& file) const {
    const std::string begin = "\n" + path_text(file.lexically_relative(folder_)) + ",";
    const std::size_t at = text_.find(begin);
    return at == std::string::npos ? at : at + begin.size();
  }
  const fs::path& folder_;
  std::string text_;
};

}  // namespace

std::optional<Diagnosis> overwritten(const fs::path& packages_folder, const KnownEngine& engine,
                                     const Listing& listed, const fs::path& main) {
  fs::path accelerator;
  for (const std::vector<std::string>* names : {&engine.cuda_libraries, &engine.rocm_libraries})
    for (const std::string_view name : *names)
      if (accelerator.empty()) accelerator = library_in(listed, name);
  if (accelerator.empty()) return std::nullopt;
  const std::vector<Package> packages = python_packages(packages_folder, engine.python_names);
  if (packages.size() < 2) return std::nullopt;
  const Package *for_accelerator = nullptr, *writer = nullptr;
  std::string digest_of_accelerators, digest;
  for (const Package& package : packages) {
    const PackageRecord record(package, packages_folder);
    if (record.has(accelerator)) {
      for_accelerator = &package;
      digest_of_accelerators = record.digest_of(main);
    }
  }
  for (const Package& package : packages) {
    const PackageRecord record(package, packages_folder);
    if (&package == for_accelerator || !record.has(main)) continue;
    if (digest.empty()) {
      auto is = sha256_of_file(main);
      if (!is) return std::nullopt;
      digest = std::move(*is);
    }
    if (record.digest_of(main) == digest) writer = &package;
  }
  if (for_accelerator == nullptr || writer == nullptr || digest_of_accelerators == digest)
    return std::nullopt;
  return std::move(diagnose(Code::packages_wrote_same_files)
                       .with(Key::file, path_text(main), "RECORD of the packages")
                       .with(Key::package, writer->name, path_text(writer->file))
                       .with(Key::package_version, writer->version, path_text(writer->file))
                       .with(Key::overwritten, for_accelerator->name, path_text(for_accelerator->file))
                       .with(Key::left, path_text(accelerator), "the folder"));
}

}  // namespace enginehost::installations
