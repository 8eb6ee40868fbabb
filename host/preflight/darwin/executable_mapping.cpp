// Checks whether code may run from a folder (EH-L22).
#include <sys/mount.h>

#include "base/paths.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Unsigned code cannot be mapped executable on Apple silicon; the closure reports that (EH-X04).
Result<void> check_executable_mapping(const std::filesystem::path& file) {
  struct statfs status {};
  if (::statfs(file.c_str(), &status) != 0 || (status.f_flags & MNT_NOEXEC) == 0) return {};
  return fail(std::move(diagnose("EH-L22")
                            .with("file", path_text(file))
                            .with("folder", path_text(file.parent_path()))
                            .with("mount_point", status.f_mntonname, "statfs")
                            .with("flag", "noexec", "statfs")));
}

}  // namespace enginehost::preflight
