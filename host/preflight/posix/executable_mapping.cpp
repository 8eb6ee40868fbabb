// Checks whether code may run from a folder (EH-L22, EH-L23, EH-L24): the loader gives one text for all three
// and no errno.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {
namespace {

// Returns the mount that holds the file: the longest mount point above it in /proc/self/mountinfo (field 5).
std::string mount_point_of(const std::filesystem::path& file) {
  std::ifstream mounts("/proc/self/mountinfo");
  std::string line, longest;
  while (std::getline(mounts, line)) {
    const std::vector<std::string> fields = split(line, ' ');
    if (fields.size() < 5) continue;
    if (fields[4].size() >= longest.size() && is_below(file, fields[4])) longest = fields[4];
  }
  return longest;
}

}  // namespace

Result<void> check_executable_mapping(const std::filesystem::path& file) {
  const std::string folder = path_text(file.parent_path());
  struct statvfs status {};
  if (::statvfs(file.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0) {
    Diagnosis diagnosis = diagnose("EH-L22");
    diagnosis.with("file", path_text(file)).with("folder", folder);
    if (std::string mount = mount_point_of(file); !mount.empty())
      diagnosis.with("mount_point", mount, "/proc/self/mountinfo");
    return fail(std::move(diagnosis.with("flag", "noexec", "statvfs")));
  }
  // An unreadable or missing file is reported by the code that reads it.
  const auto opened = open_to_read(file);
  struct stat kind {};
  if (!opened || ::fstat(opened->get(), &kind) != 0 || !S_ISREG(kind.st_mode)) return {};
  const long page = ::sysconf(_SC_PAGESIZE);
  const std::size_t length = page > 0 ? static_cast<std::size_t>(page) : 4096;
  void* mapped = ::mmap(nullptr, length, PROT_READ | PROT_EXEC, MAP_PRIVATE, opened->get(), 0);
  if (mapped != MAP_FAILED) {
    ::munmap(mapped, length);
    return {};
  }
  const char* code = errno == ENOMEM ? "EH-L23" : "EH-L24";
  return fail(diagnose_errno(code, errno).with("file", path_text(file)).with("folder", folder));
}

}  // namespace enginehost::preflight
