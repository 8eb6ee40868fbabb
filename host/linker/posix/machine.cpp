#include "host/linker/machine.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/cpuid.hpp"
#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/linker/search.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {
namespace {

// The kernel writes a line feed in a name as \012, and appends a mark to the name of a deleted file.
std::string file_of_line(std::string_view line) {
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) return {};
  line.remove_prefix(slash);
  constexpr std::string_view removed = " (deleted)", escaped = "\\012";
  if (line.ends_with(removed)) line.remove_suffix(removed.size());
  std::string file;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool line_end = line.substr(at).starts_with(escaped);
    file += line_end ? '\n' : line[at];
    if (line_end) at += escaped.size() - 1;
  }
  return file;
}

}  // namespace

std::string text_of_tag(const dl_phdr_info& library, std::int64_t tag) {
  for (ElfW(Half) i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library.dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    ElfW(Addr) strings = 0;
    std::optional<ElfW(Addr)> at;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
      if (entry->d_tag == tag) at = entry->d_un.d_val;
    }
    if (!at || strings == 0) return {};
    // glibc relocates DT_STRTAB in place except on a few architectures and in the vdso; musl does not.
    if (strings < library.dlpi_addr) strings += library.dlpi_addr;
    return reinterpret_cast<const char*>(strings + *at);
  }
  return {};
}

std::uintptr_t first_address(const dl_phdr_info& library) {
  for (ElfW(Half) i = 0; i < library.dlpi_phnum; ++i)
    if (library.dlpi_phdr[i].p_type == PT_LOAD) return library.dlpi_addr + library.dlpi_phdr[i].p_vaddr;
  return 0;
}

std::string file_mapped_at(std::uintptr_t address) {
  const Result<std::string> maps = read_file("/proc/self/maps");
  if (!maps || address == 0) return {};
  for (const std::string& line : split(*maps, '\n')) {
    std::uintptr_t begin = 0, end = 0;
    const char* const last = line.data() + line.size();
    const auto first = std::from_chars(line.data(), last, begin, 16);
    if (first.ec != std::errc() || first.ptr == last) continue;
    if (std::from_chars(first.ptr + 1, last, end, 16).ec != std::errc()) continue;
    if (address >= begin && address < end) return file_of_line(line);
  }
  return {};
}

namespace {

using Folders = std::vector<std::string>;

#ifdef __GLIBC__
std::string text_of_program(std::int64_t tag) {
  struct Asked {
    std::int64_t tag;
    std::string text;
  } asked{tag, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* into) {
        auto& question = *static_cast<Asked*>(into);
        question.text = text_of_tag(*program, question.tag);
        return 1;  // the first object is the program
      },
      &asked);
  return std::move(asked.text);
}

Folders folders_of_tag(const Machine& machine, std::int64_t tag) {
  const std::string path = text_of_program(tag);
  return path.empty() ? Folders() : as_listed(machine, split(path, ':'));
}
#endif

// Returns false if they are present but not all in front.
bool drop_front(Folders& folders, const Folders& front) {
  if (front.size() <= folders.size() && std::equal(front.begin(), front.end(), folders.begin())) {
    folders.erase(folders.begin(), folders.begin() + static_cast<std::ptrdiff_t>(front.size()));
    return true;
  }
  return std::find_first_of(folders.begin(), folders.end(), front.begin(), front.end()) == folders.end();
}

bool drop_back(Folders& folders, const Folders& back) {
  if (back.size() > folders.size() || !std::equal(back.rbegin(), back.rend(), folders.rbegin())) return false;
  folders.resize(folders.size() - back.size());
  return true;
}

// Returns the folders that the loader searches, in its order.
Folders searched_folders() {
  Folders folders;
#ifdef __GLIBC__
  const std::unique_ptr<void, int (*)(void*)> program(::dlopen(nullptr, RTLD_LAZY), &::dlclose);
  // dlinfo(3): first the size, then a buffer of that size for everything. glibc sets no flags that
  // distinguish the folders.
  Dl_serinfo size{};
  if (program == nullptr || ::dlinfo(program.get(), RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
  const std::unique_ptr<std::byte[]> room(new std::byte[size.dls_size]);
  auto* const all = reinterpret_cast<Dl_serinfo*>(room.get());
  *all = size;
  if (::dlinfo(program.get(), RTLD_DI_SERINFO, all) != 0) return folders;
  for (unsigned i = 0; i < all->dls_cnt; ++i) folders.emplace_back(all->dls_serpath[i].dls_name);
#endif
  return folders;
}

}  // namespace

std::string loader_folders_at_start() {
  const Folders folders = searched_folders();
  return folders.empty() ? library_path_at_start().value_or("") : join(folders, ":") + ":";
}

ListedFolders listed_folders([[maybe_unused]] const Machine& machine) {
  ListedFolders folders{searched_folders(), {}, {}};
#ifdef __GLIBC__
  folders.runpath = folders_of_tag(machine, DT_RUNPATH);
  if (folders.runpath.empty()) folders.rpath = folders_of_tag(machine, DT_RPATH);
#endif
  return folders;
}

std::vector<std::string> as_listed(const Machine& machine, const std::vector<std::string>& elements) {
  Folders folders;
  const std::string program = path_text(machine.program);
  const Speaker speaker{program.empty() ? std::string_view() : folder_of_file(program), true};
  for (const std::string& element : elements) {
    std::string folder = element.empty() ? "." : expand_tokens(machine, element, speaker);
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(std::move(folder));
  }
  return folders;
}

std::vector<std::string> compiled_in(const ListedFolders& folders,
                                     const std::vector<std::string>& library_path) {
  Folders rest = folders.all;
  const bool understood = drop_front(rest, folders.rpath) && drop_front(rest, library_path) &&
                          drop_front(rest, folders.runpath) &&
                          std::all_of(rest.begin(), rest.end(),
                                      [](const std::string& folder) { return folder.starts_with('/'); });
  return understood ? rest : Folders();
}

std::optional<std::vector<std::string>> reported_by_environment(const ListedFolders& folders,
                                                                const std::vector<std::string>& compiled_in) {
  Folders rest = folders.all;
  if (compiled_in.empty() || !drop_back(rest, compiled_in)) return std::nullopt;
  drop_back(rest, folders.runpath);
  drop_front(rest, folders.rpath);
  return rest;
}

namespace {

struct Target {
  const char* machine;
  const char* triplet;       // Debian's multiarch name
  std::int32_t cache_flags;  // sysdeps/generic/ldconfig.h, FLAG_* | FLAG_ELF_LIBC6
};

constexpr Target this_target() {
#if defined(__x86_64__) && defined(__ILP32__)
  return {"x32", "x86_64-linux-gnux32", 0x0803};
#elif defined(__x86_64__)
  return {"x86_64", "x86_64-linux-gnu", 0x0303};
#elif defined(__i386__)
  return {"i386", "i386-linux-gnu", 0x0003};
#elif defined(__aarch64__)
  return {"aarch64", "aarch64-linux-gnu", 0x0a03};
#elif defined(__arm__)
  return {"arm", "arm-linux-gnueabihf", 0x0903};
#elif defined(__riscv) && __riscv_xlen == 64
  return {"riscv64", "riscv64-linux-gnu", 0x1003};
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  return {"ppc64le", "powerpc64le-linux-gnu", 0x0503};
#elif defined(__s390x__)
  return {"s390x", "s390x-linux-gnu", 0x0403};
#else
  return {"", "", 0};
#endif
}

#if defined(__x86_64__) || defined(__i386__)
struct Cpu {
  std::uint32_t isa = 0;
  bool intel = false;
  bool avx512_group = false;  // the features that glibc before 2.37 calls "avx512_1"
};

// The levels of the x86-64 psABI; the operating system must save the registers too.
Cpu describe_cpu() {
  const Cpuid& answers = cpuid_of_this_processor();
  Cpu cpu;
  cpu.intel = answers.intel;
  const unsigned features = answers.leaf1.ecx, more_b = answers.leaf7.ebx, extended = answers.extended1.ecx;
  const auto saved = static_cast<unsigned>(answers.xcr0);
  auto all = [](unsigned value, unsigned wanted) { return (value & wanted) == wanted; };
  constexpr unsigned lahf = 1u, lzcnt = 1u << 5;
  cpu.isa = 1;
  if (!all(features, bit_CMPXCHG16B | bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT) ||
      !all(extended, lahf))
    return cpu;
  cpu.isa |= 2;
  if (!all(saved, 6) || !all(features, bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) ||
      !all(more_b, bit_AVX2 | bit_BMI | bit_BMI2) || !all(extended, lzcnt))
    return cpu;
  cpu.isa |= 4;
  if (!all(saved, 0xe6) ||
      !all(more_b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL))
    return cpu;
  cpu.isa |= 8;
  cpu.avx512_group = true;
  return cpu;
}
#endif

// glibc before 2.37 also tries every subset of these names, the longest first (elf/dl-hwcaps.c).
std::vector<std::string> subsets(const std::vector<std::string>& names) {
  std::vector<std::string> folders;
  for (std::size_t bits = (std::size_t{1} << names.size()) - 1; bits > 0; --bits) {
    std::vector<std::string> chosen;
    for (std::size_t i = 0; i < names.size(); ++i)
      if ((bits >> (names.size() - 1 - i) & 1) != 0) chosen.push_back(names[i]);
    std::string folder = join(chosen, "/");
    if (folders.empty() || folders.back() != folder) folders.push_back(std::move(folder));
  }
  return folders;
}

void describe_processor(Machine& machine) {
  const auto* platform = reinterpret_cast<const char*>(::getauxval(AT_PLATFORM));
  machine.platform = platform != nullptr ? platform : "";
  const bool legacy = machine.libc == Libc::glibc && !machine.libc_version.empty() &&
                      compare_versions(machine.libc_version, "2.37") < 0;
#if defined(__x86_64__)
  static const Cpu cpu = describe_cpu();  // constant while a process runs
  machine.isa = cpu.isa;
  if (machine.libc == Libc::glibc) machine.hwcaps = glibc_hwcaps_of_x86_64(machine.libc_version, cpu.isa);
  if (legacy) {
    // sysdeps/x86/cpu-features.c of 2.36: only Intel processors have a platform of their own.
    if (cpu.intel && (cpu.isa & 4) != 0) machine.platform = "haswell";
    constexpr std::uint64_t hwcap_x86_64 = 2, hwcap_avx512 = 4;
    machine.legacy_hwcap_bits = hwcap_x86_64 | (cpu.intel && cpu.avx512_group ? hwcap_avx512 : 0);
    std::vector<std::string> names{"tls", machine.platform};
    if (cpu.intel && cpu.avx512_group) names.emplace_back("avx512_1");
    names.emplace_back("x86_64");
    machine.legacy_hwcaps = subsets(names);
  }
#elif defined(__i386__)
  machine.isa = describe_cpu().isa;
#else
  if (legacy) machine.legacy_hwcaps = subsets({"tls", machine.platform});
#endif
}

bool exists(const std::string& path) { return calls::access(path.c_str(), F_OK) == 0; }

void describe_folders(Machine& machine, const Target& target) {
  const std::string multiarch = std::string("lib/") + target.triplet;
  const bool wide = machine.bits == 64 && exists("/lib64");
  if (machine.libc == Libc::musl) {
    const std::string file = std::string("/etc/ld-musl-") + target.machine + ".path";
    std::optional<std::string> text;
    if (exists(file)) text = read_file(file).value_or("");
    machine.default_directories = musl_default_directories(text);
    machine.lib = "lib";
  } else if (exists("/" + multiarch + "/libc.so.6")) {
    // Debian and its derivatives compile these into ld.so (`ld.so --list-diagnostics`, path.system_dirs).
    machine.default_directories = {"/" + multiarch, "/usr/" + multiarch, "/lib", "/usr/lib"};
    machine.lib = multiarch;
  } else if (wide) {
    machine.default_directories = {"/lib64", "/usr/lib64"};
    machine.lib = "lib64";
  } else {
    machine.default_directories = {"/lib", "/usr/lib"};
    machine.lib = "lib";
  }
}

// Describes the machine's loader with guessed folders, without the environment at the start and without the
// cache.
Machine describe_loader() {
  Machine machine;
  const Target target = this_target();
#ifdef __GLIBC__
  machine.libc = Libc::glibc;
  machine.libc_version = ::gnu_get_libc_version();
#else
  machine.libc = Libc::musl;
#endif
  machine.architecture = target.machine;
  machine.bits = sizeof(void*) == 8 ? 64 : 32;
  machine.cache_flags = target.cache_flags;
  machine.program = path_of(executable_path());
  machine.secure = has_more_rights_than_its_caller();
  std::error_code ignored;
  machine.current_directory = std::filesystem::current_path(ignored);
  describe_processor(machine);
  describe_folders(machine, target);
  return machine;
}

std::optional<std::string> read_library_path() {
  if (const std::optional<std::string> environment = environment_at_start())
    return variable_in(*environment, "LD_LIBRARY_PATH");
  // The program may have changed the variable since. The loader still lists the folders of the original
  // value.
  const Machine machine = describe_loader();
  if (!machine.secure)
    if (const auto folders = reported_by_environment(listed_folders(machine), machine.default_directories))
      return folders->empty() ? std::nullopt : std::optional<std::string>(join(*folders, ":"));
  return environment_variable("LD_LIBRARY_PATH");
}

// Replaces the guessed folders by those that the loader lists. They differ for a loader built for a folder of
// its own (Nix, Guix, a glibc beside the system's).
void ask_for_folders(Machine& machine) {
  if (machine.secure) return;
  const ListedFolders listed = listed_folders(machine);
  const std::vector<std::string> variable = as_listed(machine, machine.library_path);
  if (const auto searched = reported_by_environment(listed, machine.default_directories)) {
    // `ld.so --library-path` replaces the variable. The loader does not list missing folders.
    if (!searched->empty() && *searched != variable) {
      machine.library_path = *searched;
      machine.library_path_source = "--library-path";
    }
    return;
  }
  std::vector<std::string> defaults = compiled_in(listed, variable);
  if (defaults.empty()) return;
  // elf/Makefile, DL_DST_LIB: the last name of the folder that the loader was built for.
  if (const std::string name = defaults.front().substr(defaults.front().rfind('/') + 1);
      name.starts_with("lib"))
    machine.lib = name;
  machine.default_directories = std::move(defaults);
}

// Describes everything that a search depends on, except the cache.
Machine describe_search() {
  Machine machine = describe_loader();
  machine.library_path_text = library_path_at_start();
  if (machine.library_path_text && !machine.secure)
    machine.library_path = machine.libc == Libc::musl ? split_musl_path(*machine.library_path_text)
                                                      : split_library_path(*machine.library_path_text);
  ask_for_folders(machine);
  return machine;
}

}  // namespace

const std::optional<std::string>& library_path_at_start() {
  // The value at the start does not change.
  static const auto& text = *new std::optional<std::string>(read_library_path());
  return text;
}

std::vector<std::string> library_path_folders_at_start() {
  const std::optional<std::string>& text = library_path_at_start();
  if (!text || text->empty()) return {};
  return library_path_folders(describe_search());
}

Machine describe_this_machine() {
  Machine machine = describe_search();
  const long page = ::sysconf(_SC_PAGESIZE);
  if (page > 0) machine.page_size = static_cast<std::uint64_t>(page);
  if (utsname names{}; ::uname(&names) == 0) machine.kernel = names.release;
  if (machine.libc == Libc::glibc)
    if (Result<std::string> bytes = read_file(machine.cache_file); bytes)
      machine.cache = LoaderCache::parse(std::move(*bytes));
  return machine;
}

}  // namespace enginehost::linker
