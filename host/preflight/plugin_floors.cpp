#include "host/preflight/plugin_floors.hpp"

#include <enginehost/engine_plugin.h>

#include <cstring>
#include <string>

#include "base/paths.hpp"

namespace enginehost::preflight {
namespace {

std::string version(unsigned major, unsigned minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace

Result<void> check_floors(const PluginFloors& plugin, const std::filesystem::path& file) {
  if (plugin.magic.size() != 8 || std::memcmp(plugin.magic.data(), ENGINE_PLUGIN_MAGIC, 8) != 0)
    return fail(diagnose(Code::not_an_engine_plugin)
                    .with(Key::file, path_text(file))
                    .with(Key::problem,
                          "its " ENGINE_PLUGIN_SYMBOL " does not begin with \"" ENGINE_PLUGIN_MAGIC "\""));
  // The first published descriptor is the smallest one possible.
  if (plugin.size < sizeof(engine_plugin))
    return fail(diagnose(Code::not_an_engine_plugin)
                    .with(Key::file, path_text(file))
                    .with(Key::problem, "its descriptor says it is " + std::to_string(plugin.size) +
                                            " bytes long, fewer than " +
                                            std::to_string(sizeof(engine_plugin))));
  // Two floors instead of equality: the plugin may know newer features as long as it can work without them.
  if (plugin.abi_major == ENGINE_ABI_MAJOR && plugin.host_minor <= ENGINE_ABI_NEWEST_MINOR) return {};
  const unsigned minor = plugin.abi_major == ENGINE_ABI_MAJOR ? plugin.host_minor : plugin.abi_minor;
  Diagnosis diagnosis =
      std::move(diagnose(Code::plugin_does_not_match)
                    .with(Key::file, path_text(file))
                    .with(Key::plugin_abi, version(plugin.abi_major, minor), "the plugin's descriptor")
                    .with(Key::host_abi, version(ENGINE_ABI_MAJOR, ENGINE_ABI_NEWEST_MINOR)));
  if (plugin.abi_major < ENGINE_ABI_MAJOR) diagnosis.with(Key::plugin_is, "older");
  return fail(std::move(diagnosis));
}

Result<void> check_object_size(std::uint64_t size, const std::filesystem::path& file) {
  if (size == 0 || size >= sizeof(engine_plugin)) return {};
  return fail(diagnose(Code::not_an_engine_plugin)
                  .with(Key::file, path_text(file))
                  .with(Key::problem, "its " ENGINE_PLUGIN_SYMBOL " is " + std::to_string(size) +
                                          " bytes long, fewer than a descriptor's " +
                                          std::to_string(sizeof(engine_plugin))));
}

}  // namespace enginehost::preflight
