#include "host/commands/system_layer_umask.hpp"

namespace enginehost::commands {

bool is_system_layer(const cache::Store& store, const settings::Settings& settings) {
  if (store.layers().size() < settings.system_layers.size()) return true;  // the store counts itself as none
  const std::filesystem::path& usual = settings::Environment::of_this_process().system_layer;
  return settings.find("system_layers") == nullptr && !usual.empty() &&
         store.root().lexically_normal() == usual.lexically_normal();
}

}  // namespace enginehost::commands
