#include "host/history/sentinel.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/record.hpp"
#include "base/text.hpp"
#include "host/history/program.hpp"

namespace enginehost::history {
namespace {

constexpr std::string_view sentinel_ending = ".json", unfinished = ".new";
constexpr std::size_t largest = 8192;
constexpr std::string_view first_of_word = "enginehost-load 1\n", last_of_word = "end\n";
// The wall clock may have been adjusted a little meanwhile; two starts of a machine lie further apart.
constexpr std::int64_t between_two_looks_ns = 2'000'000'000;

std::filesystem::path sentinels_of(const std::filesystem::path& state_folder) {
  return state_folder / "running";
}

Result<void> put(int descriptor, const std::string& text, const std::filesystem::path& file) {
  // SIGXFSZ would end the application.
  if (text.size() > file_size_limit())
    return fail(diagnose_errno(Code::file_size_limit, EFBIG).with(Key::file, path_text(file)));
  // One write: a process that dies here leaves the old text or the new one.
  if (calls::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      calls::ftruncate(descriptor, static_cast<calls::Offset>(text.size())) != 0)
    return fail(diagnose_errno(code_of_write_error(errno), errno).with(Key::file, path_text(file)));
  return {};
}

// A type without a destructor, because exit() destroys thread-local objects before it runs its handlers.
thread_local const void* owner_here = nullptr;

// Files of the sentinels and markers, for a signal handler, which may take no lock. Further files are not
// tracked.
std::atomic<int> files_that_stand[16] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

void exchange_file(int from, int to) {
  for (std::atomic<int>& file : files_that_stand)
    if (int expected = from; file.compare_exchange_strong(expected, to)) return;
}

// One sentinel or marker.
struct Standing {
  std::function<void()> remove;  // removes the file or erases the marker
  Crash crash;                   // that it records
  int file = -1;
  const void* owner = nullptr;  // the code that it guards
};

// The sentinels and markers of this process by number, removed when it ends by exit(): an application that
// never frees its engine has not crashed. Never destroyed, because threads may add one while the process
// ends.
struct Registry {
  std::mutex mutex;
  std::map<unsigned, Standing> all;
  unsigned last = 0;
  std::int64_t process = 0;
};
Registry& registry = *new Registry;

// Locks the registry. A forked child starts without its parent's.
std::unique_lock<std::mutex> lock_registry() {
  std::unique_lock lock(registry.mutex);
  if (std::exchange(registry.process, calls::getpid()) != calls::getpid()) {
    registry.all.clear();
    for (std::atomic<int>& file : files_that_stand) file = -1;
  }
  return lock;
}

unsigned stand(Standing one) {
  const auto lock = lock_registry();
  one.owner = owner_here;
  exchange_file(-1, one.file);
  registry.all.emplace(++registry.last, std::move(one));
  return registry.last;
}

// Does nothing if it does not belong to this process.
void end(unsigned number) {
  const auto lock = lock_registry();
  const auto ended = registry.all.extract(number);
  if (ended.empty()) return;
  exchange_file(ended.mapped().file, -1);
  ended.mapped().remove();
}

struct AtExit {
  ~AtExit() {
    const auto lock = lock_registry();
    for (const auto& [number, one] : registry.all)
      if (one.owner == nullptr || one.owner != owner_here) one.remove();
    registry.all.clear();
  }
};
const AtExit at_exit;

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string text_of(const Crash& crash) {
  std::string text = Json::object()
                         .set("format", 1)
                         .set("build", crash.build)
                         .set("digest", crash.digest)
                         .set("artifacts_digest", crash.artifacts_digest)
                         .set("phase", crash.phase)
                         .set("beside", crash.beside)
                         .set("program", crash.program)
                         .set("pid", crash.pid)
                         .set("boot_id", crash.boot)
                         .set("started", crash.started)
                         .dump();
  // All texts of one sentinel have the same length, so that rewriting in place never leaves the end of an
  // older one.
  constexpr std::size_t block = 512;
  text.resize((text.size() / block + 1) * block - 1, ' ');
  return text + "\n";
}

std::optional<Crash> read_standing(const std::string& text, const std::filesystem::path& file) {
  const auto document = parse_json(text, path_text(file));
  if (!document) return std::nullopt;
  Crash crash;
  crash.build = (*document)["build"].as_string();
  crash.digest = (*document)["digest"].as_string();
  crash.artifacts_digest = (*document)["artifacts_digest"].as_string();
  crash.program = (*document)["program"].as_string();
  crash.boot = (*document)["boot_id"].as_string();
  crash.phase = (*document)["phase"].as_string();
  crash.beside = (*document)["beside"].as_string();
  crash.pid = static_cast<int>((*document)["pid"].as_integer());
  crash.started = (*document)["started"].as_integer();
  return crash;
}

bool is_same_file(int descriptor, const std::filesystem::path& path) {
  calls::Status open{}, there{};
  return calls::fstat(descriptor, &open) == 0 && calls::stat(path.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

}  // namespace

Result<Sentinel> Sentinel::raise(const std::filesystem::path& state_folder, std::string_view build,
                                 std::string_view digest, std::string_view phase,
                                 std::string_view artifacts_digest, std::string beside) {
  static std::atomic<unsigned> number{0};
  const std::filesystem::path folder = sentinels_of(state_folder);
  TRY(make_folders(folder));
  Crash crash = crash_while_loading(build, digest, artifacts_digest);
  crash.phase = phase;
  crash.boot = boot_id();
  crash.beside = std::move(beside);
  // On a busy machine a constantly running collector takes up to every second draft.
  constexpr int attempts = 100;
  for (int attempt = 1;; ++attempt) {
    const std::string name =
        std::string(digest) + "." + std::to_string(crash.pid) + "." + std::to_string(++number);
    const std::filesystem::path file = folder / (path_of(name + std::string(sentinel_ending)));
    const std::filesystem::path draft = folder / (path_of(name + std::string(unfinished)));
    Sentinel sentinel(
        file, FileDescriptor(calls::open(draft.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)));
    // Locked before it is renamed: a collector that finds the name finds it locked.
    if (sentinel.open_.valid() && calls::lock_open_file(sentinel.open_.get())) {
      if (auto written = put(sentinel.open_.get(), text_of(crash), file); !written) {
        calls::unlink(draft.c_str());
        return fail(std::move(written).error());
      }
      if (calls::rename(draft.c_str(), file.c_str()) == 0) {
        sentinel.number_ =
            stand({[file] { calls::unlink(file.c_str()); }, std::move(crash), sentinel.open_.get()});
        return sentinel;
      }
    }
    // A collector may have taken the draft for a dead process's before the lock was held.
    const bool collected = errno == ENOENT || errno == EAGAIN || errno == EACCES;
    if (!collected || attempt == attempts)
      return fail(diagnose_errno(code_of_write_error(errno), errno)
                      .with(Key::file, path_text(file))
                      .with(Key::folder, path_text(folder)));
  }
}

Sentinel::Sentinel(std::filesystem::path file, FileDescriptor descriptor)
    : file_(std::move(file)), open_(std::move(descriptor)) {}

Sentinel::Sentinel(Sentinel&&) noexcept = default;

Sentinel& Sentinel::operator=(Sentinel&& other) noexcept {
  if (this != &other) {
    lower();
    file_ = std::move(other.file_);
    open_ = std::move(other.open_);
    number_ = other.number_;
  }
  return *this;
}

Sentinel::~Sentinel() { lower(); }

Result<void> Sentinel::enter(std::string_view phase) {
  if (!open_.valid()) return {};
  const auto lock = lock_registry();
  const auto known = registry.all.find(number_);
  if (known == registry.all.end()) return {};
  known->second.crash.phase = phase;
  return put(open_.get(), text_of(known->second.crash), file_);
}

void Sentinel::lower() {
  if (!open_.valid()) return;
  end(number_);
  open_.close();
}

PendingMarker::PendingMarker(Crash crash, std::function<void()> withdraw, int file)
    : number_(stand({std::move(withdraw), std::move(crash), file})) {}

PendingMarker::~PendingMarker() { end(number_); }

Crash crash_while_loading(std::string_view build, std::string_view digest,
                          std::string_view artifacts_digest) {
  Crash crash;
  crash.build = build;
  crash.digest = digest;
  crash.artifacts_digest = artifacts_digest;
  crash.phase = "load";
  crash.program = program_id();
  crash.pid = static_cast<int>(calls::getpid());
  crash.started = seconds_now();
  return crash;
}

void set_running_here(const void* owner) { owner_here = owner; }
const void* running_here() { return owner_here; }

std::string crash_marker_of(const Crash& crash) {
  std::string word(first_of_word);
  word.reserve(512);
  bool plain = true;
  const auto add = [&](std::string_view name, std::string_view value) {
    plain = plain && value.find('\n') == std::string_view::npos;
    add_key_and_value(word, name, value);
  };
  add("build", crash.build);
  add("digest", crash.digest);
  add("artifacts", crash.artifacts_digest);
  add("phase", crash.phase);
  if (!crash.beside.empty()) add("beside", crash.beside);
  add("program", crash.program);
  add("pid", std::to_string(crash.pid));
  add("started", std::to_string(crash.started));
  add("moment", std::to_string(boot_moment_ns()));
  word += last_of_word;
  return plain ? word : std::string();
}

std::optional<Crash> crash_of(std::string_view word) {
  if (!word.starts_with(first_of_word) || !word.ends_with(last_of_word)) return std::nullopt;
  Crash crash;
  std::int64_t moment = 0;
  while (const auto line = take_key_and_value(word)) {
    const auto [name, value] = *line;
    const std::int64_t number = parse_integer(value).value_or(0);
    if (name == "build") crash.build = value;
    if (name == "digest") crash.digest = value;
    if (name == "artifacts") crash.artifacts_digest = value;
    if (name == "phase") crash.phase = value;
    if (name == "beside") crash.beside = value;
    if (name == "program") crash.program = value;
    if (name == "pid") crash.pid = static_cast<int>(number);
    if (name == "started") crash.started = number;
    if (name == "moment") moment = number;
  }
  if (crash.build.empty() || crash.digest.empty() || crash.digest.find('/') != std::string::npos ||
      std::abs(moment - boot_moment_ns()) > between_two_looks_ns)
    return std::nullopt;
  crash.boot = boot_id();
  return crash;
}

// An empty file records no crash. Markers of other processes in it may be lost this once.
void disown_what_stands() {
  for (const std::atomic<int>& file : files_that_stand)
    if (const int open = file.load(); open >= 0) static_cast<void>(calls::ftruncate(open, 0));
}

std::optional<Crash> standing_here() {
  const auto lock = lock_registry();
  for (const auto& [number, one] : registry.all)
    if (one.owner != nullptr && one.owner == owner_here) return one.crash;
  return registry.all.empty() ? std::nullopt : std::optional(registry.all.begin()->second.crash);
}

std::vector<Crash> collect_crashes(const std::filesystem::path& state_folder) {
  std::vector<Crash> crashes;
  const std::string& boot = boot_id();
  std::error_code error;
  for (std::filesystem::directory_iterator at(sentinels_of(state_folder), error), end; !error && at != end;
       at.increment(error)) {
    const std::filesystem::path file = at->path();
    const bool is_draft = file.extension() == unfinished;
    if (file.extension() != sentinel_ending && !is_draft) continue;
    const FileDescriptor open(calls::open(file.c_str(), O_RDWR | O_CLOEXEC));
    if (!open.valid() || !calls::lock_open_file(open.get())) continue;  // its process lives
    // Another collector may have taken it between our open and our lock.
    if (!is_same_file(open.get(), file)) continue;
    // Its process died before a build's code ran.
    if (is_draft) {
      calls::unlink(file.c_str());
      continue;
    }
    std::string text(largest, '\0');
    const ssize_t got = calls::pread(open.get(), text.data(), text.size(), 0);
    calls::unlink(file.c_str());
    if (got <= 0) continue;
    text.resize(static_cast<std::size_t>(got));
    if (auto crash = read_standing(text, file); crash && crash->boot == boot)
      crashes.push_back(std::move(*crash));
  }
  return crashes;
}

}  // namespace enginehost::history
