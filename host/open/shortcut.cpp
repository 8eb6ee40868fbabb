#include "host/open/shortcut.hpp"

#include <cstring>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/history/firsts.hpp"
#include "host/history/program.hpp"
#include "host/open/testimony.hpp"
#include "host/open/witness.hpp"
#include "host/platform/machine_key.hpp"
#include "host/settings/deciding.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "enginehost-shortcut 4\n";

// "NAME SIZE", and that many bytes, whatever they are.
void add_block(std::string& text, std::string_view name, std::string_view bytes) {
  text.append(name).append(" ").append(std::to_string(bytes.size())).append("\n").append(bytes).append("\n");
}

// Reads a text that it changes: what is read ends with a zero byte, as system calls want it.
class Reader {
 public:
  Reader(char* text, std::size_t size) : at_(text), end_(text + size) {}
  bool at_end() const { return at_ == end_; }
  // "NAME VALUE"; false for what is no line.
  bool line(std::string_view& name, char*& value) {
    char* const begin = at_;
    char* const newline = static_cast<char*>(std::memchr(begin, '\n', left()));
    if (newline == nullptr) return false;
    *newline = '\0';
    at_ = newline + 1;
    value = static_cast<char*>(std::memchr(begin, ' ', static_cast<std::size_t>(newline - begin)));
    if (value == nullptr) return false;
    name = std::string_view(begin, static_cast<std::size_t>(value - begin));
    ++value;
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

std::string key_of(const settings::Deciding& deciding, const OpenRequest& open) {
  std::string key;
  key.reserve(deciding.text.size() + 256);
  const auto add = [&](std::string_view value) { key.append(value).push_back('\0'); };
  add(ENGINEHOST_VERSION);
  for (const std::string* part :
       {&open.request.engine, &open.request.version, &open.request.flavor, &open.request.device})
    add(*part);
  add(open.request.require ? "require" : "");
  add(open.request.offline ? "offline" : "");
  add(open.attempt.probe ? "probe" : "");
  if (open.attempt.probe_deadline) add(history::deadline_text(*open.attempt.probe_deadline));
  // A script is started by its own name: another release of its interpreter is told by this.
  add(history::program_build_id());
  add(deciding.text);
  return key;
}

bool may_take_one(const OpenRequest& open) {
  return !open.plan_only && !open.decide_anew && open.plugin.empty() && open.request.force.empty();
}

}  // namespace

Shortcut::Shortcut(const settings::FlagValues& flags, const OpenRequest& open) {
  if (!may_take_one(open)) return;
  const auto deciding = settings::deciding(flags);
  if (!deciding) return;
  key_ = key_of(*deciding, open);
  cache_ = deciding->cache;
  file_ = cache_ + "/state/shortcuts/" + checksum(key_);
  began_ns_ = wall_clock_ns();
}

std::optional<Ready> Shortcut::find() const {
  if (key_.empty()) return std::nullopt;
  Content content(file_.c_str());
  const std::string_view text = content.text();
  constexpr std::size_t checksum_size = 32;
  if (!text.starts_with(first_line) || text.size() < first_line.size() + checksum_size) return std::nullopt;
  const std::string_view told = text.substr(0, text.size() - checksum_size);
  // A file that a power cut left half empty is none.
  if (checksum(told) != text.substr(told.size())) return std::nullopt;
  Reader reader(content.data(), told.size());
  Ready ready;
  std::string records;
  platform::DetectRequest machine;
  machine.cache_folder = path_of(cache_);
  const std::string builds = builds_folder(machine.cache_folder);
  std::string_view words;
  Witnesses witnesses(World::now());
  bool ours = false;
  for (std::string_view name; !reader.at_end();) {
    char* value = nullptr;
    if (!reader.line(name, value)) return std::nullopt;
    if (name == "enginehost-shortcut") continue;
    if (name == "key" || name == "machine") {
      const auto block = reader.block(value);
      if (!block || (name == "key" && *block != key_)) return std::nullopt;
      if (name == "key") ours = true;
      if (name == "machine") words = *block;
    } else if (name == "state") {
      ready.places.state_folder = path_of(value);
      records = records_folder(ready.places.state_folder);
    } else if (name == "layer") {
      ready.places.system_layers.push_back(path_of(value));
    } else if (name == "helper") {
      machine.helper = path_of(value);
    } else if (name == "launcher") {
      machine.helper_launcher.emplace_back(value);
    } else if (name == "flavor") {
      ready.flavor = value;
    } else if (name == "device") {
      ready.device = value;
    } else if (name == "offline") {
      ready.offline = std::string_view(value) == "yes";
    } else if (name == "build") {
      ready.ticket.build = value;
    } else if (name == "digest") {
      ready.ticket.digest = value;
    } else if (name == "artifacts") {
      ready.ticket.artifacts = value;
    } else if (name == "fallback") {
      ready.ticket.fallback = std::string_view(value) == "yes";
    } else if (name == "opened") {
      ready.ticket.opened_before = std::string_view(value) == "before";
    } else if (name == "program") {
      ready.ticket.program = value;
    } else if (name == "load") {
      ready.ticket.load_order.emplace_back(value);
    } else if (name == "warning") {
      ready.ticket.warnings.emplace_back(value);
    } else if (name == "passed-over") {
      ready.ticket.passed_over.emplace_back(value);
    } else if (!ours || !witnesses.hold(name, value)) {
      return std::nullopt;
    } else if (const std::string_view line(value);
               name == "stamp" && (line.ends_with(builds) || line.ends_with(records))) {
      FileStamp stamp = stamp_in(value);
      stamp.size = 0;
      if (value == builds) ready.folders.builds = stamp;
      if (value == records) ready.folders.records = stamp;
    }
  }
  if (!ours || ready.ticket.digest.empty() || ready.places.state_folder.empty() || words.empty() ||
      platform::machine_words(machine, platform::Reach::decisive) != words)
    return std::nullopt;
  ready.places.cache_folder = std::move(machine.cache_folder);
  return ready;
}

void Shortcut::keep(World& world, const Outcome& outcome, const Ticket& ticket) const {
  const settings::Settings& settings = world.settings();
  if (key_.empty() || !outcome.by_ticket || world.store().root() != path_of(cache_) ||
      !settings.force.empty() || world.state_folder().parent_path() != world.store().root() / "state")
    return;
  const platform::DetectRequest machine = world.detect_request();
  Testimony testimony(began_ns_);
  for (const std::string& folder : settings.looks.writable) testimony.add_writable(folder);
  for (const std::string& file : settings.looks.runnable) testimony.add_runnable(file);
  for (const std::string& file : settings.looks.files) testimony.add_rights(file);
  testimony.add_lines(ticket.witnesses);
  for (const platform::MachineLook& look : platform::machine_looks(machine, platform::Reach::decisive))
    testimony.add(look);
  // Of this program: the key tells it.
  const std::string opened = history::file_of_first(world.state_folder(), ticket.digest,
                                                    history::First::opening, history::program_id());
  const bool opened_before = calls::access(opened, F_OK) == 0;
  if (opened_before) testimony.add_there(opened);
  const auto witnesses = testimony.text();
  // Only now: what was looked at is what the ticket knows.
  if (!witnesses || platform::machine_key(machine, platform::Reach::decisive) != ticket.machine) return;
  std::string text(first_line);
  add_block(text, "key", key_);
  bool plain = true;
  const auto add = [&](std::string_view name, std::string_view value) {
    plain = plain && value.find('\n') == std::string_view::npos;
    text.append(name).append(" ").append(value).append("\n");
  };
  add("state", path_text(world.state_folder()));
  for (const fs::path& layer : world.store().layers()) add("layer", path_text(layer));
  add("helper", path_text(settings.helper));
  for (const std::string& word : settings.probe_launcher) add("launcher", word);
  add("flavor", settings.flavor);
  add("device", settings.device);
  add("offline", settings.offline ? "yes" : "no");
  add("build", ticket.build);
  add("digest", ticket.digest);
  add("artifacts", ticket.artifacts);
  add("fallback", ticket.fallback ? "yes" : "no");
  add("opened", opened_before ? "before" : "never");
  add("program", history::program_id());
  for (const std::string& path : ticket.load_order) add("load", path);
  for (const std::string& warning : ticket.warnings) add("warning", warning);
  for (const std::string& told : ticket.passed_over) add("passed-over", told);
  text += *witnesses;
  add_block(text, "machine", platform::machine_words(machine, platform::Reach::decisive));
  const fs::path file = path_of(file_);
  if (!plain || !make_folders(file.parent_path())) return;
  make_room(file.parent_path());
  // Neither synced nor missed when it cannot be written: it is made again.
  static_cast<void>(write_file(file, text + checksum(text), false));
}

}  // namespace enginehost::open
