#include "host/open/license_text.hpp"

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::open {
namespace {

constexpr std::uint64_t longest_text = 4u << 20;

std::filesystem::path place_in(const std::filesystem::path& root, const std::string& sha256) {
  return root / "blobs" / "sha256" / sha256;
}

}  // namespace

std::filesystem::path text_file(const cache::Store& store, const std::string& sha256) {
  std::error_code error;
  for (const std::filesystem::path& layer : store.layers())
    if (std::filesystem::exists(place_in(layer, sha256), error)) return place_in(layer, sha256);
  return place_in(store.root(), sha256);
}

std::optional<std::string> kept_text(const cache::Store& store, const std::string& sha256) {
  if (!is_sha256_hex(sha256)) return std::nullopt;
  auto text = read_file(text_file(store, sha256), longest_text);
  if (!text || sha256_hex(*text) != sha256) return std::nullopt;
  return std::move(*text);
}

Result<std::string> keep_text(const cache::Store& store, const std::string& text) {
  std::string sha256 = sha256_hex(text);
  const std::filesystem::path file = place_in(store.root(), sha256);
  TRY(make_folders(file.parent_path()));
  TRY(write_file(file, text));
  return sha256;
}

Result<std::string> license_text(const cache::Store& store, const manifest::License& license,
                                 const transfer::TransferOptions& transfer,
                                 const std::optional<CancelToken>& cancel) {
  if (auto kept = kept_text(store, license.sha256)) return std::move(*kept);
  if (license.url.empty()) return fail(diagnose("EH-P06").with("license", license.id));
  TRY_ASSIGN(std::string text,
             transfer::fetch_text(license.url, transfer, longest_text, "text/plain, */*", cancel));
  const std::string actual = sha256_hex(text);
  if (!license.sha256.empty() && actual != license.sha256)
    return fail(diagnose("EH-N08")
                    .with("url", transfer::without_credentials(license.url))
                    .with("license", license.id)
                    .with("expected_sha256", license.sha256, "manifest")
                    .with("actual_sha256", actual));
  TRY(keep_text(store, text).map([](const std::string&) {}));
  return text;
}

}  // namespace enginehost::open
