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

namespace {

bool is_same_file(const std::string& a, const std::filesystem::path& b) {
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
  if (const std::string where = file_of_address(symbol); where.empty() || !is_same_file(where, file))
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

LoadedPlugin::~LoadedPlugin() {
  if (plugin_ != nullptr && (plugin_->flags & ENGINE_PLUGIN_UNLOADABLE) != 0) {
    library_.unload();
    while (!preloads_.empty()) preloads_.pop_back();
    return;
  }
  // After a failure too: a library whose constructors ran cannot be unloaded safely.
  library_.stay();
  for (OpenLibrary& library : preloads_) library.stay();
  if (plugin_ != nullptr) searched_.stay();
}

std::vector<Library> LoadedPlugin::libraries_since() const {
  std::vector<Library> later;
  if (loaded_so_far() == loaded_so_far_) return later;
  for (Library& library : mapped_libraries())
    if (!before_->has(library.path) && !came_->has(library.path)) later.push_back(std::move(library));
  find_sources(later, view_);
  return later;
}

Result<void> LoadedPlugin::load(const LoadRequest& request) {
  const auto enter = [&](const char* stage) {
    if (request.on_stage) request.on_stage(stage);
  };
  const auto failed = [](Diagnosis& why, const char* stage) {
    return fail(std::move(why.with("stage", stage)));
  };
  ProcessStateGuard kept(request.streams);
  searched_ = SearchFolders(file_, request.preload);
  if (!request.preload.empty()) enter("preload");
  for (const std::filesystem::path& library : request.preload) {
    auto opened = OpenLibrary::open(library);
    if (!opened) return failed(opened.error(), "preload");
    preloads_.push_back(std::move(*opened));
  }
  enter("load");
  auto opened = OpenLibrary::open(file_);
  if (!opened) return failed(opened.error(), "load");
  library_ = std::move(*opened);
  for (Diagnosis& change : kept.restore())
    warnings_.push_back(std::move(change.with("file", path_text(file_))));
  enter("entry");
  auto descriptor = descriptor_of(file_, library_);
  if (!descriptor) return failed(descriptor.error(), "entry");
  plugin_ = *descriptor;
  return {};
}

void LoadedPlugin::list_libraries(const LoadRequest& request) {
  loaded_so_far_ = loaded_so_far();
  std::vector<Library> came = mapped_since(*before_);
  if (!request.preload.empty()) {
    std::vector<Library> all = mapped_then(*before_);
    all.insert(all.end(), came.begin(), came.end());
    for (Diagnosis& warning : substituted(all, request.preload)) warnings_.push_back(std::move(warning));
  }
  // Files of the view that were mapped before count as if this load had added them.
  if (before_->may_lie_below(path_text(view_)))
    for (Library& library : mapped_then(*before_))
      if (is_below(path_of(library.path), view_)) libraries_.push_back(std::move(library));
  came_ = std::make_shared<MappedPaths>();
  for (const Library& library : came) came_->add(library.path);
  std::move(came.begin(), came.end(), std::back_inserter(libraries_));
  find_sources(libraries_, view_);
}

Result<std::unique_ptr<LoadedPlugin>> load_plugin(LoadRequest request) {
  std::unique_ptr<LoadedPlugin> plugin(new LoadedPlugin);
  plugin->file_ = request.plugin;
  plugin->view_ = request.view.empty() ? request.plugin.parent_path() : request.view;
  plugin->root_ = request.root;
  plugin->before_ = std::move(request.before);
  if (!plugin->before_) plugin->before_ = std::make_shared<const MappedPaths>(MappedPaths::now());
  TRY(plugin->load(request));
  plugin->list_libraries(request);
  return plugin;
}

std::vector<Diagnosis> ProcessStateGuard::restore() {
  std::vector<Diagnosis> reported;
  if (const std::uint32_t now = floating_point_mode(); now != floating_point_.mode())
    reported.push_back(std::move(diagnose("EH-R08")
                                     .with("before", hexadecimal(floating_point_.mode()), "MXCSR")
                                     .with("after", hexadecimal(now), "MXCSR")));
  if (const std::uint16_t now = x87_mode(); now != floating_point_.x87())
    reported.push_back(std::move(diagnose("EH-R09")
                                     .with("changed", "the control word of the x87 unit")
                                     .with("before", hexadecimal(floating_point_.x87()))
                                     .with("after", hexadecimal(now))));
  floating_point_.restore();
  restore_system(reported);
  return reported;
}

}  // namespace enginehost::load
