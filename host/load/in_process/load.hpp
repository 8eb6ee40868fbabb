// Loads a plugin into this process by absolute path (RTLD_NOW, RTLD_LOCAL) and lists what was really loaded.
#pragma once
#include <enginehost/engine_plugin.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/load/in_process/process_state_guard.hpp"

namespace enginehost::load {

struct Library {
  std::string soname, path;
  std::string
      origin;  // "cache" (below the view), "environment" (below a folder of LD_LIBRARY_PATH), "system"
};

class MappedPaths;  // loaded.hpp

struct LoadRequest {
  std::filesystem::path plugin;                // absolute
  std::filesystem::path view;                  // absolute; empty: the plugin's folder
  std::vector<std::filesystem::path> preload;  // preflight::Report::load_order
  // Called with "preload", "load", "entry" as each begins; may be empty
  std::function<void(std::string_view stage)> on_stage;
  // Libraries of the process, if the caller has just listed them; nullptr: load_plugin() lists them.
  std::shared_ptr<const MappedPaths> before = {};
  std::filesystem::path root = {};  // absolute; passed to the plugin as host->root; empty: the view
  // Not saved when a probe has shown that this build leaves the streams alone.
  Streams streams = Streams::kept;
};

// A plugin in this process. Its libraries stay loaded until the process ends. Those of a plugin that declares
// itself unloadable are unloaded with this object. Const members may be used from any thread.
class LoadedPlugin {
 public:
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;
  ~LoadedPlugin();

  const engine_plugin& plugin() const;
  const std::filesystem::path& file() const;
  const std::filesystem::path& view() const;
  const std::filesystem::path& root() const;  // passed to the plugin as host->root
  // Libraries that this load brought into the process, in load order, with the files they really came from.
  const std::vector<Library>& libraries() const;
  // Libraries that came after the load; an adapter opens its runtime when its engine is created. Listed again
  // at each call.
  std::vector<Library> libraries_since() const;
  // EH-L11 for each library of the build that another file replaced ("library", "path", "wanted"). EH-R08 and
  // EH-R09 for state that loading changed and ProcessStateGuard restored.
  const std::vector<Diagnosis>& warnings() const;

 private:
  friend class Loader;
  struct State;
  explicit LoadedPlugin(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Opens the preloads in order, then the plugin, and checks its descriptor: magic, size, ABI floors, and that
// the symbol lies in the requested file. Constructors of the libraries run on this thread.
//
// Errors: EH-L01, L08, L09, L12 … as far as the loader's text shows the cause ("os_said", "file", "stage");
// host/load/recheck.hpp compares them with the files. EH-R11: no descriptor. EH-R12: ABI floors do not meet
// ("plugin_abi", "host_abi").
//
// Thread safety: any thread; the system's loader serializes the calls.
Result<std::unique_ptr<LoadedPlugin>> load_plugin(LoadRequest request);

}  // namespace enginehost::load
