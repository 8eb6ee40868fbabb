// Facts about this process that Linux and macOS have in common.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifndef __APPLE__
#include <elf.h>
#include <link.h>
#endif

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <string_view>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/paths.hpp"
#include "base/per_process.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

extern char** environ;

namespace enginehost {
namespace {

using Generation = std::atomic<unsigned>;

// The number of this process, and 0 in a child until it asks for its own.
Generation of_this_process{1};
Generation highest{1};

#ifdef __APPLE__
Generation* page_that_children_get_empty() { return nullptr; }
#else
// Returns memory that the kernel clears in a child, also in one that was made without fork(); null where it
// cannot do so (Linux before 4.14).
Generation* page_that_children_get_empty() {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  // QEMU before 5.1 accepts every advice, even one that does not exist, and follows none.
  constexpr int no_advice = -1;
  if (::madvise(page, size, no_advice) != 0 && ::madvise(page, size, MADV_WIPEONFORK) == 0)
    return new (page) Generation(1);
  ::munmap(page, size);
  return nullptr;
}
#endif

Generation* generation = &of_this_process;

// Runs when this code is loaded, before any fork that could be missed.
[[maybe_unused]] const bool watched = [] {
  if (Generation* const page = page_that_children_get_empty())
    generation = page;
  else
    ::pthread_atfork(nullptr, nullptr, [] { of_this_process.store(0); });
  return true;
}();

std::mutex* held = nullptr;

void lock_held() { held->lock(); }
void unlock_held() { held->unlock(); }

namespace fs = std::filesystem;

// Returns the folder of an absolute path. Plain text calls, because the first use of std::filesystem costs
// more than these, and every open runs them.
fs::path folder_of(std::string_view file) {
  const std::size_t slash = file.find_last_of('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? fs::path("/") : fs::path(file.substr(0, slash));
}

// Returns whether the address is in the program. The loader's name of the program is its start name, which
// may be found elsewhere ("tool", from PATH).
#ifdef __APPLE__
bool is_of_the_program(const void*) { return false; }  // dyld has the program's path
#else
bool is_of_the_program(const void* code) {
  const auto address = reinterpret_cast<ElfW(Addr)>(code);
  return ::dl_iterate_phdr(
             [](dl_phdr_info* program, std::size_t, void* wanted) {
               // The first object is the program: 1 if the address is in it, 2 if not.
               const ElfW(Addr) at = *static_cast<const ElfW(Addr)*>(wanted) - program->dlpi_addr;
               for (int i = 0; i < program->dlpi_phnum; ++i)
                 if (const auto& segment = program->dlpi_phdr[i]; segment.p_type == PT_LOAD &&
                                                                  at >= segment.p_vaddr &&
                                                                  at - segment.p_vaddr < segment.p_memsz)
                   return 1;
               return 2;
             },
             const_cast<ElfW(Addr)*>(&address)) == 1;
}
#endif

#ifndef __APPLE__

constexpr std::size_t longest_id = 64;

// A note is a header of three words, its owner's name and its content, the latter two padded to 4 bytes.
std::string build_id_in(const char* notes, std::size_t size) {
  const auto padded = [](std::size_t length) { return (length + 3) & ~std::size_t{3}; };
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    const std::size_t name = at + sizeof header, content = name + padded(header.n_namesz);
    if (content + header.n_descsz > size) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0 && header.n_descsz <= longest_id)
      return hex_of({notes + content, header.n_descsz});
    at = content + padded(header.n_descsz);
  }
  return {};
}

#endif

}  // namespace

char** environment_entries() {
  static char* none[] = {nullptr};
  return environ != nullptr && !has_more_rights_than_its_caller() ? environ : none;
}

std::optional<std::string> environment_variable(const char* name) {
  const char* text = has_more_rights_than_its_caller() ? nullptr : std::getenv(name);
  return text != nullptr ? std::optional<std::string>(text) : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> environment_variables() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** entry = environment_entries(); *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::uint64_t environment_digest() {
  std::uint64_t sum = 0x9E3779B97F4A7C15u;
  for (char** entry = environment_entries(); *entry != nullptr; ++entry) {
    std::size_t left = std::strlen(*entry) + 1;
    for (const char* at = *entry; left > 0;) {
      std::uint64_t word = 0;
      const std::size_t length = left < sizeof word ? left : sizeof word;
      std::memcpy(&word, at, length);
      sum = (sum ^ word) * 0xBF58476D1CE4E5B9u;
      sum ^= sum >> 29;
      at += length;
      left -= length;
    }
  }
  return sum;
}

void hold_over_forks(std::mutex& mutex) {
  held = &mutex;
  ::pthread_atfork(&lock_held, &unlock_held, &unlock_held);
}

unsigned generation_of_process() {
  unsigned now = generation->load(std::memory_order_relaxed);
  if (now != 0) return now;
  // The first call in a child. Of several threads, one gives the number.
  const unsigned next = highest.fetch_add(1) + 1;
  return generation->compare_exchange_strong(now, next) ? next : now;
}

std::string library_name() {
  const auto* const code = reinterpret_cast<const void*>(&library_name);
  Dl_info info{};
  if (is_of_the_program(code) || ::dladdr(code, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

fs::path executable_folder() { return folder_of(executable_path()); }

fs::path library_folder() {
  char real[PATH_MAX];
  const std::string name = library_name();
  if (name.empty()) return executable_folder();
  if (::realpath(name.c_str(), real) != nullptr) return folder_of(real);
  // Without readable links, use the loader's name.
  return name.front() == '/' ? folder_of(name) : executable_folder();
}

#ifndef __APPLE__

std::string mapped_build_id(const dl_phdr_info& object) {
  std::string id;
  for (int i = 0; i < object.dlpi_phnum && id.empty(); ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type == PT_NOTE)
      id = build_id_in(reinterpret_cast<const char*>(object.dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  return id;
}

#endif

namespace {

using Resource = decltype(RLIMIT_NOFILE);

void add_limit(Diagnosis& diagnosis, Key what, Resource resource, const char* source) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    diagnosis.with(what, std::to_string(limit.rlim_cur), source);
}

// Adds the limit of the nearest control group that has one: this process's own, or one above it. Inside of a
// container the path in /proc/self/cgroup may be the host's; the top of the mount is then the container's.
void add_group_limit(Diagnosis& diagnosis) {
  for (const std::string& line : split(read_file("/proc/self/cgroup").value_or(""), '\n')) {
    const std::vector<std::string> parts = split(line, ':');  // 0::/user.slice  or  4:pids:/docker/…
    if (parts.size() != 3 || (parts[0] != "0" && parts[1] != "pids")) continue;
    std::string group = (parts[0] == "0" ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids") + parts[2];
    for (; group.starts_with("/sys/fs/cgroup"); group.resize(group.find_last_of('/'))) {
      const auto limit = parse_integer(trim(read_file(path_of(group + "/pids.max")).value_or("")));
      if (!limit) continue;  // "max", or no such file
      diagnosis.with(Key::group_limit, std::to_string(*limit), group + "/pids.max");
      const std::string events = read_file(path_of(group + "/pids.events")).value_or("");
      if (events.starts_with("max ") && !events.starts_with("max 0"))
        diagnosis.with(Key::group_refusals, trim(std::string_view(events).substr(4)), group + "/pids.events");
      return;
    }
  }
}

// A machine that promises no more memory than it has (proc(5), overcommit_memory).
void add_commit_limit(Diagnosis& diagnosis) {
  if (trim(read_file("/proc/sys/vm/overcommit_memory").value_or("")) != "2") return;
  const std::string facts = read_file("/proc/meminfo").value_or("");
  constexpr std::string_view name = "CommitLimit:";
  const std::size_t at = facts.find(name);
  if (at == std::string::npos) return;
  const std::string_view number = trim(std::string_view(facts).substr(at + name.size(), 24));
  if (const auto kib = parse_integer(number.substr(0, number.find(' '))))
    diagnosis.with(Key::memory_limit, std::to_string(*kib * 1024), "vm.overcommit_memory is 2");
}

}  // namespace

void add_limits(Diagnosis& diagnosis, Scarce what) {
  switch (what) {
    case Scarce::threads:
      // The kernel does not count the processes of the machine's root.
      if (::getuid() != 0) add_limit(diagnosis, Key::process_limit, RLIMIT_NPROC, "RLIMIT_NPROC");
      // A thread needs address space for its stack.
      add_limit(diagnosis, Key::address_space_limit, RLIMIT_AS, "RLIMIT_AS");
      return add_group_limit(diagnosis);
    case Scarce::memory:
      add_limit(diagnosis, Key::address_space_limit, RLIMIT_AS, "RLIMIT_AS");
      add_limit(diagnosis, Key::data_limit, RLIMIT_DATA, "RLIMIT_DATA");
      return add_commit_limit(diagnosis);
    case Scarce::files:
      return add_limit(diagnosis, Key::file_limit, RLIMIT_NOFILE, "RLIMIT_NOFILE");
  }
}

}  // namespace enginehost
