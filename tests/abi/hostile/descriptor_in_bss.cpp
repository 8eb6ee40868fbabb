// A descriptor with a dynamic initializer: right once loaded, and only zeros in the file.
#include <enginehost/engine_plugin.h>

#include <cstdlib>
#include <cstring>

namespace {

engine_plugin make() {
  engine_plugin plugin{};
  std::memcpy(plugin.magic, ENGINE_PLUGIN_MAGIC, sizeof plugin.magic);
  plugin.size = sizeof plugin;
  plugin.abi_major = ENGINE_ABI_MAJOR;
  // A value that an optimizer cannot compute at compile time.
  plugin.version = std::getenv("HOSTILE_VERSION");
  return plugin;
}

}  // namespace

const engine_plugin engine_plugin_v1 = make();
