#include "host/platform/machine_key.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {
namespace {

constexpr std::int64_t day = 24 * 60 * 60, ten_minutes = 10 * 60;

}  // namespace

std::vector<std::string> file_dependencies(const Platform& platform, Reach reach) {
  std::vector<std::string> files = {platform.cuda.library.value().path, platform.libstdcxx.value().path};
  if (reach == Reach::everything) {
    for (const Installed& toolkit : platform.cuda.toolkits.value())
      for (const char* file : {"", "/version.json", "/version.txt", "/include", cuda_names.toolkit_libraries})
        files.push_back(toolkit.path + file);
    for (const Installed& library : platform.cuda.cudnn.value()) files.push_back(library.path);
  }
  std::erase(files, "");
  return files;
}

std::int64_t lifetime_seconds(const Platform& platform) {
  const Cuda& cuda = platform.cuda;
  const bool driver_there = !cuda.library.is_absent() || cuda.driver.is_known();
  const bool answered = cuda.library.is_known() && cuda.devices.is_known() && cuda.driver_cuda.is_known();
  const bool looked_at = platform.os.is_known() && platform.arch.is_known() && !platform.libc.is_unknown() &&
                         !platform.libstdcxx.is_unknown() && !platform.cpu.is_unknown() &&
                         !platform.rocm.is_unknown();
  return looked_at && (!driver_there || answered) ? day : ten_minutes;
}

namespace {

constexpr std::uint64_t largest_file = 4u << 20;

// Returns the key with the stamps of the files that the facts were read from.
std::string key_with_files(const std::string& key, const Platform& platform) {
  KeyText text;
  text.add("key", key);
  for (const std::string& file : file_dependencies(platform, Reach::everything))
    text.stamp(file, path_of(file));
  return sha256_hex(text.take());
}

// An older EngineHost remembered fewer facts.
bool has_every_fact(const Json& platform) {
  const Json facts = to_json(Platform());
  for (const auto& [name, fact] : facts.as_object())
    if (platform.find(name) == nullptr) return false;
  return true;
}

}  // namespace

std::optional<Platform> recall(const DetectRequest& request, const std::string& key,
                               const std::filesystem::path& file, std::int64_t now,
                               std::chrono::milliseconds slower_than) {
  const auto text = read_file(file, largest_file);
  if (!text) return std::nullopt;
  const auto document = parse_json(*text, path_text(file));
  if (!document || (*document)["format"].as_integer() != 1 || !has_every_fact((*document)["platform"]))
    return std::nullopt;
  if ((*document)["took_ms"].as_integer() < slower_than.count()) return std::nullopt;
  // A clock that was set back would extend their lifetime.
  if ((*document)["seen"].as_integer() > now || (*document)["until"].as_integer() <= now) return std::nullopt;
  auto platform = platform_from_json(*document, path_text(file));
  if (!platform || (*document)["key"].as_string() != key_with_files(key, *platform)) return std::nullopt;
  platform->memory = detect_memory(Root(request.root));
  platform->disk = detect_disk(request.cache_folder);
  return std::move(*platform);
}

void remember(const Platform& platform, const std::string& key, const std::filesystem::path& file,
              std::int64_t now, std::chrono::milliseconds took) {
  const Json document = Json::object()
                            .set("format", 1)
                            .set("key", key_with_files(key, platform))
                            .set("seen", now)
                            .set("until", now + lifetime_seconds(platform))
                            .set("took_ms", std::int64_t{took.count()})
                            .set("platform", to_json(platform));
  static_cast<void>(write_file(file, document.dump() + "\n", false));
}

}  // namespace enginehost::platform
