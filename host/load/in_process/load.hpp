// Loading a plugin into this process, by absolute path, now and local; and looking at what was really loaded.
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
  // Told "preload", "load", "entry" as each begins; empty: nobody is told.
  std::function<void(std::string_view stage)> on_stage;
  // What the process holds, where the caller has just listed it. nullptr: it is listed.
  std::shared_ptr<const MappedPaths> before = {};
  std::filesystem::path root = {};  // absolute; what the plugin is told as host->root; empty: the view
  // Not looked at where a child has seen that this build leaves them alone.
  Streams streams = Streams::kept;
};

// A plugin in this process. Its libraries stay loaded until the process ends, except those of a plugin that
// declares itself unloadable, which go when this object does. Const use from any thread.
class LoadedPlugin {
 public:
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;
  ~LoadedPlugin();

  const engine_plugin& plugin() const;
  const std::filesystem::path& file() const;
  const std::filesystem::path& view() const;
  const std::filesystem::path& root() const;  // what the plugin is told as host->root
  // What this load brought into the process, in load order: where each library really came from.
  const std::vector<Library>& libraries() const;
  // What came into the process after that: an adapter opens its runtime when its engine is made. Asked again
  // each time.
  std::vector<Library> libraries_since() const;
  // EH-L11 for each library of the build that another file took the place of ("library", "path", "wanted");
  // EH-R08 and EH-R09 for what kept.hpp keeps, was changed by loading and was set back.
  const std::vector<Diagnosis>& warnings() const;

 private:
  friend class Loader;
  struct State;
  explicit LoadedPlugin(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Opens the preloads in order, then the plugin, and checks its descriptor (magic, size, floors, and that the
// symbol lies in the file asked for). Errors name what the loader said ("os_said", "file", "stage"): with
// code EH-L01, L08, L09, L12 … as far as its text tells; host/load/recheck.hpp holds them against the files.
// EH-R11: no descriptor; EH-R12: ABI floors do not meet ("plugin_abi", "host_abi"). Constructors of the
// libraries run on this thread. Any thread; calls are serialized by the system's loader.
Result<std::unique_ptr<LoadedPlugin>> load_plugin(LoadRequest request);

}  // namespace enginehost::load
