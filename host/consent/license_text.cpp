#include "host/consent/license_text.hpp"

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "host/acquire/acquire.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::consent {
namespace {

constexpr std::uint64_t longest_text = 4u << 20;

std::filesystem::path place_in(const std::filesystem::path& root, const std::string& sha256) {
  return root / "blobs" / "sha256" / sha256;
}

Result<std::string> checked_and_kept(const cache::Store& store, const manifest::License& license,
                                     std::string text, const std::string& from) {
  const std::string actual = sha256_hex(text);
  if (text.find('\0') != std::string::npos)
    return fail(diagnose("EH-N08").with("url", from).with("license", license.id).with("nul", "yes"));
  if (!license.sha256.empty() && actual != license.sha256)
    return fail(diagnose("EH-N08")
                    .with("url", from)
                    .with("license", license.id)
                    .with("expected_sha256", license.sha256, "manifest")
                    .with("actual_sha256", actual));
  TRY(keep_text(store, text).map([](const std::string&) {}));
  return text;
}

Result<std::string> text_in_component(const cache::Store& store, const manifest::License& license,
                                      const manifest::Build* build, const transfer::TransferOptions& transfer,
                                      const std::optional<CancelToken>& cancel) {
  const auto owner = build != nullptr ? build->manifest.lock() : nullptr;
  if (!owner || license.text_component.empty()) return fail(diagnose("EH-P06").with("license", license.id));
  const auto found = owner->components.find(license.text_component);
  if (found == owner->components.end()) return fail(diagnose("EH-P06").with("license", license.id));
  acquire::AcquireOptions options;
  options.transfer = transfer;
  cache::WaitOptions wait;
  wait.cancel = cancel;
  TRY_ASSIGN(const cache::Stage stage, store.stage("license-text-" + license.text_component, wait));
  TRY_ASSIGN(std::string text, acquire::file_of_component(*build, found->second, license.text_path,
                                                          stage.folder() / "file", options, cancel));
  return checked_and_kept(store, license, std::move(text), license.text_component + ": " + license.text_path);
}

}  // namespace

std::filesystem::path text_file(const cache::Store& store, const std::string& sha256) {
  std::error_code error;
  for (const std::filesystem::path& layer : store.layers())
    if (std::filesystem::exists(place_in(layer, sha256), error)) return place_in(layer, sha256);
  return place_in(store.root(), sha256);
}

std::optional<std::string> kept_text(const cache::Store& store, const std::string& sha256) {
  if (!is_sha256_hex(sha256) || text_file(store, sha256).is_relative()) return std::nullopt;
  auto text = read_file(text_file(store, sha256), longest_text);
  if (!text || sha256_hex(*text) != sha256 || text->find('\0') != std::string::npos) return std::nullopt;
  return std::move(*text);
}

Result<std::string> keep_text(const cache::Store& store, const std::string& text) {
  std::string sha256 = sha256_hex(text);
  if (store.root().empty()) return sha256;  // no cache: nothing can be kept
  const std::filesystem::path file = place_in(store.root(), sha256);
  TRY(make_folders(file.parent_path()));
  TRY(write_file(file, text));
  return sha256;
}

Result<std::string> license_text(const cache::Store& store, const manifest::License& license,
                                 const manifest::Build* build, const transfer::TransferOptions& transfer,
                                 const std::optional<CancelToken>& cancel) {
  if (auto kept = kept_text(store, license.sha256)) return std::move(*kept);
  auto in_component = text_in_component(store, license, build, transfer, cancel);
  if (in_component) return in_component;
  if (license.url.empty()) return in_component;
  TRY_ASSIGN(std::string text,
             transfer::fetch_text(license.url, transfer, longest_text, "text/plain, */*", cancel));
  return checked_and_kept(store, license, std::move(text), transfer::without_credentials(license.url));
}

}  // namespace enginehost::consent
