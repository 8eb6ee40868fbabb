#include "cache/sharing.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <system_error>

#include "base/files.hpp"
#include "base/text.hpp"

namespace enginehost::cache::inside {
namespace {

namespace fs = std::filesystem;

// linux/magic.h, and statfs(2) for those that live outside the kernel's tree.
constexpr std::array<std::uint32_t, 15> shared_file_systems{
    0x6969,      // NFS
    0x517B,      // SMB
    0xFE534D42,  // SMB 2
    0xFF534D42,  // CIFS
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS
    0x00C36400,  // CephFS
    0x19830326,  // BeeGFS
    0x01021997,  // 9p
    0x65735546,  // FUSE
    0x5346414F,  // AFS
    0x73757245,  // Coda
    0x7461636F,  // OCFS2
    0x01161970,  // GFS2
    0x786F4256,  // VirtualBox's shared folders
};
constexpr std::chrono::minutes beat{15};
constexpr std::int64_t silent_for = 24 * 3600;

fs::path note_of(const fs::path& root) { return root / "locks" / ".not-kept"; }

std::string boot_id() { return read_kernel_file("/proc/sys/kernel/random/boot_id"); }

// Field 22 of /proc/PID/stat: a number that is used again belongs to a process that began at another time.
std::string start_time_of(std::int64_t process) {
  const std::string text = read_kernel_file("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  const auto fields = split(std::string_view(text).substr(std::min(text.size(), name_end + 2)), ' ');
  return fields.size() > 19 ? fields[19] : "";
}

bool is_alive(const fs::path& file) {
  const auto text = read_file(file, 4096);
  struct stat status {};
  if (!text || ::stat(file.c_str(), &status) != 0) return false;
  const auto lines = split(*text, '\n');
  if (lines.size() >= 3 && !lines[0].empty() && lines[0] == boot_id()) {
    const auto process = parse_integer(lines[1]);
    // Another container of this machine may count its processes from one, too: then only time tells.
    if (process && start_time_of(*process) == lines[2]) return true;
  }
  return status.st_mtime + silent_for > std::time(nullptr);
}

}  // namespace

bool locks_are_kept(const fs::path& root) {
  struct statfs status {};
  if (::statfs(root.c_str(), &status) == 0 &&
      std::find(shared_file_systems.begin(), shared_file_systems.end(),
                static_cast<std::uint32_t>(status.f_type)) != shared_file_systems.end())
    return false;
  return ::access(note_of(root).c_str(), F_OK) != 0;
}

Result<void> try_locks(const fs::path& root) {
  if (!locks_are_kept(root)) return {};
  const fs::path file = root / "locks" / (".try-" + random_hex(8));
  const auto open = [&](int flags) {
    return FileDescriptor(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  };
  const FileDescriptor first = open(O_CREAT | O_EXCL);
  if (!first.valid())
    return fail(diagnose_errno(code_of_write_error(errno), errno)
                    .with("file", file.native())
                    .with("folder", root.native()));
  const FileDescriptor second = open(0);
  const bool kept = second.valid() && ::flock(first.get(), LOCK_EX | LOCK_NB) == 0 &&
                    ::flock(second.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::unlink(file.c_str());
  if (kept || !second.valid()) return {};
  return write_file(note_of(root),
                    "two locks on one file were granted here, or none: no lock is relied on\n");
}

Heartbeat::Heartbeat(fs::path file)
    : file_(std::move(file)), thread_([this] {
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, beat, [this] { return stop_; }))
          ::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0);
      }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  ::unlink(file_.c_str());
}

std::unique_ptr<Heartbeat> Heartbeat::start(const fs::path& root, std::string_view digest) {
  const std::string boot = boot_id();
  const std::string name = std::string(digest) + "." + boot.substr(0, 8) + "-" + std::to_string(::getpid()) +
                           "-" + random_hex(4) + ".alive";
  const fs::path file = root / "leases" / name;
  const std::string text = boot + "\n" + std::to_string(::getpid()) + "\n" + start_time_of(::getpid()) + "\n";
  if (!write_file(file, text, false)) return nullptr;
  try {
    return std::unique_ptr<Heartbeat>(new Heartbeat(file));
  } catch (const std::system_error&) {
    return nullptr;  // no thread is to be had; the file speaks for a day, and for as long as this process
                     // lives
  }
}

bool anyone_alive(const fs::path& root, std::string_view digest) {
  bool found = false;
  std::error_code error;
  const std::string start = std::string(digest) + ".";
  for (auto it = fs::directory_iterator(root / "leases", error); !error && it != fs::end(it);
       it.increment(error)) {
    const std::string name = it->path().filename().native();
    if (!name.starts_with(start) || !name.ends_with(".alive")) continue;
    if (is_alive(it->path()))
      found = true;
    else
      ::unlink(it->path().c_str());
  }
  return found;
}

}  // namespace enginehost::cache::inside
