#include "host/history/sentinel.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "host/history/program.hpp"

namespace enginehost::history {
namespace {

constexpr std::string_view ending = ".json", unfinished = ".new";
constexpr std::size_t largest = 8192;

std::filesystem::path folder_of(const std::filesystem::path& state_folder) {
  return state_folder / "running";
}

Result<void> put(int descriptor, const std::string& text, const std::filesystem::path& file) {
  // One write: a process that dies here leaves the old text or the new one.
  if (calls::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      calls::ftruncate(descriptor, static_cast<calls::Offset>(text.size())) != 0)
    return fail(diagnose_errno(code_of_write_error(errno), errno).with("file", path_text(file)));
  return {};
}

// Of a type without a destructor: exit() destroys what a thread has before it runs its handlers.
thread_local const void* owner_here = nullptr;

// What stands in this process, to be lowered when it ends in an orderly way: an application that never frees
// its engine is untidy, not crashed. Never destroyed, since threads may raise one while the process ends.
class Standing {
 public:
  static Standing& here() {
    static Standing& standing = *new Standing;
    return standing;
  }
  void add(const std::filesystem::path& file) {
    const std::lock_guard lock(mutex_);
    if (process_ != calls::getpid()) files_.clear();  // a forked child begins without its parent's
    process_ = calls::getpid();
    files_[file] = owner_here;
  }
  // True when it is this process's own.
  bool remove(const std::filesystem::path& file) {
    const std::lock_guard lock(mutex_);
    return process_ == calls::getpid() && files_.erase(file) > 0;
  }
  void lower_all() {
    const std::lock_guard lock(mutex_);
    if (process_ != calls::getpid()) return;
    for (const auto& [file, owner] : files_)
      if (owner == nullptr || owner != owner_here) calls::unlink(file.c_str());
    files_.clear();
  }
  // Of the calling thread's code where it runs any, else of any.
  std::optional<std::filesystem::path> one() {
    const std::lock_guard lock(mutex_);
    if (process_ != calls::getpid() || files_.empty()) return std::nullopt;
    for (const auto& [file, owner] : files_)
      if (owner != nullptr && owner == owner_here) return file;
    return files_.begin()->first;
  }

 private:
  std::mutex mutex_;
  std::map<std::filesystem::path, const void*> files_;  // and whose code each stands for
  std::int64_t process_ = 0;
};

struct AtExit {
  ~AtExit() { Standing::here().lower_all(); }
};
const AtExit at_exit;

std::string text_of(std::string_view build, std::string_view digest, std::string_view artifacts_digest,
                    std::string_view phase, std::int64_t started) {
  std::string text = Json::object()
                         .set("format", 1)
                         .set("build", build)
                         .set("digest", digest)
                         .set("artifacts_digest", artifacts_digest)
                         .set("phase", phase)
                         .set("program", program_id())
                         .set("pid", static_cast<std::int64_t>(calls::getpid()))
                         .set("boot_id", boot_id())
                         .set("started", started)
                         .dump();
  // All texts of one sentinel are of one length, so that rewriting it in place never leaves the end of an
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
                                 std::string_view artifacts_digest) {
  static std::atomic<unsigned> number{0};
  const std::filesystem::path folder = folder_of(state_folder);
  TRY(make_folders(folder));
  const std::int64_t started =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  constexpr int attempts = 8;
  for (int attempt = 1;; ++attempt) {
    const std::string name =
        std::string(digest) + "." + std::to_string(calls::getpid()) + "." + std::to_string(++number);
    const std::filesystem::path file = folder / (path_of(name + std::string(ending)));
    const std::filesystem::path draft = folder / (path_of(name + std::string(unfinished)));
    Sentinel sentinel(
        file, FileDescriptor(calls::open(draft.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)));
    // Locked before it has its name: whoever finds the name finds the lock.
    if (sentinel.open_.valid() && calls::lock_open_file(sentinel.open_.get())) {
      sentinel.build_ = build;
      sentinel.digest_ = digest;
      sentinel.artifacts_digest_ = artifacts_digest;
      sentinel.started_ = started;
      TRY(put(sentinel.open_.get(), text_of(build, digest, artifacts_digest, phase, started), file));
      if (calls::rename(draft.c_str(), file.c_str()) == 0) {
        Standing::here().add(file);
        return sentinel;
      }
    }
    // Before the lock was held a collector may have taken the draft for that of a dead process.
    const bool collected = errno == ENOENT || errno == EAGAIN || errno == EACCES;
    if (!collected || attempt == attempts)
      return fail(diagnose_errno(code_of_write_error(errno), errno)
                      .with("file", path_text(file))
                      .with("folder", path_text(folder)));
  }
}

Sentinel& Sentinel::operator=(Sentinel&& other) noexcept {
  if (this != &other) {
    lower();
    file_ = std::move(other.file_);
    open_ = std::move(other.open_);
    build_ = std::move(other.build_);
    digest_ = std::move(other.digest_);
    artifacts_digest_ = std::move(other.artifacts_digest_);
    started_ = other.started_;
  }
  return *this;
}

Sentinel::~Sentinel() { lower(); }

Result<void> Sentinel::enter(std::string_view phase) {
  if (!open_.valid()) return {};
  return put(open_.get(), text_of(build_, digest_, artifacts_digest_, phase, started_), file_);
}

void Sentinel::lower() {
  if (!open_.valid()) return;
  if (Standing::here().remove(file_)) calls::unlink(file_.c_str());
  open_.close();
}

void set_running_here(const void* owner) { owner_here = owner; }
const void* running_here() { return owner_here; }

std::optional<Crash> standing_here() {
  const auto file = Standing::here().one();
  if (!file) return std::nullopt;
  const auto text = read_file(*file, largest);
  return text ? read_standing(*text, *file) : std::nullopt;
}

std::vector<Crash> collect_crashes(const std::filesystem::path& state_folder) {
  std::vector<Crash> crashes;
  const std::string& boot = boot_id();
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_of(state_folder), error), end; !error && at != end;
       at.increment(error)) {
    const std::filesystem::path file = at->path();
    const bool is_draft = file.extension() == unfinished;
    if (file.extension() != ending && !is_draft) continue;
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
