#include <atomic>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "host/linker/windows.hpp"
#include "host/load/in_process/loaded.hpp"

namespace enginehost::load {
namespace {

// Parameters with which ntdll calls a registered function (LdrRegisterDllNotification, documented).
struct Notification {
  ULONG flags;
  const void *full_name, *base_name;
  void* base;
  ULONG size;
};
std::atomic<std::uint64_t> loads{0};

void CALLBACK note(ULONG reason, const Notification*, void*) {
  constexpr ULONG loaded = 1;
  if (reason == loaded) loads.fetch_add(1, std::memory_order_relaxed);
}

// Registers a counter of loads and never unregisters it: it costs one addition for each load.
bool is_counting() {
  static const bool registered = [] {
    using Register = LONG(NTAPI*)(ULONG, void(CALLBACK*)(ULONG, const Notification*, void*), void*, void**);
    const FARPROC found = ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "LdrRegisterDllNotification");
    void* cookie = nullptr;
    return found != nullptr &&
           reinterpret_cast<Register>(reinterpret_cast<void*>(found))(0, &note, nullptr, &cookie) >= 0;
  }();
  return registered;
}

}  // namespace

std::uint64_t loaded_so_far() {
  // Without a counter, the libraries are listed each time.
  static std::atomic<std::uint64_t> always_new{0};
  return is_counting() ? loads.load(std::memory_order_relaxed) : ++always_new;
}

std::vector<std::filesystem::path> folders_of_environment() {
  const linker::WindowsMachine machine = linker::describe_this_windows();
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : machine.path)
    if (!to_lower(folder).starts_with(to_lower(machine.windows_directory)))
      folders.push_back(path_of(folder));
  return folders;
}

std::vector<Library> mapped_libraries() {
  static_cast<void>(is_counting());
  std::vector<Library> libraries;
  // The first module is the program itself.
  const std::vector<linker::LoadedLibrary> modules = linker::loaded_modules();
  for (std::size_t i = 1; i < modules.size(); ++i)
    libraries.push_back({modules[i].soname, path_text(modules[i].path), {}});
  return libraries;
}

}  // namespace enginehost::load
