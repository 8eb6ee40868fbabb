#include "host/open/early_decision.hpp"

#include <cstring>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/first_bytes.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/history/firsts.hpp"
#include "host/history/program.hpp"
#include "host/open/dependency_set.hpp"
#include "host/open/dependency_stamp.hpp"
#include "host/platform/machine_key.hpp"
#include "host/settings/settings_key.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr std::string_view first_line = "enginehost-shortcut 5\n";

// Appends "NAME SIZE" and that many bytes, which may be any.
void add_block(std::string& text, std::string_view name, std::string_view bytes) {
  text.append(name).append(" ").append(std::to_string(bytes.size())).append("\n").append(bytes).append("\n");
}

// Reads lines and changes the text: each value ends with a zero byte, as system calls need it.
class LineReader {
 public:
  LineReader(char* text, std::size_t size) : at_(text), end_(text + size) {}
  bool at_end() const { return at_ == end_; }
  // Reads "NAME VALUE". Returns false if there is no such line.
  bool line(std::string_view& name, std::string_view& value) {
    char* const begin = at_;
    char* const newline = static_cast<char*>(std::memchr(begin, '\n', left()));
    if (newline == nullptr) return false;
    *newline = '\0';
    at_ = newline + 1;
    const std::string_view all(begin, static_cast<std::size_t>(newline - begin));
    const std::size_t space = all.find(' ');
    if (space == std::string_view::npos) return false;
    name = all.substr(0, space);
    value = all.substr(space + 1);
    return true;
  }
  std::optional<std::string_view> block(std::string_view size) {
    const auto count = parse_integer(size);
    if (!count || *count < 0 || static_cast<std::uint64_t>(*count) >= left()) return std::nullopt;
    const std::string_view bytes(at_, static_cast<std::size_t>(*count));
    at_ += bytes.size() + 1;
    return bytes;
  }

 private:
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  char *at_, *const end_;
};

std::string key_of(const settings::SettingsKey& settings_key, const OpenRequest& open) {
  std::string key;
  key.reserve(settings_key.text.size() + 256);
  const auto add = [&](std::string_view value) { key.append(value).push_back('\0'); };
  add(ENGINEHOST_VERSION);
  for (const std::string* part :
       {&open.request.engine, &open.request.version, &open.request.flavor, &open.request.device})
    add(*part);
  add(open.request.require ? "require"sv : ""sv);
  add(open.request.offline ? "offline"sv : ""sv);
  add(open.attempt.probe ? "probe"sv : ""sv);
  if (open.attempt.probe_deadline) add(history::deadline_text(*open.attempt.probe_deadline));
  // A script is started by its own name. The build id shows that its interpreter changed.
  add(history::program_build_id());
  add(settings_key.text);
  return key;
}

bool may_take_one(const OpenRequest& open) {
  return !open.plan_only && !open.bypass_cache && open.plugin.empty() && open.request.force.empty();
}

// Reads everything before the dependency lines. Returns false if the text has another format.
bool read_decision(LineReader& reader, EarlyDecision& ready) {
  CachedDecision& decision = ready.decision;
  for (std::string_view name, value; reader.line(name, value);) {
    std::string* text = nullptr;
    std::vector<std::string>* list = nullptr;
    switch (first_bytes(name)) {
      case first_bytes("cache"):
        ready.places.cache_folder = path_of(value);
        continue;
      case first_bytes("state"):
        ready.places.state_folder = path_of(value);
        continue;
      case first_bytes("layer"):
        ready.places.system_layers.push_back(path_of(value));
        continue;
      case first_bytes("offline"):
        ready.offline = value == "yes"sv;
        continue;
      case first_bytes("fallback"):
        decision.fallback = value == "yes"sv;
        continue;
      case first_bytes("opened"):
        decision.opened_before = value == "before"sv;
        continue;
      case first_bytes("record"): {
        const std::size_t space = value.find(' ');
        if (space == std::string_view::npos ||
            !cache::take_record_line(ready.installed, value.substr(0, space), value.substr(space + 1)))
          return false;
        continue;
      }
      case first_bytes("looks"):
        return !decision.digest.empty() && !ready.places.state_folder.empty();
      case first_bytes("flavor"):
        text = &ready.flavor;
        break;
      case first_bytes("device"):
        text = &ready.device;
        break;
      case first_bytes("build"):
        text = &decision.build;
        break;
      case first_bytes("digest"):
        text = &decision.digest;
        break;
      case first_bytes("artifacts"):
        text = &decision.artifacts;
        break;
      case first_bytes("program"):
        text = &decision.program;
        break;
      case first_bytes("load"):
        list = &decision.load_order;
        break;
      case first_bytes("warning"):
        list = &decision.warnings;
        break;
      case first_bytes("passed-over"):
        list = &decision.passed_over;
        break;
      default:
        return false;
    }
    if (list != nullptr) text = &list->emplace_back();
    *text = value;
  }
  return false;
}

// Returns true if every dependency is unchanged. Stores the stamps of the folders of builds and of records.
bool dependencies_hold(LineReader& reader, EarlyDecision& ready) {
  const std::string builds = builds_folder(ready.places.cache_folder),
                    records = records_folder(ready.places.state_folder);
  DependencyStamps dependency_stamps(OpenContext::now());
  for (std::string_view name, value; !reader.at_end();) {
    if (!reader.line(name, value) || !dependency_stamps.hold(name, value)) return false;
    if (name != "stamp"sv || !(value.ends_with(builds) || value.ends_with(records))) continue;
    FileStamp stamp = stamp_in(value);
    stamp.size = 0;
    if (value == builds) ready.folders.builds = stamp;
    if (value == records) ready.folders.records = stamp;
  }
  return true;
}

}  // namespace

EarlyDecisionCache::EarlyDecisionCache(const settings::FlagValues& flags, const OpenRequest& open) {
  if (!may_take_one(open)) return;
  const auto settings_key = settings::settings_key(flags);
  if (!settings_key) return;
  key_ = key_of(*settings_key, open);
  cache_ = settings_key->cache;
  file_ = cache_ + "/state/shortcuts/" + checksum(key_);
  began_ns_ = wall_clock_ns();
  machine_text_ = platform::machine_key_text(platform::Reach::decisive);
}

std::unique_ptr<EarlyDecision> EarlyDecisionCache::find() const {
  if (key_.empty()) return nullptr;
  Content content(file_.c_str());
  const std::string_view text = content.text();
  constexpr std::size_t checksum_size = 32;
  if (!text.starts_with(first_line) || text.size() < first_line.size() + checksum_size) return nullptr;
  const std::string_view body = text.substr(0, text.size() - checksum_size);
  // A file that a power cut truncated is a miss.
  if (checksum(body) != text.substr(body.size())) return nullptr;
  LineReader reader(content.data() + first_line.size(), body.size() - first_line.size());
  const auto is_block = [&](std::string_view wanted, std::string_view bytes) {
    std::string_view name, size;
    return reader.line(name, size) && name == wanted && reader.block(size) == bytes;
  };
  if (!is_block("key", key_) || !is_block("machine", machine_text_)) return nullptr;
  auto ready = std::make_unique<EarlyDecision>();
  if (!read_decision(reader, *ready) || !dependencies_hold(reader, *ready)) return nullptr;
  return ready;
}

void EarlyDecisionCache::keep(OpenContext& context, const Outcome& outcome,
                              const CachedDecision& decision) const {
  const settings::Settings& settings = context.settings();
  if (key_.empty() || !outcome.by_cached_decision || context.store().root() != path_of(cache_) ||
      !settings.force.empty() || settings::bytes_to_hash(settings) > 0 ||
      context.state_folder().parent_path() != context.store().root() / "state")
    return;
  const platform::DetectRequest machine = context.detect_request();
  DependencySet dependencies(began_ns_);
  for (const std::string& folder : settings.inputs.writable) dependencies.add_writable(folder);
  for (const std::string& file : settings.inputs.runnable) dependencies.add_runnable(file);
  for (const std::string& file : settings.inputs.files) dependencies.add_rights(file);
  dependencies.add_lines(decision.dependency_stamps);
  dependencies.leave_out(platform::files_in_machine_key_text(machine_text_));
  for (const platform::MachineInput& input : platform::machine_inputs(machine, platform::Reach::decisive))
    dependencies.add(input);
  // The key identifies this program.
  const std::string opened = history::file_of_first(context.state_folder(), decision.digest,
                                                    history::First::opening, history::program_id());
  const bool opened_before = calls::access(opened, F_OK) == 0;
  if (opened_before) dependencies.add_there(opened);
  const auto dependency_stamps = dependencies.text();
  // The machine key is compared last, so that the stamps taken here belong to the machine of the cached
  // decision.
  if (!dependency_stamps ||
      platform::machine_key(machine, platform::Reach::decisive, machine_text_) != decision.machine)
    return;
  std::string text(first_line);
  add_block(text, "key", key_);
  add_block(text, "machine", machine_text_);
  bool plain = true;
  const auto add = [&](std::string_view name, std::string_view value) {
    plain = plain && value.find('\n') == std::string_view::npos;
    text.append(name).append(" ").append(value).append("\n");
  };
  add("cache", cache_);
  add("state", path_text(context.state_folder()));
  for (const fs::path& layer : context.store().layers()) add("layer", path_text(layer));
  add("flavor", settings.flavor);
  add("device", settings.device);
  add("offline", settings.offline ? "yes" : "no");
  add("build", decision.build);
  add("digest", decision.digest);
  add("artifacts", decision.artifacts);
  add("fallback", decision.fallback ? "yes" : "no");
  add("opened", opened_before ? "before" : "never");
  add("program", history::program_id());
  for (const std::string& path : decision.load_order) add("load", path);
  for (const std::string& warning : decision.warnings) add("warning", warning);
  for (const std::string& message : decision.passed_over) add("passed-over", message);
  const cache::Installed& installed = outcome.opened->installed;
  if (!installed.read_only && installed.layer == context.store().root() && context.store().keeps_locks())
    for (const std::string& line : split(cache::record_lines(installed), '\n'))
      if (!line.empty()) add("record", line);
  add("looks", "");
  text += *dependency_stamps;
  const fs::path file = path_of(file_);
  if (!plain || !make_folders(file.parent_path())) return;
  make_room(file.parent_path());
  // Not synced, and no error if it cannot be written, because it can be made again.
  static_cast<void>(write_file(file, text + checksum(text), false));
}

}  // namespace enginehost::open
