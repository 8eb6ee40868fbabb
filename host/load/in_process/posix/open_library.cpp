#include "host/load/in_process/open_library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/explain/loader_text.hpp"
#include "host/load/in_process/loader_call.hpp"
#include "host/load/in_process/process_state_guard.hpp"

namespace enginehost::load {

namespace {

Diagnosis failed_to_open(const std::filesystem::path& file, const std::string& text) {
  Diagnosis diagnosis = [&] {
    if (const auto hint = explain::read_loader_text(text)) return explain::to_diagnosis(*hint, text);
    return diagnose(Code::file_damaged).with(Key::problem, text).with(Key::os_said, text);
  }();
  if (diagnosis.value(Key::file).empty()) diagnosis.with(Key::file, path_text(file));
  return diagnosis;
}

}  // namespace

Result<void> open_file(const std::filesystem::path& file, const LoaderCall& call) {
  std::error_code says_nothing;
  if (call(file, 0, says_nothing)) return {};
  const char* const text = ::dlerror();
  return fail(failed_to_open(file, text != nullptr ? text : "dlopen gave no reason"));
}

Result<void> open_name(const std::string& name, const LoaderCall& call) { return open_file(name, call); }

std::string file_of_address(const void* address) {
  Dl_info where{};
  if (::dladdr(address, &where) == 0 || where.dli_fname == nullptr) return {};
  return where.dli_fname;
}

// These loaders read their search folders once, when the process starts.
SearchFolders search_folders(const std::filesystem::path&, const std::vector<std::filesystem::path>&) {
  return nullptr;
}
void RemoveFolders::operator()(AddedFolders*) const {}

namespace {

constexpr int streams = 3;
constexpr const char* names[streams] = {"standard input", "standard output", "standard error"};

bool leads_to(const struct stat& was, int descriptor) {
  struct stat now {};
  return ::fstat(descriptor, &now) == 0 && was.st_dev == now.st_dev && was.st_ino == now.st_ino &&
         was.st_rdev == now.st_rdev;
}

// Describes the difference of two sets: "SIGINT, SIGTERM and 3 more".
std::string signals_between(const sigset_t& before, const sigset_t& after) {
  constexpr std::size_t most_named = 4;
  std::string text;
  std::size_t count = 0;
  for (int number = 1; number < NSIG; ++number) {
    // sigismember is a macro on macOS and takes no "::".
    if (sigismember(&before, number) == sigismember(&after, number)) continue;
    if (++count <= most_named) text += (text.empty() ? "" : ", ") + signal_name(number);
  }
  return count > most_named ? text + " and " + std::to_string(count - most_named) + " more" : text;
}

}  // namespace

struct ProcessStateGuard::OfSystem {
  pid_t process = ::getpid();
  sigset_t blocked{};
  FileDescriptor copies[streams];
  struct stat files[streams] {};  // files that the descriptors lead to
};

ProcessStateGuard::ProcessStateGuard() : of_system_(std::make_unique<OfSystem>()) {
  ::pthread_sigmask(SIG_SETMASK, nullptr, &of_system_->blocked);
  // The copies get numbers above the streams. A stream that the program has closed has no copy.
  for (int stream = 0; stream < streams; ++stream) {
    FileDescriptor& copy = of_system_->copies[stream];
    copy = FileDescriptor(::fcntl(stream, F_DUPFD_CLOEXEC, streams));
    if (copy.valid() && ::fstat(copy.get(), &of_system_->files[stream]) != 0) copy.close();
  }
}

ProcessStateGuard::~ProcessStateGuard() {
  if (of_system_ != nullptr) restore();
}

void ProcessStateGuard::restore_system(std::vector<Diagnosis>& reported) {
  const std::unique_ptr<OfSystem> kept = std::move(of_system_);
  OfSystem& was = *kept;
  if (::getpid() != was.process) ::_exit(1);
  sigset_t blocked{};
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  // One comparison at each open instead of one for each signal, because the sets rarely differ.
  if (std::string signals; std::memcmp(&was.blocked, &blocked, sizeof blocked) != 0 &&
                           !(signals = signals_between(was.blocked, blocked)).empty()) {
    ::pthread_sigmask(SIG_SETMASK, &was.blocked, nullptr);
    reported.push_back(
        std::move(diagnose(Code::engine_changes_process_state)
                      .with(Key::changed, "the blocked signals of this thread (" + signals + ")")
                      .with(Key::before, "the program's")
                      .with(Key::after, "the engine's; the program's were restored")));
  }
  bool closed_others = false;
  for (int stream = 0; stream < streams; ++stream) {
    FileDescriptor& copy = was.copies[stream];
    if (!copy.valid()) continue;
    if (!leads_to(was.files[stream], copy.get())) {
      // Code that closes all descriptors begins at the lowest number. The copy's number may belong to another
      // file now.
      static_cast<void>(copy.release());
      closed_others = true;
      continue;
    }
    if (leads_to(was.files[stream], stream)) continue;
    const bool closed = ::fcntl(stream, F_GETFD) < 0;
    ::dup2(copy.get(), stream);
    reported.push_back(std::move(
        diagnose(Code::engine_changes_process_state)
            .with(Key::changed, names[stream])
            .with(Key::before, "the program's")
            .with(Key::after, closed ? "closed; it was restored" : "another one; it was restored")));
  }
  if (closed_others)
    reported.push_back(std::move(diagnose(Code::engine_changes_process_state)
                                     .with(Key::changed, "descriptors that it did not open")
                                     .with(Key::before, "open")
                                     .with(Key::after, "closed")));
}

}  // namespace enginehost::load
