#include "host/linker/loaded_symbols.hpp"

#include "base/windows/system.hpp"
// After <windows.h>.
#include <algorithm>

#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::linker {

// Modules beside the program come with it, as the C++ runtime and EngineHost's library do.
std::vector<LoadedLibrary> foreign_libraries() {
  std::wstring folder(MAX_PATH, L'\0');
  folder.resize(::GetSystemWindowsDirectoryW(folder.data(), MAX_PATH));
  const std::string system = to_lower(windows::utf8(folder)) + "\\";
  const std::filesystem::path program = path_of(executable_path()).parent_path();
  std::vector<LoadedLibrary> libraries = loaded_libraries();
  std::erase_if(libraries, [&](const LoadedLibrary& library) {
    return to_lower(path_text(library.path)).starts_with(system) || library.path.parent_path() == program;
  });
  return libraries;
}

bool may_share_objects() { return false; }
std::vector<LoadedCopy> loaded_copies(const std::string&, const binary::SymbolTable&) { return {}; }

}  // namespace enginehost::linker
