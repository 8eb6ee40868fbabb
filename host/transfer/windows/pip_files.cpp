#include "base/windows/system.hpp"
#include "host/transfer/pip.hpp"
// Must follow <windows.h>.
#include <knownfolders.h>
#include <shlobj.h>

namespace enginehost::transfer {
namespace {

namespace fs = std::filesystem;

fs::path known_folder(const KNOWNFOLDERID& id) {
  wchar_t* raw = nullptr;
  const fs::path folder = ::SHGetKnownFolderPath(id, 0, nullptr, &raw) == S_OK ? fs::path(raw) : fs::path();
  ::CoTaskMemFree(raw);
  return folder;
}

}  // namespace

PipFiles pip_files() {
  PipFiles files;
  files.global = {known_folder(FOLDERID_ProgramData) / "pip" / pip_file_name};
  files.user = {home_folder() / "pip" / pip_file_name,
                known_folder(FOLDERID_RoamingAppData) / "pip" / pip_file_name};
  for (auto* list : {&files.global, &files.user})
    std::erase_if(*list, [](const fs::path& file) { return !file.is_absolute(); });
  return files;
}

}  // namespace enginehost::transfer
