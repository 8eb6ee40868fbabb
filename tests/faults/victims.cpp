#include "tests/faults/victims.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "cache/tree_writer.hpp"
#include "host/explain/explain.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::faults {
namespace {

namespace fs = std::filesystem;

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "a build to damage could not be made: %s\n",
               explain::describe(result.error()).c_str());
  std::abort();
}

void must(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "a build to damage could not be made: %s\n",
               explain::describe(result.error()).c_str());
  std::abort();
}

// Libraries that every process holds already: a copy in the view would not be loaded.
bool belongs_to_every_process(const std::string& name) {
  constexpr std::string_view stems[] = {"ld-linux", "libc.so",  "libm.so",      "libpthread.so", "libdl.so",
                                        "librt.so", "libgcc_s", "libstdc++.so", "libresolv.so"};
  return std::any_of(std::begin(stems), std::end(stems),
                     [&](std::string_view stem) { return name.starts_with(stem); });
}

// The newest runtime in the user's cache.
fs::path cached_onnxruntime() {
  fs::path cache;
  if (const auto named = environment_variable("ENGINEHOST_CACHE"))
    cache = *named;
  else if (const auto xdg = environment_variable("XDG_CACHE_HOME"))
    cache = fs::path(*xdg) / "enginehost";
  else if (const auto home = environment_variable("HOME"))
    cache = fs::path(*home) / ".cache" / "enginehost";
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(cache / "trees", error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    for (fs::directory_iterator file(at->path() / "onnxruntime" / "capi", none), last; !none && file != last;
         file.increment(none))
      if (file->path().filename().native().starts_with("libonnxruntime.so")) found.push_back(file->path());
  }
  std::sort(found.begin(), found.end(),
            [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  return found.empty() ? fs::path() : found.back();
}

}  // namespace

Victims::Victims()
    : store_(cache::Store::open(workshop_.path("cache"))), machine_(linker::describe_this_machine()) {
  must(store_.prepare());
  machine_.library_path.clear();
  machine_.library_path_text.reset();
  add_reference();
  // Compression, threads with thread-local storage, functions chosen at load time, a database, graphics, and
  // networking with some thirty libraries below it.
  for (const char* library : {"libz.so.1", "liblzma.so.5", "libgomp.so.1", "libsqlite3.so.0",
                              "libfreetype.so.6", "libssl.so.3", "libcurl.so.4"})
    add_system(library);
  add_onnxruntime();
}

load::ProbeRequest Victims::probe_request(const Victim& victim, const std::vector<fs::path>& load_order) {
  load::ProbeRequest request;
  request.helper = ENGINEHOST_PROBE;
  request.load.view = victim.spec.view;
  request.load.plugin = victim.spec.plugin;
  request.load.preload = load_order;
  request.options = victim.installed.options;
  return request;
}

void Victims::add_reference() {
  const fs::path plugin = fs::path(test::build_path()) / "engines" / "libengine_reference.so";
  add("reference", plugin.filename(), {{plugin.filename(), plugin}}, {}, {});
}

void Victims::add_system(const std::string& library) {
  const auto path =
      machine_.cache.find(library, machine_.cache_flags, machine_.hwcaps, machine_.legacy_hwcap_bits);
  if (!path) {
    left_out_.push_back(library);
    return;
  }
  const fs::path asks =
      workshop_.plugin("libengine_" + library, "-Wl,--no-as-needed " + faults::quoted(*path));
  linker::Reader reader;
  linker::Request request;
  request.file = asks;
  const linker::Closure closure = linker::close(machine_, request, reader);
  if (!closure.loads()) {
    left_out_.push_back(library);
    return;
  }
  Files files{{"libengine_system.so", asks}};
  for (const linker::Object& object : closure.objects) {
    const std::string name = fs::path(object.path).filename();
    if (object.found_by != "request" && !belongs_to_every_process(name))
      files.emplace_back("lib/" + name, fs::canonical(object.path));
  }
  add(library, "libengine_system.so", files, {"lib"}, {});
}

void Victims::add_onnxruntime() {
  const fs::path plugin = fs::path(test::build_path()) / "engines" / "libengine_onnxruntime.so";
  const fs::path runtime = cached_onnxruntime();
  if (runtime.empty() || !fs::exists(plugin)) {
    left_out_.emplace_back("onnxruntime");
    return;
  }
  const std::string inside = "lib/" + runtime.filename().native();
  add("onnxruntime", plugin.filename(), {{plugin.filename(), plugin}, {inside, runtime}}, {"lib"},
      {{"onnxruntime.library", inside}}, {inside});
}

void Victims::add(const std::string& name, const std::string& plugin, const Files& files,
                  const std::vector<std::string>& search,
                  std::vector<std::pair<std::string, std::string>> options,
                  const std::vector<std::string>& run_time) {
  Victim victim;
  victim.name = name;
  cache::Stage stage = must(store_.stage(cache::Store::key_of(name)));
  const fs::path folder = stage.folder() / "files";
  must(make_folders(folder));
  cache::TreeWriter writer(folder);
  for (const auto& [path, file] : files) {
    must(writer.begin_file(path, false));
    must(writer.write(must(read_file(file))));
    must(writer.end_file());
  }
  cache::Installed record;
  record.build = name;
  record.engine = name;
  record.version = "1.0";
  record.flavor = "cpu";
  record.trees = {must(store_.publish_tree(must(writer.finish()), folder, "archive-" + name))};
  record.plugin = plugin;
  record.search = search;
  record.options = std::move(options);
  record.manifest = "{\"format\": 1}";
  must(store_.make_view(record.trees, stage).map([](const auto&) {}));
  must(store_.write_ref(std::move(record)).map([](const auto&) {}));
  auto found = must(store_.find(name));
  if (!found) std::abort();
  victim.installed = std::move(*found);
  victim.spec.view = victim.installed.folder;
  victim.spec.plugin = victim.spec.view / plugin;
  for (const std::string& place : search) victim.spec.search.push_back(victim.spec.view / place);
  victim.spec.machine = machine_;
  victim.load_order = preflight::check(victim.spec).load_order;
  victim.opened = victim.load_order;
  victim.opened.push_back(victim.spec.plugin);
  for (const std::string& path : run_time) victim.opened.push_back(victim.spec.view / path);
  for (const auto& [path, file] : files)
    victim.files.push_back({victim.spec.view / path, regions_of(victim.spec.view / path)});
  all_.push_back(std::move(victim));
}

}  // namespace enginehost::faults
