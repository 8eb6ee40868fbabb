#include "host/open/shortcut.hpp"

#include <cstring>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/open/witness.hpp"
#include "host/platform/machine_key.hpp"
#include "host/settings/deciding.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "enginehost-shortcut 1\n";

// Names files and tells torn ones; what must be equal is compared as a whole. Not SHA-256: the first use of
// the library that has it takes longer than all the rest of this.
std::string checksum(std::string_view text) {
  std::uint64_t one = 0x9E3779B97F4A7C15u, two = text.size();
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t length = text.size() < sizeof word ? text.size() : sizeof word;
    std::memcpy(&word, text.data(), length);
    one = (one ^ word) * 0xBF58476D1CE4E5B9u;
    one ^= one >> 29;
    two = (two + word + one) * 0x94D049BB133111EBu;
    two ^= two >> 31;
    text.remove_prefix(length);
  }
  static constexpr char digits[] = "0123456789abcdef";
  std::string name;
  name.reserve(32);
  for (const std::uint64_t half : {one, two})
    for (int shift = 60; shift >= 0; shift -= 4) name.push_back(digits[(half >> shift) & 15]);
  return name;
}

// "NAME SIZE", and that many bytes, whatever they are.
void add_block(std::string& text, std::string_view name, std::string_view bytes) {
  text.append(name).append(" ").append(std::to_string(bytes.size())).append("\n").append(bytes).append("\n");
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  bool at_end() const { return rest_.empty(); }
  std::string_view line() {
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), line.size() + 1));
    return line;
  }
  std::optional<std::string_view> block(std::string_view size) {
    const auto count = parse_integer(size);
    if (!count || *count < 0 || static_cast<std::uint64_t>(*count) >= rest_.size()) return std::nullopt;
    const std::string_view bytes = rest_.substr(0, static_cast<std::size_t>(*count));
    rest_.remove_prefix(bytes.size() + 1);
    return bytes;
  }

 private:
  std::string_view rest_;
};

std::string key_of(const settings::Deciding& deciding, const OpenRequest& open) {
  std::string key;
  key.reserve(4096);
  const auto add = [&](std::string_view value) { key.append(value).push_back('\0'); };
  add(ENGINEHOST_VERSION);
  for (const std::string* part :
       {&open.request.engine, &open.request.version, &open.request.flavor, &open.request.device})
    add(*part);
  add(open.request.require ? "require" : "");
  add(open.request.offline ? "offline" : "");
  add(open.attempt.probe ? "probe" : "");
  add(deciding.text);
  return key;
}

bool may_take_one(const OpenRequest& open) {
  return !open.plan_only && !open.decide_anew && open.plugin.empty() && open.request.force.empty();
}

platform::DetectRequest detect_request(const fs::path& cache, std::string_view helper,
                                       std::vector<std::string> launcher) {
  platform::DetectRequest request;
  request.helper = path_of(helper);
  request.helper_launcher = std::move(launcher);
  request.cache_folder = cache;
  return request;
}

}  // namespace

Shortcut::Shortcut(const settings::FlagValues& flags, const OpenRequest& open) {
  if (!may_take_one(open)) return;
  const auto deciding = settings::deciding(flags);
  if (!deciding) return;
  key_ = key_of(*deciding, open);
  cache_ = path_of(deciding->cache);
  file_ = path_of(deciding->cache + "/state/shortcuts/" + checksum(key_));
  began_ns_ = wall_clock_ns();
}

std::optional<Ready> Shortcut::find() const {
  if (key_.empty()) return std::nullopt;
  const Result<std::string> bytes = read_file(file_, 1u << 20);
  constexpr std::size_t checksum_size = 32;
  if (!bytes || !bytes->starts_with(first_line) || bytes->size() < first_line.size() + checksum_size)
    return std::nullopt;
  const std::string_view text = std::string_view(*bytes).substr(0, bytes->size() - checksum_size);
  // A file that a power cut left half empty is none.
  if (checksum(text) != std::string_view(*bytes).substr(text.size())) return std::nullopt;
  Reader reader(text.substr(first_line.size()));
  Ready ready;
  ready.places.cache_folder = cache_;
  std::string_view machine, helper;
  std::vector<std::string> launcher;
  const std::int64_t now = World::now();
  bool ours = false;
  while (!reader.at_end()) {
    const std::string_view line = reader.line();
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const std::string_view name = line.substr(0, space), value = line.substr(space + 1);
    if (name == "key" || name == "machine") {
      const auto block = reader.block(value);
      if (!block || (name == "key" && *block != key_)) return std::nullopt;
      if (name == "key") ours = true;
      if (name == "machine") machine = *block;
    } else if (name == "state") {
      ready.places.state_folder = path_of(value);
    } else if (name == "layer") {
      ready.places.system_layers.push_back(path_of(value));
    } else if (name == "helper") {
      helper = value;
    } else if (name == "launcher") {
      launcher.emplace_back(value);
    } else if (name == "flavor") {
      ready.flavor = value;
    } else if (name == "device") {
      ready.device = value;
    } else if (name == "offline") {
      ready.offline = value == "yes";
    } else if (name == "build") {
      ready.ticket.build = value;
    } else if (name == "digest") {
      ready.ticket.digest = value;
    } else if (name == "artifacts") {
      ready.ticket.artifacts = value;
    } else if (name == "fallback") {
      ready.ticket.fallback = value == "yes";
    } else if (name == "load") {
      ready.ticket.load_order.emplace_back(value);
    } else if (!ours || !holds(name, value, now)) {
      return std::nullopt;
    }
  }
  if (!ours || ready.ticket.digest.empty() || ready.places.state_folder.empty() || machine.empty() ||
      platform::machine_text(detect_request(cache_, helper, std::move(launcher)),
                             platform::Reach::decisive) != machine)
    return std::nullopt;
  return ready;
}

void Shortcut::keep(World& world, const Outcome& outcome, const Ticket& ticket) const {
  const settings::Settings& settings = world.settings();
  if (key_.empty() || !outcome.by_ticket || world.store().root() != cache_ || !settings.force.empty() ||
      world.state_folder().parent_path() != cache_ / "state")
    return;
  const std::string machine = platform::machine_text(world.detect_request(), platform::Reach::decisive);
  if (platform::machine_key(world.detect_request(), platform::Reach::decisive) != ticket.machine) return;
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
  for (const std::string& path : ticket.load_order) add("load", path);
  for (const std::string& folder : settings.looks.writable) add("writable", folder);
  for (const std::string& file : settings.looks.runnable) add("runnable", file);
  for (const std::string& file : settings.looks.files) {
    plain = plain && file.find('\n') == std::string::npos && is_at_rest(file, began_ns_);
    text += stamp_line(file, true);
  }
  text += ticket.witnesses;
  add_block(text, "machine", machine);
  if (!plain || !make_folders(file_.parent_path())) return;
  make_room(file_.parent_path());
  // Neither synced nor missed when it cannot be written: it is made again.
  static_cast<void>(write_file(file_, text + checksum(text), false));
}

}  // namespace enginehost::open
