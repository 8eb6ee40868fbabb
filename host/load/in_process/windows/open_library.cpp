#include "host/load/in_process/open_library.hpp"

#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/windows/file_calls.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/explain/loader_text.hpp"
#include "host/linker/windows.hpp"
#include "host/load/in_process/loader_call.hpp"
#include "host/load/in_process/process_state_guard.hpp"

namespace enginehost::load {
namespace {

// The loader catches exceptions of start code. It returns the exception's code as the error number where it
// has no number of its own (998 is an access violation).
constexpr DWORD illegal_instruction = 0xC000001D, thrown_by_gcc = 0x20474343;
bool is_exception(DWORD error) { return error >= 0x80000000u || error == thrown_by_gcc; }

Code class_of(DWORD error) {
  if (const Code known = explain::class_of_windows_error(error); known != Code::none) return known;
  if (error == illegal_instruction) return Code::illegal_instruction;
  return is_exception(error) ? Code::dll_failed_to_start : Code::file_damaged;
}

std::string number_text(DWORD error) {
  if (!is_exception(error)) return std::to_string(error);
  char text[16];
  std::snprintf(text, sizeof text, "0x%08lX", error);
  return text;
}

// True for numbers that a finding in the files can explain: a missing DLL does not explain start code that
// failed.
bool is_about_files(DWORD error) {
  return error == ERROR_MOD_NOT_FOUND || error == ERROR_PROC_NOT_FOUND || error == ERROR_BAD_EXE_FORMAT ||
         error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
}

// The loader does not report whose manifest names a missing assembly. The first in load order is reported.
Diagnosis about_assemblies(const linker::WindowsClosure& closure) {
  for (const Diagnosis& warning : closure.closure.warnings)
    if (warning.code == Code::side_by_side_configuration_wrong) return warning;
  return diagnose(Code::side_by_side_configuration_wrong);
}

// The loader does not report which path is too long: it is the longest one.
Diagnosis about_paths(const linker::WindowsClosure& closure, const std::filesystem::path& file) {
  std::string longest = path_text(file);
  for (const linker::Object& object : closure.closure.objects)
    if (windows::wide(object.path).size() > windows::wide(longest).size()) longest = object.path;
  Diagnosis diagnosis = diagnose(Code::side_by_side_configuration_wrong);
  diagnosis.with(Key::file, longest).with(Key::path_length, std::to_string(windows::wide(longest).size()));
  return diagnosis;
}

Diagnosis with_number(Diagnosis diagnosis, DWORD error) {
  const std::string said = windows::error_text(error);
  if (diagnosis.code == Code::file_damaged) diagnosis.with(Key::problem, said);
  // Windows has no texts for exception codes.
  if (!said.empty()) diagnosis.with(Key::os_said, said, "LoadLibraryEx");
  return std::move(diagnosis.with(Key::error_number, number_text(error), "LoadLibraryEx"));
}

// Collects the facts in the file by which a policy decides. Only Windows can decide whether a certificate is
// trusted.
Diagnosis about_policy(const linker::WindowsClosure& closure) {
  Diagnosis diagnosis = diagnose(Code::blocked_by_application_control);
  for (const linker::Object& object : closure.closure.objects) {
    if (object.info == nullptr || object.found_by != "request") continue;
    diagnosis.with(Key::file, object.path)
        .with(Key::signature, object.info->code_signed ? "a certificate is attached" : "none",
              "security directory of the file");
  }
  return diagnosis;
}

}  // namespace

Diagnosis diagnose_load_error(const std::filesystem::path& file, std::uint32_t error,
                              std::vector<std::string> added_folders) {
  linker::Reader reader;
  const linker::WindowsMachine machine = linker::describe_this_windows(std::move(added_folders));
  linker::WindowsRequest request;
  request.file = path_text(file);
  const linker::WindowsClosure closure = linker::close_windows(machine, request, reader);
  std::vector<Diagnosis> found;
  if (is_about_files(error)) found = linker::diagnose_windows(closure);
  if (found.empty() && error == ERROR_PROC_NOT_FOUND)
    found = linker::missing_functions(machine, closure, reader);
  const Code code = class_of(error);
  Diagnosis diagnosis = !found.empty()                                 ? std::move(found.front())
                        : error == ERROR_SXS_CANT_GEN_ACTCTX           ? about_assemblies(closure)
                        : error == ERROR_FILENAME_EXCED_RANGE          ? about_paths(closure, file)
                        : code == Code::blocked_by_application_control ? about_policy(closure)
                                                                       : diagnose(code);
  if (diagnosis.value(Key::file).empty()) diagnosis.with(Key::file, path_text(file));
  if (error == illegal_instruction)
    diagnosis.with(Key::in_library, path_text(file), "or a DLL that it needs")
        .with(Key::exception_number, number_text(error));
  return with_number(std::move(diagnosis), error);
}

namespace {

// Windows searches the library's own folder (0x100) for what it needs, then the program's folder, the added
// folders, and System32 (0x1000). It does not search PATH or the current folder, which other users may be
// able to write to.
constexpr DWORD flags = LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
static_assert(flags == linker::load_flags);

// Folders that were added, with their cookies: Windows cannot list them. Never destroyed: threads may open
// engines while the process ends.
std::mutex& added_mutex = *new std::mutex;
std::map<DLL_DIRECTORY_COOKIE, std::string>& added = *new std::map<DLL_DIRECTORY_COOKIE, std::string>;

std::vector<std::string> added_folders() {
  const std::lock_guard lock(added_mutex);
  std::vector<std::string> folders;
  for (const auto& [cookie, folder] : added) folders.push_back(folder);
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

Result<void> open_file(const std::filesystem::path& file, const LoaderCall& call) {
  const NoWindows keep;
  const std::wstring path = calls::Name(file).for_call();
  constexpr int tries = 5;
  for (int i = 0;; ++i) {
    std::error_code failed;
    if (call(path, flags, failed)) return {};
    const auto error = static_cast<DWORD>(failed.value());
    if (!passes(error) || i == tries) return fail(diagnose_load_error(file, error, added_folders()));
    ::Sleep(200);
  }
}

// The number alone says why: the loader does not report where it looked for a name.
Result<void> open_name(const std::string& name, const LoaderCall& call) {
  const NoWindows keep;
  std::error_code failed;
  if (call(path_of(name), LOAD_LIBRARY_SEARCH_SYSTEM32, failed)) return {};
  const auto error = static_cast<DWORD>(failed.value());
  return fail(with_number(diagnose(class_of(error)).with(Key::file, name), error));
}

std::string file_of_handle(void* handle) { return path_text(linker::file_of_module(handle)); }

std::string file_of_address(const void* address) {
  HMODULE module = nullptr;
  if (::GetModuleHandleExW(
          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
          static_cast<LPCWSTR>(address), &module) == 0)
    return {};
  return path_text(linker::file_of_module(module));
}

struct AddedFolders {
  std::vector<DLL_DIRECTORY_COOKIE> cookies;
};

SearchFolders search_folders(const std::filesystem::path& plugin,
                             const std::vector<std::filesystem::path>& preload) {
  std::set<std::filesystem::path> folders{plugin.parent_path()};
  for (const std::filesystem::path& file : preload) folders.insert(file.parent_path());
  SearchFolders searched(new AddedFolders);
  const std::lock_guard lock(added_mutex);
  for (const std::filesystem::path& folder : folders)
    if (const DLL_DIRECTORY_COOKIE cookie = ::AddDllDirectory(calls::Name(folder).for_call().c_str());
        cookie != nullptr) {
      searched->cookies.push_back(cookie);
      added.emplace(cookie, path_text(folder));
    }
  return searched;
}

void RemoveFolders::operator()(AddedFolders* folders) const {
  const std::unique_ptr<AddedFolders> removed(folders);
  const std::lock_guard lock(added_mutex);
  for (const DLL_DIRECTORY_COOKIE cookie : removed->cookies) {
    ::RemoveDllDirectory(cookie);
    added.erase(cookie);
  }
}

// Windows has no signal masks and no fork, and each C runtime has descriptors of its own.
struct ProcessStateGuard::OfSystem {};

ProcessStateGuard::ProcessStateGuard() = default;
ProcessStateGuard::~ProcessStateGuard() = default;
void ProcessStateGuard::restore_system(std::vector<Diagnosis>&) {}

}  // namespace enginehost::load
