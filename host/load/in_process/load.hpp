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
#include "host/load/in_process/open_library.hpp"
#include "host/load/in_process/process_state_guard.hpp"

namespace enginehost::load {

struct Library {
  std::string soname, path;
  std::string
      origin;  // "cache" (below the view), "environment" (below a folder of LD_LIBRARY_PATH), "system"
};

struct LoadRequest {
  std::filesystem::path plugin;                // absolute
  std::filesystem::path view;                  // absolute; empty: the plugin's folder
  std::vector<std::filesystem::path> preload;  // preflight::Report::load_order
  // Called with "preload", "load", "entry" as each begins; may be empty
  std::function<void(std::string_view stage)> on_stage;
  std::filesystem::path root = {};  // absolute; passed to the plugin as host->root; empty: the view
};

// A plugin in this process. Its libraries stay loaded until the process ends. Those of a plugin that declares
// itself unloadable are unloaded with this object. Const members may be used from any thread.
class LoadedPlugin {
 public:
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;
  ~LoadedPlugin();

  const engine_plugin& plugin() const { return *plugin_; }
  const std::filesystem::path& file() const { return file_; }
  const std::filesystem::path& view() const { return view_; }
  // Passed to the plugin as host->root.
  const std::filesystem::path& root() const { return root_.empty() ? view_ : root_; }
  // Lists the libraries that came into the process since this load began, in load order, with the files they
  // really came from. An adapter opens its runtime when its engine is created. Files of the view that were
  // mapped before count too.
  std::vector<Library> libraries() const;
  // The libraries of the process before this load; without origins.
  const std::vector<Library>& before() const { return before_; }
  // EH-L11 for each library of the build that another file replaced ("library", "path", "wanted"). EH-R08 and
  // EH-R09 for state that loading changed and ProcessStateGuard restored.
  const std::vector<Diagnosis>& warnings() const { return warnings_; }

 private:
  friend Result<std::unique_ptr<LoadedPlugin>> load_plugin(const LoadRequest& request);
  LoadedPlugin() = default;

  std::filesystem::path file_, view_, root_;
  const engine_plugin* plugin_ = nullptr;  // null: loading failed
  std::vector<Library> before_;
  std::vector<Diagnosis> warnings_;
  std::vector<OpenLibrary> preloads_;  // opened first and closed last
  OpenLibrary library_;
  SearchFolders searched_;
};

// Opens the preloads in order, then the plugin, and checks its descriptor: magic, size, ABI floors, and that
// the symbol lies in the requested file. Constructors of the libraries run on this thread.
//
// Errors: EH-L01, L08, L09, L12 … as far as the loader's text shows the cause ("os_said", "file", "stage");
// host/load/probe_outcome.hpp compares them with the files. EH-R11: no descriptor. EH-R12: ABI floors do not
// meet
// ("plugin_abi", "host_abi").
//
// Thread safety: any thread; the system's loader serializes the calls.
Result<std::unique_ptr<LoadedPlugin>> load_plugin(const LoadRequest& request);

}  // namespace enginehost::load
