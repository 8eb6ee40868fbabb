// One open in a new process; prints the nanoseconds it took.
//   dlopen PLUGIN [PRELOAD…]         the loader alone: dlopen of each, dlsym
//   create PLUGIN [PRELOAD…]         and the plugin's create(), as a program without EngineHost would
//   open CACHE REPOSITORY ENGINE     settings, machine, plan, store, load, create: all of an open
//   again CACHE REPOSITORY ENGINE    the same once more, in the process that has it open
//   look CACHE                       a stat of each file that a repeated open looks at, and no more
//   detect HELPER                    detecting the machine
//   recall HELPER FILE               the same from FILE, which an earlier detection stored
//   read FILE…                       reading files, the floor of detection
// REPOSITORY may be "" for the configured ones.
#include <dlfcn.h>
#include <enginehost/engine_plugin.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/record.hpp"
#include "host/decision_cache/dependency.hpp"
#include "host/explain/explain.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/open/open.hpp"
#include "host/open/shared.hpp"
#include "host/platform/detect.hpp"
#include "host/platform/machine_key.hpp"

using namespace enginehost;

namespace {

using Clock = std::chrono::steady_clock;

int finish(Clock::time_point begin, Clock::time_point end = Clock::now()) {
  std::printf("%.0f\n", std::chrono::duration<double, std::nano>(end - begin).count());
  std::fflush(stdout);
  // The engine's destructors at the end of the process are not measured.
  ::_exit(0);
}

int fail_with(const char* what) {
  std::fprintf(stderr, "bench_open_child: %s\n", what);
  return 1;
}

int raw(char** paths, int count, bool create) {
  const auto begin = Clock::now();
  for (int i = 1; i < count; ++i)
    if (::dlopen(paths[i], RTLD_NOW | RTLD_LOCAL) == nullptr) return fail_with(::dlerror());
  void* library = ::dlopen(paths[0], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail_with(::dlerror());
  void* symbol = ::dlsym(library, "engine_plugin_v1");
  if (symbol == nullptr) return fail_with(::dlerror());
  if (!create) return finish(begin);
  const auto* plugin = static_cast<const engine_plugin*>(symbol);
  const std::string file = paths[0], folder = file.substr(0, file.rfind('/'));
  ::engine_host host{};
  host.size = sizeof host;
  host.abi_major = ENGINE_ABI_MAJOR;
  host.abi_minor = ENGINE_ABI_MINOR;
  host.name = "bench";
  host.version = "1";
  host.root = folder.c_str();
  host.log = [](const engine_host*, std::int32_t, const char*, const char*) noexcept {};
  engine_call call{};
  call.size = sizeof call;
  call.is_cancelled = [](const engine_call*) noexcept -> std::int32_t { return 0; };
  call.progress = [](engine_call*, std::uint64_t, std::uint64_t, const char*) noexcept {};
  call.fail = [](engine_call*, engine_status status, const char*, std::int64_t, const char*) noexcept {
    return status;
  };
  call.detail = [](engine_call*, const char*, const char*) noexcept {};
  engine_instance* engine = nullptr;
  if (plugin->create(&host, nullptr, 0, &engine, &call) != ENGINE_OK) return fail_with("create() failed");
  return finish(begin);
}

settings::FlagValues flags_of(const char* cache, const char* repository) {
  settings::FlagValues flags;
  flags.cache = cache;
  flags.offline = true;
  if (*repository != '\0') flags.repositories = {repository};
  return flags;
}

// As the C API does it.
Result<std::shared_ptr<open::SharedEngine>> ask(char** arguments) {
  open::SharedRequest shared;
  shared.key = std::string(arguments[0]) + '\0' + arguments[1] + '\0' + arguments[2];
  shared.flags = [&] { return flags_of(arguments[0], arguments[1]); };
  shared.request = [&](open::AskedSettings) {
    open::OpenRequest request;
    request.request.engine = arguments[2];
    return request;
  };
  return open::open_shared(shared);
}

// Keeps the engine open and opens it once more.
int open_again(char** arguments) {
  const auto kept = ask(arguments);
  if (!kept) return fail_with(explain::one_line(kept.error()).c_str());
  const auto begin = Clock::now();
  const auto again = ask(arguments);
  if (!again || *again != *kept) return fail_with("another engine was opened");
  return finish(begin);
}

int open_engine(char** arguments) {
  const auto begin = Clock::now();
  const auto opened = ask(arguments);
  const auto end = Clock::now();
  if (!opened) return fail_with(explain::one_line(opened.error()).c_str());
  if (std::getenv("ENGINEHOST_BENCH_TIMINGS") != nullptr)
    for (const auto& [what, milliseconds] : (*opened)->outcome().timings_ms)
      std::fprintf(stderr, "%-10s %8.3f ms\n", what.c_str(), milliseconds);
  return finish(begin, end);
}

// The files that a cached decision names (host/decision_cache/dependency.hpp), each once.
int look(const char* cache) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(cache) + "/state/decisions", error)) {
    const auto decision = read_file(entry.path());
    std::string_view text = decision ? std::string_view(*decision) : std::string_view();
    while (const auto line = take_line(text))
      if (*line == "dependencies") break;
    for (open::Dependency dependency; dependency.take(text);)
      if (!dependency.path.empty()) files.push_back(dependency.path);
    break;
  }
  if (files.empty()) return fail_with("the cache has no decision");
  const auto begin = Clock::now();
  struct stat status {};
  for (const std::string& file : files) static_cast<void>(::stat(file.c_str(), &status));
  return finish(begin);
}

int detect(const char* helper) {
  const auto begin = Clock::now();
  platform::DetectRequest request;
  request.helper = helper;
  request.cache_folder = "/tmp";
  const platform::Platform platform = platform::detect(request);
  if (!platform.cpu.is_known()) return fail_with("no processor");
  return finish(begin);
}

int recall(const char* helper, const char* file) {
  platform::DetectRequest request;
  request.helper = helper;
  request.cache_folder = "/tmp";
  const std::int64_t now = open::OpenContext::now();
  const auto key_of = [&] { return platform::machine_key(request, platform::Reach::everything); };
  if (!platform::recall(request, key_of(), file, now))
    platform::remember(platform::detect(request), key_of(), file, now);
  const auto begin = Clock::now();
  if (!platform::recall(request, key_of(), file, now)) return fail_with("nothing is remembered");
  return finish(begin);
}

int read_files(char** files, int count) {
  const auto begin = Clock::now();
  std::vector<char> bytes(1 << 16);
  for (int i = 0; i < count; ++i) {
    const int descriptor = ::open(files[i], O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;
    while (::read(descriptor, bytes.data(), bytes.size()) > 0) {
    }
    ::close(descriptor);
  }
  return finish(begin);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "dlopen" && argc > 2) return raw(argv + 2, argc - 2, false);
  if (mode == "create" && argc > 2) return raw(argv + 2, argc - 2, true);
  if (mode == "open" && argc == 5) return open_engine(argv + 2);
  if (mode == "again" && argc == 5) return open_again(argv + 2);
  if (mode == "look" && argc == 3) return look(argv[2]);
  if (mode == "detect" && argc == 3) return detect(argv[2]);
  if (mode == "recall" && argc == 4) return recall(argv[2], argv[3]);
  if (mode == "read" && argc > 2) return read_files(argv + 2, argc - 2);
  return fail_with(
      "dlopen|create PLUGIN [PRELOAD…] | open|again CACHE REPOSITORY ENGINE | look CACHE | detect HELPER | "
      "recall HELPER "
      "FILE | read FILE…");
}
