#include "host/platform/machine_key.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {
namespace {

constexpr std::int64_t day = 24 * 60 * 60, ten_minutes = 10 * 60;

void add_dependency_stamp(std::vector<FileDependency>& dependency_stamps, const std::string& path) {
  if (path.empty()) return;
  const auto stamp = stamp_of(path_of(path));
  dependency_stamps.emplace_back(path, stamp ? std::optional(*stamp) : std::nullopt);
}

}  // namespace

std::vector<FileDependency> file_dependencies(const Platform& platform, Reach reach) {
  std::vector<FileDependency> dependency_stamps;
  add_dependency_stamp(dependency_stamps, platform.cuda.library.value().path);
  add_dependency_stamp(dependency_stamps, platform.libstdcxx.value().path);
  if (reach == Reach::decisive) return dependency_stamps;
  for (const Installed& toolkit : platform.cuda.toolkits.value())
    for (const char* file : {"", "/version.json", "/version.txt", "/include", toolkit_library_folder()})
      add_dependency_stamp(dependency_stamps, toolkit.path + file);
  for (const Installed& library : platform.cuda.cudnn.value())
    add_dependency_stamp(dependency_stamps, library.path);
  return dependency_stamps;
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

Json document_of(const FileDependency& file) {
  Json entry = Json::array().push(file.first);
  if (const auto& stamp = file.second)
    entry.push(stamp->device).push(stamp->inode).push(stamp->size).push(stamp->modified_ns);
  return entry;
}

bool is_unchanged(const Json& stamp) {
  const auto& members = stamp.as_array();
  if (members.empty()) return false;
  const auto now = stamp_of(path_of(members[0].as_string()));
  if (members.size() != 5) return members.size() == 1 && !now;
  return now && now->device == static_cast<std::uint64_t>(members[1].as_integer()) &&
         now->inode == static_cast<std::uint64_t>(members[2].as_integer()) &&
         now->size == static_cast<std::uint64_t>(members[3].as_integer()) &&
         now->modified_ns == members[4].as_integer();
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
                               const std::filesystem::path& file, std::int64_t now) {
  const auto text = read_file(file, largest_file);
  if (!text) return std::nullopt;
  const auto document = parse_json(*text, path_text(file));
  if (!document || (*document)["format"].as_integer() != 1 || (*document)["key"].as_string() != key ||
      !has_every_fact((*document)["platform"]))
    return std::nullopt;
  // A clock that was set back would extend their lifetime.
  if ((*document)["seen"].as_integer() > now || (*document)["until"].as_integer() <= now) return std::nullopt;
  for (const Json& stamp : (*document)["files"].as_array())
    if (!is_unchanged(stamp)) return std::nullopt;
  auto platform = platform_from_json(*document, path_text(file));
  if (!platform) return std::nullopt;
  platform->memory = detect_memory(Root(request.root));
  platform->disk = detect_disk(request.cache_folder);
  return std::move(*platform);
}

void remember(const Platform& platform, const std::string& key, const std::filesystem::path& file,
              std::int64_t now) {
  Json files = Json::array();
  for (const FileDependency& stamp : file_dependencies(platform, Reach::everything))
    files.push(document_of(stamp));
  const Json document = Json::object()
                            .set("format", 1)
                            .set("key", key)
                            .set("seen", now)
                            .set("until", now + lifetime_seconds(platform))
                            .set("files", std::move(files))
                            .set("platform", to_json(platform));
  static_cast<void>(write_file(file, document.dump() + "\n", false));
}

}  // namespace enginehost::platform
