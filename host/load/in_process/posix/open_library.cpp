#include "host/load/in_process/open_library.hpp"

#include <dlfcn.h>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include <atomic>
#include <new>

#include "base/paths.hpp"
#include "host/explain/loader_text.hpp"

namespace enginehost::load {

namespace dll = boost::dll;

struct OpenLibrary::State {
  dll::shared_library library;
  State* next = nullptr;  // the list of libraries that stay
};

namespace {

// Extracts the dlerror text from what(), where it follows boost's own words:
// "boost::dll::shared_library::load() failed (dlerror system message: /x.so: file too short): Bad file
// descriptor …".
std::string loader_said(const std::string& what) {
  constexpr std::string_view begin = "dlerror system message: ";
  const std::size_t at = what.find(begin);
  if (at == std::string::npos) return what;
  std::string text = what.substr(at + begin.size());
  const std::size_t end = text.rfind("): ");
  return end == std::string::npos ? text : text.substr(0, end);
}

Diagnosis failed_to_open(const std::filesystem::path& file, const std::string& text) {
  Diagnosis diagnosis = [&] {
    if (const auto hint = explain::read_loader_text(text)) return explain::to_diagnosis(*hint, text);
    return diagnose("EH-F08").with("problem", text).with("os_said", text);
  }();
  if (diagnosis.value("file").empty()) diagnosis.with("file", path_text(file));
  return diagnosis;
}

}  // namespace

OpenLibrary::OpenLibrary() = default;
OpenLibrary::OpenLibrary(OpenLibrary&&) noexcept = default;
OpenLibrary& OpenLibrary::operator=(OpenLibrary&&) noexcept = default;
OpenLibrary::~OpenLibrary() = default;

Result<OpenLibrary> OpenLibrary::open(const std::filesystem::path& file) {
  // The throwing form, because the error_code form loses dlerror's text. RTLD_NOW: a missing symbol fails
  // here instead of ending the process later. RTLD_LOCAL: engines must not see each other's symbols.
  try {
    OpenLibrary opened;
    opened.state_ = std::make_unique<State>();
    opened.state_->library = dll::shared_library(file, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
    return opened;
  } catch (const std::bad_alloc& none_left) {
    return fail(diagnose("EH-L23").with("file", path_text(file)).with("os_said", none_left.what()));
  } catch (const std::exception& error) {
    return fail(failed_to_open(file, loader_said(error.what())));
  }
}

bool OpenLibrary::is_open() const { return state_ != nullptr; }

void* OpenLibrary::symbol(const char* name) const {
  return state_ != nullptr ? ::dlsym(state_->library.native(), name) : nullptr;
}

void OpenLibrary::unload() { state_.reset(); }

// Boost's object unloads in its destructor. It is kept in a list that is never freed, where a leak checker
// can find it.
void OpenLibrary::stay() {
  static std::atomic<State*> staying{nullptr};
  State* const state = state_.release();
  if (state == nullptr) return;
  state->next = staying.load();
  while (!staying.compare_exchange_weak(state->next, state)) {
  }
}

std::string file_of_address(const void* address) {
  Dl_info where{};
  if (::dladdr(address, &where) == 0 || where.dli_fname == nullptr) return {};
  return where.dli_fname;
}

// These loaders read their search folders once, when the process starts.
SearchFolders::SearchFolders(const std::filesystem::path&, const std::vector<std::filesystem::path>&) {}
SearchFolders::SearchFolders(SearchFolders&&) noexcept = default;
SearchFolders& SearchFolders::operator=(SearchFolders&&) noexcept = default;
SearchFolders::~SearchFolders() = default;
void SearchFolders::stay() {}

}  // namespace enginehost::load
