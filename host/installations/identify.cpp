#include <algorithm>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/installations/in_place.hpp"
#include "host/installations/parts.hpp"

namespace enginehost::installations {
namespace {

namespace fs = std::filesystem;

// The running program, which can be read even if it was replaced or removed. Null where installations are not
// recognized.
#ifdef __linux__
constexpr const char* own_program = "/proc/self/exe";
#else
constexpr const char* own_program = nullptr;
#endif

// A folder that may hold an engine's libraries, and the folder that corresponds to the published package's.
struct Nook {
  Nook(const fs::path& libraries, const fs::path& stands_for, const fs::path& holds)
      : folder(libraries), root(stands_for), packages(holds), listed(libraries) {}
  fs::path folder, root, packages;  // packages: empty outside Python packages
  Listing listed;                   // of the folder
};

std::vector<Nook> nooks_of(const Places& places, const KnownEngine& engine) {
  std::vector<Nook> nooks;
  for (const fs::path& packages : places.packages)
    for (const std::string_view inside : engine.package_folders)
      nooks.emplace_back(packages / path_of(inside), packages, packages);
  for (const fs::path& folder : places.libraries)
    nooks.emplace_back(folder, folder.filename() == "lib" ? folder.parent_path() : folder, fs::path());
  return nooks;
}

// Returns every source of the version, the most exact first.
std::vector<Package> versions_of(const Places& places, const KnownEngine& engine, const Nook& nook) {
  std::vector<Package> found;
  if (!nook.packages.empty()) {
    found = python_packages(nook.packages, engine.python_names);
    if (!engine.version_file.empty())
      if (const auto said = assigned_text(nook.packages / path_of(engine.version_file), engine.version_name))
        found.insert(found.begin(), {"", *said, nook.packages / path_of(engine.version_file)});
  }
  if (places.layout == Layout::conda)
    for (Package& package : conda_packages(places.prefix, engine.conda_names))
      found.push_back(std::move(package));
  if (nook.packages.empty()) {
    // An unpacked libtorch archive has a version file.
    for (const fs::path& folder : {nook.root, nook.folder.parent_path()})
      if (const auto text = read_file(folder / "build-version", 1024); text && !trim(*text).empty())
        found.push_back({"", std::string(trim(*text)), folder / "build-version"});
    if (places.is_system)
      if (auto package = debian_package(engine.debian_prefix)) found.push_back(std::move(*package));
  }
  return found;
}

// Returns "1.22.0" for libonnxruntime.so.1.22.0, with links followed.
std::string version_in_name(const fs::path& library) {
  std::error_code error;
  const std::string name = path_text(fs::canonical(library, error).filename());
  const std::size_t at = name.find(".so.");
  return error || at == std::string::npos ? std::string() : name.substr(at + 4);
}

std::string cxx11_abi_of(const fs::path& library, std::string_view symbol) {
  const auto table = binary::read_symbols(library);
  if (!table) return {};
  bool seen = false;
  for (const binary::Symbol& one : table->exports) {
    if (one.name.find(symbol) == std::string::npos) continue;
    seen = true;
    if (one.name.find("__cxx11") != std::string::npos) return "1";
  }
  return seen ? "0" : "";
}

void add_accelerator(const Places& places, const KnownEngine& engine, const Nook& nook,
                     const std::vector<binary::BinaryInfo>& infos, Runtime& runtime) {
  for (const std::string_view name : engine.rocm_libraries)
    if (const fs::path library = library_in(nook.listed, name); !library.empty()) {
      const auto said = nook.packages.empty() || engine.version_file.empty()
                            ? std::nullopt
                            : assigned_text(nook.packages / path_of(engine.version_file), "hip");
      const std::vector<std::string> parts = split(said.value_or(""), '.');
      runtime.flavor = parts.size() > 1 ? "rocm" + parts[0] + parts[1] : "rocm";
      runtime.requirements.rocm.emplace();
      if (parts.size() > 1) runtime.requirements.rocm->version = ">=" + parts[0] + "." + parts[1];
      runtime.found.push_back({"ROCm", said.value_or("of an unknown version"), path_text(library)});
      return;
    }
  const auto version = cuda_version_of(places, engine, infos, nook.folder);
  if (!version) return;
  manifest::CudaRequirement cuda;
  cuda.toolkit = version->toolkit;
  for (const std::string_view name : engine.cuda_libraries) {
    const fs::path library = library_in(nook.listed, name);
    if (library.empty()) continue;
    const auto code = binary::gpu_code(library);
    if (!code || code->entries.empty()) continue;
    for (const binary::GpuCode::Entry& entry : code->entries)
      (entry.kind == "ptx" ? cuda.ptx : cuda.sass).push_back(entry.arch);
    break;
  }
  runtime.found.push_back({"CUDA", cuda.toolkit, version->source});
  runtime.flavor = "cu" + join(split(cuda.toolkit, '.'), "");
  runtime.requirements.cuda = std::move(cuda);
}

// Returns the engine's own libraries that exist and are opened.
std::vector<fs::path> own_libraries(const KnownEngine& engine, const Nook& nook, const fs::path& main) {
  std::vector<fs::path> own = {main};
  for (const std::vector<std::string>* names :
       {&engine.other_libraries, &engine.cuda_libraries, &engine.rocm_libraries})
    for (const std::string_view name : *names)
      if (fs::path library = library_in(nook.listed, name); !library.empty())
        own.push_back(std::move(library));
  return own;
}

// A file that cannot be read has no known processor; it is reported as one for this machine.
std::string arch_of_this_program() {
  const auto info = binary::read_binary(own_program);
  return info ? info->machine : "unknown";
}

// Returns the first problem of any of them.
std::optional<Diagnosis> problem_of(const std::vector<fs::path>& libraries) {
  for (const fs::path& library : libraries) {
    const auto info = binary::read_binary(library);
    if (!info) return info.error();
    if (!info->problems.empty()) return info->problems.front();
  }
  return std::nullopt;
}

std::optional<Runtime> runtime_in(const Places& places, const KnownEngine& engine, const Nook& nook) {
  fs::path main;
  for (const std::string_view name : engine.main_libraries)
    if (main.empty()) main = library_in(nook.listed, name);
  const std::vector<Package> versions = versions_of(places, engine, nook);
  // Outside conda, which splits packages, a package without its library is broken.
  const bool is_torn = main.empty() && !nook.packages.empty() && places.layout != Layout::conda &&
                       std::any_of(versions.begin(), versions.end(),
                                   [](const Package& package) { return !package.name.empty(); });
  if (main.empty() && !is_torn) return std::nullopt;

  Runtime runtime;
  runtime.engine = engine.engine;
  runtime.flavor = "cpu";
  runtime.os = "linux";
  runtime.arch = arch_of_this_program();
  runtime.root = path_text(nook.root);
  for (const Package& package : versions) {
    if (runtime.version.empty()) {
      runtime.version = without_local_part(package.version);
      runtime.found.push_back({"version", runtime.version, path_text(package.file)});
    }
    runtime.dependency_stamps.push_back(path_text(package.file));
  }
  if (is_torn) {
    runtime.problem = diagnose(Code::installation_unusable)
                          .with(Key::path, path_text(nook.folder))
                          .with(Key::problem, "the package " + versions.back().name + " " + runtime.version +
                                                  " is there, and its library " +
                                                  std::string(engine.main_libraries.front()) + " is not");
    return runtime;
  }
  if (runtime.version.empty()) {
    runtime.version = version_in_name(main);
    if (!runtime.version.empty()) runtime.found.push_back({"version", runtime.version, path_text(main)});
  }
  const std::vector<fs::path> own = own_libraries(engine, nook, main);
  runtime.problem = problem_of(own);
  if (!runtime.problem && !nook.packages.empty())
    runtime.problem = overwritten(nook.packages, engine, nook.listed, main);
  Closure closure = close_over(places, own);
  runtime.libraries = std::move(closure.libraries);
  runtime.names = std::move(closure.names);
  runtime.dependency_stamps.insert(runtime.dependency_stamps.end(), runtime.libraries.begin(),
                                   runtime.libraries.end());
  if (closure.infos.empty()) {
    runtime.dependency_stamps.push_back(path_text(main));
    return runtime;
  }
  const binary::BinaryInfo& first = closure.infos.front();
  if (!first.machine.empty()) runtime.arch = first.machine;
  if (first.kind == binary::Kind::pe) runtime.os = "windows";
  if (first.kind == binary::Kind::macho) runtime.os = "macos";
  runtime.requirements = requirements_of(closure.infos);
  if (!engine.abi_library.empty())
    if (const fs::path library = library_in(nook.listed, engine.abi_library); !library.empty()) {
      runtime.cxx11_abi = cxx11_abi_of(library, engine.abi_symbol);
      if (!runtime.cxx11_abi.empty())
        runtime.found.push_back({"C++11 ABI", runtime.cxx11_abi, path_text(library)});
    }
  add_accelerator(places, engine, nook, closure.infos, runtime);
  if (runtime.version.empty() && !runtime.problem)
    runtime.problem = diagnose(Code::installation_unusable)
                          .with(Key::path, path_text(main))
                          .with(Key::problem, "no file beside it states the version of " + runtime.engine);
  return runtime;
}

void add_runtimes(const Places& places, Installation& installation) {
  std::error_code error;
  for (const KnownEngine& engine : known_engines())
    for (const Nook& nook : nooks_of(places, engine)) {
      auto runtime = runtime_in(places, engine, nook);
      if (!runtime) continue;
      // lib and lib/x86_64-linux-gnu may be one folder, and conda links one to the other.
      const bool known =
          std::any_of(installation.runtimes.begin(), installation.runtimes.end(), [&](const Runtime& other) {
            return other.engine == runtime->engine && !other.libraries.empty() &&
                   !runtime->libraries.empty() &&
                   fs::equivalent(path_of(other.libraries.front()), path_of(runtime->libraries.front()),
                                  error);
          });
      if (!known) installation.runtimes.push_back(std::move(*runtime));
    }
}

}  // namespace

Result<Installation> identify(const fs::path& path) {
  TRY_ASSIGN(const Places places, places_of(path));
  if (own_program == nullptr)
    return fail(diagnose(Code::installation_unusable)
                    .with(Key::path, path_text(path))
                    .with(Key::problem, "only installations on Linux are recognized"));
  Installation installation;
  installation.path = path;
  installation.layout = places.layout;
  add_runtimes(places, installation);
  installation.cuda = cuda_libraries_of(places);
  installation.dependency_stamps.push_back(path_text(path));
  if (places.layout == Layout::conda)
    installation.dependency_stamps.push_back(path_text(path / "conda-meta"));
  for (const std::vector<fs::path>* folders : {&places.packages, &places.libraries})
    for (const fs::path& folder : *folders) installation.dependency_stamps.push_back(path_text(folder));
  if (!installation.runtimes.empty() || !installation.cuda.empty()) return installation;
  Diagnosis nothing = diagnose(Code::no_engine_in_installation);
  nothing.with(Key::path, path_text(path)).with(Key::layout, name_of(places.layout));
  for (const KnownEngine& engine : known_engines())
    nothing.with(Key::looked_for, engine.main_libraries.front());
  for (const std::string& folder : installation.dependency_stamps) nothing.with(Key::searched, folder);
  return fail(std::move(nothing));
}

Json to_json(const Installation& installation) {
  Json engines = Json::array(), cuda = Json::array();
  for (const Runtime& runtime : installation.runtimes) {
    Json found = Json::array();
    for (const manifest::InstallationSign& one : runtime.found)
      found.push(Json::object().set("what", one.what).set("value", one.value).set("source", one.source));
    Json engine = Json::object();
    engine.set("engine", runtime.engine)
        .set("version", runtime.version)
        .set("flavor", runtime.flavor)
        .set("os", runtime.os)
        .set("arch", runtime.arch)
        .set("cxx11_abi", runtime.cxx11_abi)
        .set("libraries", Json::strings(runtime.libraries))
        .set("found", std::move(found));
    if (runtime.problem) engine.set("code", runtime.problem->code_text());
    engines.push(std::move(engine));
  }
  for (const CudaLibrary& library : installation.cuda)
    cuda.push(Json::object().set("soname", library.soname).set("path", library.path));
  return std::move(Json::object()
                       .set("path", path_text(installation.path))
                       .set("layout", name_of(installation.layout))
                       .set("engines", std::move(engines))
                       .set("cuda", std::move(cuda)));
}

}  // namespace enginehost::installations
