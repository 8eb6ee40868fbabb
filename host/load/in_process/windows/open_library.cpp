#include "host/load/in_process/open_library.hpp"

#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/windows/file_calls.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/linker/windows.hpp"
#include "host/load/in_process/windows/load_error.hpp"

namespace enginehost::load {

struct OpenLibrary::State {
  HMODULE module = nullptr;
  ~State() {
    if (module != nullptr) ::FreeLibrary(module);
  }
};

namespace {

// Windows searches the library's own folder (0x100) for what it needs, then the program's folder, the added
// folders, and System32 (0x1000). It does not search PATH or the current folder, which other users may be
// able to write to.
constexpr DWORD flags = LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
static_assert(flags == linker::load_flags);

// Folders that were added: Windows cannot list them.
struct Added {
  void* cookie;
  std::string folder;
};
// Never destroyed: threads may open engines while the process ends.
std::mutex& added_mutex = *new std::mutex;
std::vector<Added>& added = *new std::vector<Added>;

std::vector<std::string> added_folders() {
  const std::lock_guard lock(added_mutex);
  std::vector<std::string> folders;
  for (const Added& one : added) folders.push_back(one.folder);
  return folders;
}

// True for the errors that a virus scanner causes while it reads a new file; they are temporary.
bool passes(DWORD error) { return error == ERROR_SHARING_VIOLATION || error == ERROR_LOCK_VIOLATION; }

// Suppresses windows that ask to insert a disk or to close a program, because they wait for a person.
class NoWindows {
 public:
  NoWindows() { ::SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &before_); }
  NoWindows(const NoWindows&) = delete;
  NoWindows& operator=(const NoWindows&) = delete;
  ~NoWindows() { ::SetThreadErrorMode(before_, nullptr); }

 private:
  DWORD before_ = 0;
};

}  // namespace

OpenLibrary::OpenLibrary() = default;
OpenLibrary::OpenLibrary(OpenLibrary&&) noexcept = default;
OpenLibrary& OpenLibrary::operator=(OpenLibrary&&) noexcept = default;
OpenLibrary::~OpenLibrary() = default;

Result<OpenLibrary> OpenLibrary::open(const std::filesystem::path& file) {
  const NoWindows keep;
  const std::wstring path = calls::Name(file).for_call();
  constexpr int tries = 5;
  for (int i = 0;; ++i) {
    if (const HMODULE module = ::LoadLibraryExW(path.c_str(), nullptr, flags); module != nullptr) {
      OpenLibrary opened;
      opened.state_ = std::make_unique<State>();
      opened.state_->module = module;
      return opened;
    }
    const DWORD error = ::GetLastError();
    if (!passes(error) || i == tries) return fail(diagnose_load_error(file, error, added_folders()));
    ::Sleep(200);
  }
}

bool OpenLibrary::is_open() const { return state_ != nullptr; }

void* OpenLibrary::symbol(const char* name) const {
  if (state_ == nullptr) return nullptr;
  return reinterpret_cast<void*>(::GetProcAddress(state_->module, name));
}

void OpenLibrary::unload() { state_.reset(); }

void OpenLibrary::stay() {
  if (state_ != nullptr) state_->module = nullptr;
  state_.reset();
}

std::string file_of_address(const void* address) {
  HMODULE module = nullptr;
  if (::GetModuleHandleExW(
          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
          static_cast<LPCWSTR>(address), &module) == 0)
    return {};
  return path_text(linker::file_of_module(module));
}

SearchFolders::SearchFolders(const std::filesystem::path& plugin,
                             const std::vector<std::filesystem::path>& preload) {
  std::set<std::filesystem::path> folders{plugin.parent_path()};
  for (const std::filesystem::path& file : preload) folders.insert(file.parent_path());
  const std::lock_guard lock(added_mutex);
  for (const std::filesystem::path& folder : folders)
    if (const DLL_DIRECTORY_COOKIE cookie = ::AddDllDirectory(calls::Name(folder).for_call().c_str());
        cookie != nullptr) {
      cookies_.push_back(cookie);
      added.push_back({cookie, path_text(folder)});
    }
}
SearchFolders::SearchFolders(SearchFolders&& other) noexcept : cookies_(std::exchange(other.cookies_, {})) {}
SearchFolders& SearchFolders::operator=(SearchFolders&& other) noexcept {
  std::swap(cookies_, other.cookies_);
  return *this;
}
SearchFolders::~SearchFolders() {
  const std::lock_guard lock(added_mutex);
  for (void* cookie : cookies_) {
    ::RemoveDllDirectory(cookie);
    std::erase_if(added, [&](const Added& one) { return one.cookie == cookie; });
  }
}
void SearchFolders::stay() { cookies_.clear(); }

}  // namespace enginehost::load
