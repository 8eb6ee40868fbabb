// Boost.DLL is called in this file only (docs/decisions/035-boost-dll.md).
#include "host/load/in_process/open_library.hpp"

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include <atomic>
#include <string_view>
#include <system_error>

#include "base/paths.hpp"
#include "base/process.hpp"
#include "host/load/in_process/loader_call.hpp"

namespace enginehost::load {

namespace dll = boost::dll;

struct OpenLibrary::Opened {
  dll::shared_library library;
  bool stays = false;
  Opened* next = nullptr;  // of those that stay
};

void OpenLibrary::Close::operator()(Opened* opened) const {
  if (!opened->stays) delete opened;
}

namespace {

// RTLD_NOW: a missing symbol fails here instead of ending the process later. RTLD_LOCAL: engines must not see
// each other's symbols. search_system_folders: Boost.DLL puts the current folder before no name, and before
// no path that the standard library takes for relative (MinGW's takes \\?\C:\x.dll for one).
constexpr dll::load_mode::type mode =
    dll::load_mode::rtld_now | dll::load_mode::rtld_local | dll::load_mode::search_system_folders;

// The form without exceptions leaves the loader's text where dlerror() returns it.
LoaderCall loading(dll::shared_library& library) {
  return [&library](const std::filesystem::path& file, unsigned flags, std::error_code& error) {
    library.load(file, mode | static_cast<dll::load_mode::type>(flags), error);
    return library.is_loaded();
  };
}

// MinGW's standard library takes \\server\share\x.dll for a relative path.
bool is_absolute(const std::filesystem::path& file, std::string_view text) {
  constexpr bool on_windows = std::filesystem::path::preferred_separator == '\\';
  return file.is_absolute() || (on_windows && text.starts_with("\\\\"));
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// Returns why the text is no path or name to be opened. A NUL character would end it early for the loader.
Diagnosis not_accepted(std::string_view text, std::string_view problem, std::string_view wanted) {
  std::string shown;
  for (const char c : text) shown += c == '\0' ? std::string("\\0") : std::string(1, c);
  return std::move(diagnose(Code::path_leads_to_no_file)
                       .with(Key::file, shown.empty() ? "\"\"" : shown)
                       .with(Key::problem, problem)
                       .with(Key::wanted, wanted));
}

// Boost.DLL returns the program itself for its file, and for a name under which it lies in the current
// folder. The loader refuses both.
Result<void> must_not_be_this_program(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::equivalent(file, path_of(executable_path()), error)) return {};
  return fail(diagnose(Code::not_a_shared_library)
                  .with(Key::file, path_text(std::filesystem::absolute(file, error)))
                  .with(Key::type, "running program"));
}

}  // namespace

Result<OpenLibrary> OpenLibrary::at(const std::filesystem::path& file) {
  const std::string& text = path_text(file);
  const char* const problem = text.empty()              ? "an empty path"
                              : has_nul(text)           ? "a path with a NUL character"
                              : is_absolute(file, text) ? nullptr
                              : file.has_parent_path()  ? "a relative path"
                                                        : "a bare name";
  if (problem != nullptr) return fail(not_accepted(text, problem, "an absolute path"));
  TRY(must_not_be_this_program(file));
  OpenLibrary opened;
  opened.opened_.reset(new Opened);
  TRY(open_file(file, loading(opened.opened_->library)));
  return opened;
}

Result<OpenLibrary> OpenLibrary::of_the_system(const std::string& name) {
  const std::filesystem::path file = path_of(name);
  const char* const problem = name.empty()              ? "an empty name"
                              : has_nul(name)           ? "a name with a NUL character"
                              : file.filename() != file ? "a path"
                                                        : nullptr;
  if (problem != nullptr) return fail(not_accepted(name, problem, "the name of a library"));
  TRY(must_not_be_this_program(file));
  OpenLibrary opened;
  opened.opened_.reset(new Opened);
  TRY(open_name(name, loading(opened.opened_->library)));
  return opened;
}

void* OpenLibrary::symbol(const char* name) const {
  if (!is_open() || !opened_->library.has(name)) return nullptr;
  return &opened_->library.get<char>(name);
}

std::string OpenLibrary::file() const { return is_open() ? file_of_handle(opened_->library.native()) : ""; }

// Boost.DLL unloads in its destructor and gives no handle away. Libraries that stay are in a list that is
// never freed, where a leak checker can find them.
void OpenLibrary::stay() {
  static std::atomic<Opened*> staying{nullptr};
  if (!is_open() || opened_->stays) return;
  opened_->stays = true;
  opened_->next = staying.load();
  while (!staying.compare_exchange_weak(opened_->next, opened_.get())) {
  }
}

}  // namespace enginehost::load
