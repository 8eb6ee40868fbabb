#include "host/load/in_process/load.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

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
    return fail(diagnose(Code::not_an_engine_plugin)
                    .with(Key::file, path_text(file))
                    .with(Key::symbol, ENGINE_PLUGIN_SYMBOL, "dlsym"));
  if (const std::string where = file_of_address(symbol); where.empty() || !is_same_file(where, file))
    return fail(
        diagnose(Code::not_an_engine_plugin)
            .with(Key::file, path_text(file))
            .with(Key::symbol, ENGINE_PLUGIN_SYMBOL)
            .with(Key::problem, "its symbol is that of " + (where.empty() ? "another object" : where)));
  const auto* plugin = static_cast<const engine_plugin*>(symbol);
  const char* magic = reinterpret_cast<const char*>(plugin->magic);
  TRY(preflight::check_floors(
      {{magic, sizeof plugin->magic}, plugin->size, plugin->abi_major, plugin->abi_minor, plugin->host_minor},
      file));
  if (const char* const member = null_member(*plugin))
    return fail(diagnose(Code::not_an_engine_plugin)
                    .with(Key::file, path_text(file))
                    .with(Key::problem, std::string("`") + member + "` of its descriptor is NULL"));
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
  if (plugin_ != nullptr) static_cast<void>(searched_.release());  // kept until the process ends
}

std::vector<Library> LoadedPlugin::libraries() const {
  std::vector<Library> libraries;
  for (const Library& library : before_)
    if (is_below(path_of(library.path), view_)) libraries.push_back(library);
  std::ranges::move(mapped_since(before_), std::back_inserter(libraries));
  find_sources(libraries, view_);
  return libraries;
}

Result<std::unique_ptr<LoadedPlugin>> load_plugin(const LoadRequest& request) {
  std::unique_ptr<LoadedPlugin> plugin(new LoadedPlugin);
  const std::filesystem::path& file = plugin->file_ = request.plugin;
  plugin->view_ = request.view.empty() ? file.parent_path() : request.view;
  plugin->root_ = request.root;
  plugin->before_ = mapped_libraries();
  std::string_view stage;
  const auto enter = [&](std::string_view entered) {
    stage = entered;
    if (request.on_stage) request.on_stage(stage);
  };
  const auto failed = [&](Diagnosis& why) { return fail(std::move(why.with(Key::stage, stage))); };
  ProcessStateGuard kept;
  plugin->searched_ = search_folders(file, request.preload);
  if (!request.preload.empty()) enter("preload");
  for (const std::filesystem::path& library : request.preload) {
    auto opened = OpenLibrary::at(library);
    if (!opened) return failed(opened.error());
    plugin->preloads_.push_back(std::move(*opened));
  }
  enter("load");
  auto opened = OpenLibrary::at(file);
  if (!opened) return failed(opened.error());
  plugin->library_ = std::move(*opened);
  for (Diagnosis& change : kept.restore())
    plugin->warnings_.push_back(std::move(change.with(Key::file, path_text(file))));
  enter("entry");
  auto descriptor = descriptor_of(file, plugin->library_);
  if (!descriptor) return failed(descriptor.error());
  plugin->plugin_ = *descriptor;
  if (!request.preload.empty())
    std::ranges::move(substituted(mapped_libraries(), request.preload),
                      std::back_inserter(plugin->warnings_));
  return plugin;
}

std::vector<Diagnosis> ProcessStateGuard::restore() {
  std::vector<Diagnosis> reported;
  if (const std::uint32_t now = floating_point_mode(); now != floating_point_.mode())
    reported.push_back(std::move(diagnose(Code::engine_changes_floating_point)
                                     .with(Key::before, hexadecimal(floating_point_.mode()), "MXCSR")
                                     .with(Key::after, hexadecimal(now), "MXCSR")));
  if (const std::uint16_t now = x87_mode(); now != floating_point_.x87())
    reported.push_back(std::move(diagnose(Code::engine_changes_process_state)
                                     .with(Key::changed, "the control word of the x87 unit")
                                     .with(Key::before, hexadecimal(floating_point_.x87()))
                                     .with(Key::after, hexadecimal(now))));
  floating_point_.restore();
  restore_system(reported);
  return reported;
}

}  // namespace enginehost::load
