#include "tools/publish/scratch.hpp"

#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/remove_tree.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = ".adding-", program = "engine-manifest add";

fs::path lock_of(const fs::path& folder) { return folder / ".lock"; }

void clear_leftovers(const fs::path& workspace) {
  std::error_code error;
  for (fs::directory_iterator at(workspace, error), end; !error && at != end; at.increment(error)) {
    if (!path_text(at->path().filename()).starts_with(prefix)) continue;
    const auto lock = cache::FileLock::try_exclusive(lock_of(at->path()), program);
    if (std::error_code ignored; lock && *lock) remove_tree(at->path(), ignored);
  }
}

}  // namespace

Result<Scratch> Scratch::make(const Workspace& workspace) {
  // The lock keeps the new folder from counting as abandoned before its own lock is held.
  TRY_ASSIGN(const cache::FileLock lock, workspace.lock(program));
  clear_leftovers(workspace.folder());
  Scratch scratch;
  TRY_ASSIGN(scratch.folder_, make_private_folder(workspace.folder(), prefix));
  TRY_ASSIGN(scratch.lock_, cache::FileLock::exclusive(lock_of(scratch.folder_), program));
  return scratch;
}

Scratch::Scratch(Scratch&& other) noexcept
    : folder_(std::exchange(other.folder_, fs::path())), lock_(std::move(other.lock_)) {}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!folder_.empty()) remove_tree(folder_, ignored);
}

}  // namespace enginehost::publish
