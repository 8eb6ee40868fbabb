#include "host/load/in_process/load.hpp"

#include <cstdint>
#include <iterator>
#include <string_view>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/load/in_process/open_library.hpp"
#include "host/preflight/plugin_floors.hpp"

namespace enginehost::load {

struct LoadedPlugin::State {
  std::filesystem::path file, view, root;
  const engine_plugin* plugin = nullptr;
  std::vector<Library> libraries;
  std::shared_ptr<const MappedPaths> before;
  MappedPaths came;                 // added by loading
  std::uint64_t loaded_so_far = 0;  // after that
  std::vector<Diagnosis> warnings;
  // Opened first and closed last; emptied without closing for a plugin that must stay.
  std::vector<OpenLibrary> preloads;
  OpenLibrary library;
  SearchFolders searched;
};

namespace {

bool same_file(const std::string& a, const std::filesystem::path& b) {
  calls::Status of_a{}, of_b{};
  return a == path_text(b) || (calls::stat(a, &of_a) == 0 && calls::stat(b, &of_b) == 0 &&
                               of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

// Checks the members that every descriptor fills; null when none is missing.
const char* null_member(const engine_plugin& plugin) {
  return plugin.engine == nullptr    ? "engine"
         : plugin.create == nullptr  ? "create"
         : plugin.destroy == nullptr ? "destroy"
         : plugin.facts == nullptr   ? "facts"
         : plugin.query == nullptr   ? "query"
                                     : nullptr;
}

// Finds the descriptor in memory. dlsym searches the plugin's dependencies too, so the address must lie in
// the file itself.
Result<const engine_plugin*> descriptor_of(const std::filesystem::path& file, const OpenLibrary& library) {
  void* symbol = library.symbol(ENGINE_PLUGIN_SYMBOL);
  if (symbol == nullptr)
    return fail(
        diagnose("EH-R11").with("file", path_text(file)).with("symbol", ENGINE_PLUGIN_SYMBOL, "dlsym"));
  if (const std::string where = file_of_address(symbol); where.empty() || !same_file(where, file))
    return fail(diagnose("EH-R11")
                    .with("file", path_text(file))
                    .with("symbol", ENGINE_PLUGIN_SYMBOL)
                    .with("problem", "its symbol is that of " + (where.empty() ? "another object" : where)));
  const auto* plugin = static_cast<const engine_plugin*>(symbol);
  const char* magic = reinterpret_cast<const char*>(plugin->magic);
  TRY(preflight::check_floors(
      {{magic, sizeof plugin->magic}, plugin->size, plugin->abi_major, plugin->abi_minor, plugin->host_minor},
      file));
  if (const char* const member = null_member(*plugin))
    return fail(diagnose("EH-R11")
                    .with("file", path_text(file))
                    .with("problem", std::string("`") + member + "` of its descriptor is NULL"));
  return plugin;
}

}  // namespace

LoadedPlugin::LoadedPlugin(std::unique_ptr<State> state) : state_(std::move(state)) {}

LoadedPlugin::~LoadedPlugin() {
  if ((state_->plugin->flags & ENGINE_PLUGIN_UNLOADABLE) != 0) {
    state_->library.unload();
    while (!state_->preloads.empty()) state_->preloads.pop_back();
    return;
  }
  state_->library.stay();
  state_->searched.stay();
  for (OpenLibrary& library : state_->preloads) library.stay();
}

const engine_plugin& LoadedPlugin::plugin() const { return *state_->plugin; }
const std::filesystem::path& LoadedPlugin::file() const { return state_->file; }
const std::filesystem::path& LoadedPlugin::view() const { return state_->view; }
const std::filesystem::path& LoadedPlugin::root() const {
  return state_->root.empty() ? state_->view : state_->root;
}
const std::vector<Library>& LoadedPlugin::libraries() const { return state_->libraries; }

std::vector<Library> LoadedPlugin::libraries_since() const {
  std::vector<Library> later;
  if (loaded_so_far() == state_->loaded_so_far) return later;
  for (Library& library : mapped_libraries())
    if (!state_->before->has(library.path) && !state_->came.has(library.path))
      later.push_back(std::move(library));
  find_sources(later, state_->view);
  return later;
}

const std::vector<Diagnosis>& LoadedPlugin::warnings() const { return state_->warnings; }

class Loader {
 public:
  static Result<std::unique_ptr<LoadedPlugin>> load(LoadRequest request) {
    auto state = std::make_unique<LoadedPlugin::State>();
    state->file = std::move(request.plugin);
    state->view = std::move(request.view);
    if (state->view.empty()) state->view = state->file.parent_path();
    state->root = std::move(request.root);
    state->before = std::move(request.before);
    if (!state->before) state->before = std::make_shared<const MappedPaths>(MappedPaths::now());
    const std::filesystem::path& file = state->file;
    const MappedPaths& before = *state->before;
    const auto report = [&](const char* stage) {
      if (request.on_stage) request.on_stage(stage);
    };
    ProcessStateGuard kept(request.streams);
    state->searched = SearchFolders(file, request.preload);
    if (!request.preload.empty()) report("preload");
    for (const std::filesystem::path& library : request.preload) {
      auto opened = OpenLibrary::open(library);
      if (!opened) return stay(std::move(state), std::move(opened.error().with("stage", "preload")));
      state->preloads.push_back(std::move(*opened));
    }
    report("load");
    auto opened = OpenLibrary::open(file);
    if (!opened) return stay(std::move(state), std::move(opened.error().with("stage", "load")));
    state->library = std::move(*opened);
    for (Diagnosis& change : kept.restore())
      state->warnings.push_back(std::move(change.with("file", path_text(file))));
    report("entry");
    auto descriptor = descriptor_of(file, state->library);
    if (!descriptor) return stay(std::move(state), std::move(descriptor.error().with("stage", "entry")));
    state->plugin = *descriptor;
    state->loaded_so_far = loaded_so_far();
    std::vector<Library> came = mapped_since(before);
    if (!request.preload.empty()) {
      std::vector<Library> all = mapped_then(before);
      all.insert(all.end(), came.begin(), came.end());
      for (Diagnosis& warning : substituted(all, request.preload))
        state->warnings.push_back(std::move(warning));
    }
    // Files of the view that were mapped before count as if this load had added them.
    if (before.may_lie_below(path_text(state->view)))
      for (Library& library : mapped_then(before))
        if (is_below(path_of(library.path), state->view)) state->libraries.push_back(std::move(library));
    for (const Library& library : came) state->came.add(library.path);
    std::move(came.begin(), came.end(), std::back_inserter(state->libraries));
    find_sources(state->libraries, state->view);
    return std::unique_ptr<LoadedPlugin>(new LoadedPlugin(std::move(state)));
  }

 private:
  // After a failure too: a library whose constructors ran cannot be unloaded safely.
  static tl::unexpected<Diagnosis> stay(std::unique_ptr<LoadedPlugin::State> state, Diagnosis diagnosis) {
    for (OpenLibrary& library : state->preloads) library.stay();
    state->library.stay();
    return fail(std::move(diagnosis));
  }
};

Result<std::unique_ptr<LoadedPlugin>> load_plugin(LoadRequest request) {
  return Loader::load(std::move(request));
}

}  // namespace enginehost::load
