#include "host/attempt/loading.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/paths.hpp"
#include "host/attempt/load_check.hpp"
#include "host/load/in_process/loaded.hpp"

namespace enginehost::open {

Result<void> Loading::load(Opened& opened, CrashGuard& crash_guard) {
  const Stopwatch watch(parts_.log, "load");
  const auto before = std::make_shared<const load::MappedPaths>(load::MappedPaths::now());
  auto up = load_between(opened, crash_guard, before);
  // Libraries of every try are collected, because those of an earlier try were there before the last.
  if (!up) std::ranges::move(load::mapped_since(*before), std::back_inserter(left_));
  return up;
}

// `before`: the files that the process had mapped.
Result<void> Loading::load_between(Opened& opened, CrashGuard& crash_guard,
                                   const std::shared_ptr<const load::MappedPaths>& before) {
  crash_guard.enter("dlopen");
  load::LoadRequest request = load_check_.load_request(opened.installed);
  request.before = before;
  const load::Streams streams = this->streams();
  request.streams = streams;
  request.on_stage = [&](std::string_view stage) {
    if (stage == "entry") crash_guard.enter("entry");
  };
  auto loaded = load::load_plugin(std::move(request));
  if (!loaded) return fail(load_check_.explained(std::move(loaded).error(), opened.installed));
  opened.plugin = std::move(*loaded);
  crash_guard.enter("create");
  opened.engine_options.options = opened.installed.options;
  opened.log = parts_.options.log;
  if (opened.log) {
    opened.engine_options.log_level = log_level(parts_);
    opened.engine_options.log = [log = opened.log](std::int32_t level, std::string_view topic,
                                                   std::string_view message) {
      log->report({level, topic, message, false});
    };
  }
  load::EngineOptions engine_options = opened.engine_options;
  engine_options.call.cancel = parts_.context.cancel();
  engine_options.streams = streams;
  auto engine = load::Engine::create(opened.plugin, std::move(engine_options));
  if (!engine) return fail(load_check_.explained(std::move(engine).error(), opened.installed));
  opened.engine = std::move(*engine);
  TRY_ASSIGN(opened.devices, opened.engine->devices());
  opened.libraries = opened.plugin->libraries();
  std::vector<load::Library> later = opened.plugin->libraries_since();
  std::move(later.begin(), later.end(), std::back_inserter(opened.libraries));
  for (const Diagnosis& warning : opened.plugin->warnings()) parts_.log.warn(warning);
  for (const Diagnosis& warning : opened.engine->warnings()) parts_.log.warn(warning);
  warn_of_hijacks(opened, *before);
  return require_devices(opened.devices);
}

// The record of a proven build shows whether it changes the process's streams.
load::Streams Loading::streams() const {
  const bool changes = std::ranges::any_of(parts_.log.warnings,
                                           [](const Diagnosis& warning) { return warning.code == "EH-R09"; });
  return parts_.log.proven_before && !changes ? load::Streams::not_looked_at : load::Streams::kept;
}

void Loading::warn_of_hijacks(const Opened& opened, const load::MappedPaths& before) {
  const std::vector<load::Library>& own = load_check_.own_libraries();
  // Most builds bring every library that was loaded. Nothing can replace them.
  if (own.empty() && std::ranges::all_of(opened.libraries, [](const load::Library& library) {
        return library.origin == "cache";
      }))
    return;
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : own_folders(opened)) folders.push_back(path_of(folder));
  for (Diagnosis& hijack : load::hijacked(own, folders, opened.libraries, load::mapped_then(before)))
    warn_once(std::move(hijack));
}

// Adds the warning unless the static check or the loader already reported the library.
void Loading::warn_once(Diagnosis warning) {
  std::vector<Diagnosis>& warnings = parts_.log.warnings;
  const bool reported = std::any_of(warnings.begin(), warnings.end(), [&](const Diagnosis& known) {
    return (known.code == "EH-L11" || known.code == "EH-L17") &&
           known.value("library") == warning.value("library") && known.value("path") == warning.value("path");
  });
  if (!reported) warnings.push_back(std::move(warning));
}

Result<void> Loading::require_devices(const std::vector<load::Device>& offered) const {
  for (const std::string& wanted : parts_.devices) {
    const bool there = std::any_of(offered.begin(), offered.end(),
                                   [&](const load::Device& device) { return device.is_meant_by(wanted); });
    if (there) continue;
    Diagnosis failure = diagnose("EH-S09").with("device", wanted, "request");
    for (const load::Device& device : offered) failure.with("offered", device.text(), "the engine");
    return fail(std::move(failure));
  }
  return {};
}

std::vector<std::string> own_folders(const Opened& opened) {
  const auto& file = path_text(opened.plugin->file());
  std::vector<std::string> folders;
  folders.reserve(opened.installed.search.size() + 2);  // callers append one more
  folders.emplace_back(file, 0,
                       std::max<std::size_t>(1, file.rfind(std::filesystem::path::preferred_separator)));
  for (const std::string& folder : opened.installed.search)
    folders.push_back(text_below(opened.installed.folder, {folder}));
  return folders;
}

}  // namespace enginehost::open
