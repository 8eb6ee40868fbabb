#include "host/settings/deciding.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/process.hpp"

extern char** environ;

namespace enginehost::settings {
namespace {

// Gathers the text. Nothing here goes through std::filesystem: this runs at every open.
class Gathering {
 public:
  Gathering() { text_.reserve(512); }

  void add(std::string_view value) { text_.append(value).push_back('\0'); }
  void add_flag(const std::optional<std::string>& value) {
    text_.push_back(value ? '+' : '-');  // "" is not the same as nothing
    if (value) add(*value);
  }
  void add_all(const std::vector<std::string>& values) {
    for (const std::string& value : values) add(value);
    text_.push_back('\n');
  }
  // What a relative one means depends on the current folder.
  bool add_folder(const std::optional<std::string>& folder) {
    add_flag(folder);
    return !folder || folder->starts_with('/');
  }
  bool add_folders(const std::vector<std::string>& folders) {
    add_all(folders);
    for (const std::string& folder : folders)
      if (!folder.starts_with('/') && !is_url(folder)) return false;
    return true;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// As default_cache() says.
std::string cache_of(const FlagValues& flags) {
  if (flags.cache) return *flags.cache;
  if (const char* cache = variable("ENGINEHOST_CACHE")) return cache;
#ifdef __APPLE__
  constexpr const char* below_home = "/Library/Caches/enginehost";
#else
  constexpr const char* below_home = "/.cache/enginehost";
#endif
  const char* caches = variable("XDG_CACHE_HOME");
  if (caches != nullptr && *caches == '/') return std::string(caches) + "/enginehost";
  const char* home = variable("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + below_home : std::string();
}

}  // namespace

std::optional<Deciding> deciding(const FlagValues& flags) {
  Gathering text;
  if (!text.add_folders(flags.repositories) || !text.add_folders(flags.installations) ||
      !text.add_folder(flags.cache) || !text.add_folder(flags.helper))
    return std::nullopt;
  for (const std::optional<std::string>* flag : {&flags.flavor, &flags.device, &flags.log, &flags.force})
    text.add_flag(*flag);
  text.add(flags.offline ? (*flags.offline ? "offline" : "online") : "");
  text.add(flags.probe_launcher ? "launcher" : "");
  if (flags.probe_launcher) text.add_all(*flags.probe_launcher);
  text.add_all(flags.accept_licenses);
  // Without it the user database would have to be asked.
  const char* home = variable("HOME");
  if (home == nullptr || *home != '/') return std::nullopt;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view one = *entry;
    const std::size_t end = one.find('=');
    if (end != std::string_view::npos && is_settings_variable(one.substr(0, end))) text.add(one);
  }
  text.add(std::to_string(::getuid()) + " " + std::to_string(::geteuid()));
  text.add(executable_path());
  // The library's folder follows from its name while it is the same file.
  if (const std::string library = library_name(); !library.empty()) {
    calls::Status status{};
    if (calls::stat(library, &status) != 0) return std::nullopt;
    text.add(library);
    text.add(std::to_string(status.st_dev) + " " + std::to_string(status.st_ino));
  }
  // A home folder may be that of several machines; which one this is, Settings::looks has.
  utsname machine{};
  if (::uname(&machine) != 0) return std::nullopt;
  text.add(machine.nodename);
  Deciding decides{text.take(), cache_of(flags)};
  if (!decides.cache.starts_with('/')) return std::nullopt;
  return decides;
}

}  // namespace enginehost::settings
