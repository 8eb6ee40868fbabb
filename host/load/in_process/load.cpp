#include "host/load/in_process/load.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <set>
#include <system_error>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/explain/loader_text.hpp"
#include "host/load/in_process/floating_point.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/preflight/plugin_floors.hpp"

namespace enginehost::load {

namespace dll = boost::dll;

struct LoadedPlugin::State {
  std::filesystem::path file, view, root;
  const engine_plugin* plugin = nullptr;
  std::vector<Library> libraries;
  std::set<std::string> known;      // paths of all libraries of the process after loading
  std::uint64_t loaded_so_far = 0;  // when `known` was
  std::vector<Diagnosis> warnings;
  // Opened first and closed last; emptied without closing for a plugin that must stay.
  std::vector<dll::shared_library> preloads;
  dll::shared_library library;
};

namespace {

// dll::shared_library unloads in its destructor. A plugin whose unloading is not tested may have threads
// asleep in its code or have registered handlers: it stays, at the price of this small object.
void pin(dll::shared_library&& library) { new dll::shared_library(std::move(library)); }

// The dl_error text is in what(), after boost's own words: "boost::dll::shared_library::load() failed
// (dlerror system message: /x.so: file too short): Bad file descriptor …".
std::string loader_said(const std::string& what) {
  constexpr std::string_view begin = "dlerror system message: ";
  const std::size_t at = what.find(begin);
  if (at == std::string::npos) return what;
  std::string text = what.substr(at + begin.size());
  const std::size_t end = text.rfind("): ");
  return end == std::string::npos ? text : text.substr(0, end);
}

Diagnosis failed_to_open(const std::filesystem::path& file, const std::string& text) {
  Diagnosis diagnosis = [&] {
    if (const auto hint = explain::read_loader_text(text)) return explain::to_diagnosis(*hint, text);
    return diagnose("EH-F08").with("problem", text).with("os_said", text);
  }();
  if (diagnosis.value("file").empty()) diagnosis.with("file", file.native());
  return diagnosis;
}

Result<dll::shared_library> open(const std::filesystem::path& file) {
  // The throwing form, since the error_code form loses dlerror's text. now: what is missing is told here and
  // not by a dead process later; local: engines must not see each other's symbols.
  try {
    return dll::shared_library(file, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  } catch (const std::exception& error) {
    return fail(failed_to_open(file, loader_said(error.what())));
  }
}

std::string hexadecimal(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "%04x", value);
  return text;
}

std::set<std::string> paths_of(const std::vector<Library>& libraries) {
  std::set<std::string> paths;
  for (const Library& library : libraries) paths.insert(library.path);
  return paths;
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

// The descriptor in memory. dlsym searches the plugin's dependencies too, so the address must lie in the file
// itself.
Result<const engine_plugin*> descriptor_of(const std::filesystem::path& file, dll::shared_library& library) {
  void* symbol = ::dlsym(library.native(), ENGINE_PLUGIN_SYMBOL);
  if (symbol == nullptr)
    return fail(diagnose("EH-R11").with("file", file.native()).with("symbol", ENGINE_PLUGIN_SYMBOL, "dlsym"));
  Dl_info where{};
  if (::dladdr(symbol, &where) == 0 || where.dli_fname == nullptr || !same_file(where.dli_fname, file))
    return fail(diagnose("EH-R11")
                    .with("file", file.native())
                    .with("symbol", ENGINE_PLUGIN_SYMBOL)
                    .with("problem", std::string("its symbol is that of ") +
                                         (where.dli_fname != nullptr ? where.dli_fname : "another object")));
  const auto* plugin = static_cast<const engine_plugin*>(symbol);
  const char* magic = reinterpret_cast<const char*>(plugin->magic);
  TRY(preflight::check_floors(
      {{magic, sizeof plugin->magic}, plugin->size, plugin->abi_major, plugin->abi_minor, plugin->host_minor},
      file));
  if (plugin->engine == nullptr || plugin->create == nullptr || plugin->destroy == nullptr ||
      plugin->facts == nullptr || plugin->query == nullptr)
    return fail(
        diagnose("EH-R11").with("file", file.native()).with("problem", "its descriptor has empty functions"));
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
  pin(std::move(state_->library));
  for (dll::shared_library& library : state_->preloads) pin(std::move(library));
}

const engine_plugin& LoadedPlugin::plugin() const { return *state_->plugin; }
const std::filesystem::path& LoadedPlugin::file() const { return state_->file; }
const std::filesystem::path& LoadedPlugin::view() const { return state_->view; }
const std::filesystem::path& LoadedPlugin::root() const { return state_->root; }
const std::vector<Library>& LoadedPlugin::libraries() const { return state_->libraries; }

std::vector<Library> LoadedPlugin::libraries_since() const {
  std::vector<Library> later;
  if (loaded_so_far() == state_->loaded_so_far) return later;
  for (Library& library : mapped_libraries())
    if (state_->known.count(library.path) == 0) later.push_back(std::move(library));
  find_origins(later, state_->view);
  return later;
}

const std::vector<Diagnosis>& LoadedPlugin::warnings() const { return state_->warnings; }

class Loader {
 public:
  static Result<std::unique_ptr<LoadedPlugin>> load(const LoadRequest& request) {
    auto state = std::make_unique<LoadedPlugin::State>();
    state->file = request.plugin;
    state->view = request.view.empty() ? request.plugin.parent_path() : request.view;
    state->root = request.root.empty() ? state->view : request.root;
    const std::set<std::string> before =
        paths_of(request.before != nullptr ? *request.before : mapped_libraries());
    const auto tell = [&](const char* stage) {
      if (request.on_stage) request.on_stage(stage);
    };
    {
      const FloatingPointMode keep;  // constructors of -ffast-math libraries change how this thread rounds
      const std::uint32_t mode = floating_point_mode();
      if (!request.preload.empty()) tell("preload");
      for (const std::filesystem::path& file : request.preload) {
        auto opened = open(file);
        if (!opened) return stay(std::move(state), std::move(opened.error().with("stage", "preload")));
        state->preloads.push_back(std::move(*opened));
      }
      tell("load");
      auto opened = open(request.plugin);
      if (!opened) return stay(std::move(state), std::move(opened.error().with("stage", "load")));
      state->library = std::move(*opened);
      if (floating_point_mode() != mode)
        state->warnings.push_back(std::move(diagnose("EH-R08")
                                                .with("file", request.plugin.native())
                                                .with("before", hexadecimal(mode), "MXCSR")
                                                .with("after", hexadecimal(floating_point_mode()), "MXCSR")));
    }
    tell("entry");
    auto descriptor = descriptor_of(request.plugin, state->library);
    if (!descriptor) return stay(std::move(state), std::move(descriptor.error().with("stage", "entry")));
    state->plugin = *descriptor;
    state->loaded_so_far = loaded_so_far();
    std::vector<Library> mapped = mapped_libraries();
    state->known = paths_of(mapped);
    for (Diagnosis& warning : substituted(mapped, request.preload))
      state->warnings.push_back(std::move(warning));
    std::erase_if(mapped, [&](const Library& library) {
      return before.count(library.path) != 0 && !is_below(path_of(library.path), state->view);
    });
    find_origins(mapped, state->view);
    state->libraries = std::move(mapped);
    return std::unique_ptr<LoadedPlugin>(new LoadedPlugin(std::move(state)));
  }

 private:
  // After a failure too: what ran its constructors cannot safely be taken out again.
  static tl::unexpected<Diagnosis> stay(std::unique_ptr<LoadedPlugin::State> state, Diagnosis diagnosis) {
    for (dll::shared_library& library : state->preloads) pin(std::move(library));
    if (state->library.is_loaded()) pin(std::move(state->library));
    return fail(std::move(diagnosis));
  }
};

Result<std::unique_ptr<LoadedPlugin>> load_plugin(const LoadRequest& request) {
  return Loader::load(request);
}

}  // namespace enginehost::load
