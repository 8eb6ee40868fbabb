#include "host/linker/refusals.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <vector>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {
namespace {

Refusal other_machine(const Machine& machine, const binary::BinaryInfo& info, const std::string& path,
                      bool direct, bool class_differs) {
  Refusal refusal;
  refusal.diagnosis = diagnose(class_differs ? Code::library_of_other_word_size
                               : direct      ? Code::library_for_other_processor
                                             : Code::needed_library_for_other_processor);
  refusal.diagnosis.with(Key::file, path)
      .with(Key::built_for, info.machine, "e_machine")
      .with(Key::built_for_bits, std::to_string(info.bits), "e_ident")
      .with(Key::machine, machine.architecture)
      .with(Key::machine_bits, std::to_string(machine.bits));
  refusal.why = class_differs ? std::to_string(info.bits) + "-bit (" + info.machine + ")" : info.machine;
  return refusal;
}

std::string_view level_name(std::uint32_t bits) {
  if ((bits & 8) != 0) return "x86-64-v4";
  if ((bits & 4) != 0) return "x86-64-v3";
  if ((bits & 2) != 0) return "x86-64-v2";
  return "x86-64 baseline";
}

bool older_glibc(const Machine& machine, std::string_view release) {
  return machine.libc == Libc::glibc && !machine.libc_version.empty() &&
         compare_versions(machine.libc_version, release) < 0;
}

// Largest power of two that divides every value in the OR.
std::uint64_t lowest_bit(std::uint64_t bits) { return bits & (~bits + 1); }

// Returns the alignment of the segments if this machine's loader cannot map them (_dl_map_object_from_fd).
// glibc 2.35 and newer require that address and offset differ by whole pages ("ELF load command
// address/offset not page-aligned"). glibc until 2.34 requires that p_align is a multiple of the page size
// ("alignment not page-aligned"), and that they differ by a multiple of p_align ("address/offset not properly
// aligned"). musl's map_library checks nothing and maps wrong bytes where 2.35's rule fails. No loader checks
// whether code and data share a larger page, where the code could not run.
std::optional<std::uint64_t> unmappable_alignment(const Machine& machine, const binary::BinaryInfo& info) {
  const std::uint64_t within_page = machine.page_size - 1;
  if (!info.has_load) return std::nullopt;
  if ((info.load_distances & within_page) != 0) return lowest_bit(info.load_distances);
  if (machine.page_size > 4096 && info.shared_page != 0 && info.shared_page <= machine.page_size)
    return info.shared_page / 2;
  // Last, because comparing releases takes longer than the other checks.
  const bool less_than_page = (info.load_alignments & within_page) != 0;
  if ((!less_than_page && !info.breaks_own_alignment) || !older_glibc(machine, "2.35")) return std::nullopt;
  return lowest_bit(less_than_page ? info.load_alignments : info.load_distances);
}

// glibc sysdeps/gnu/ldsodefs.h, VALID_ELF_ABIVERSION: 0, or for the GNU ABI any number below LIBC_ABI_MAX.
// LIBC_ABI_MAX counts the lines of libc-abis for the architecture: UNIQUE for all, IFUNC for some (RISC-V
// since 2.33), ABSOLUTE for all since 2.28. musl does not check it.
bool knows_abi_version(const Machine& machine, const binary::BinaryInfo& info) {
  if (info.abi_version == 0 || machine.libc == Libc::musl) return true;
  if (info.os_abi != "GNU/Linux") return false;
  constexpr std::string_view with_ifunc[] = {"x86_64",  "x32", "i386",  "ppc64",
                                             "ppc64le", "ppc", "sparc", "sparc64"};
  const bool ifunc =
      std::find(std::begin(with_ifunc), std::end(with_ifunc), info.machine) != std::end(with_ifunc) ||
      (info.machine.starts_with("riscv") && !older_glibc(machine, "2.33"));
  const int newest = 1 + (ifunc ? 1 : 0) + (older_glibc(machine, "2.28") ? 0 : 1);
  return info.abi_version <= newest;
}

// glibc until 2.35 (elf/dl-load.c, open_verify) skips a file whose NT_GNU_ABI_TAG names a newer kernel than
// the one that runs. 2.36 and newer, and musl, do not read the note.
bool needs_newer_kernel(const Machine& machine, const binary::BinaryInfo& info) {
  if (info.minimum_os.empty() || machine.kernel.empty() || !older_glibc(machine, "2.36")) return false;
  const std::string running = machine.kernel.substr(0, machine.kernel.find_first_not_of("0123456789."));
  return compare_versions(running, info.minimum_os) < 0;
}

std::string short_reason(const Diagnosis& diagnosis, const binary::BinaryInfo& info) {
  const Code code = diagnosis.code;
  if (code == Code::file_truncated) return "truncated";
  if (code == Code::file_damaged || code == Code::file_not_mappable ||
      code == Code::library_for_other_elf_system)
    return std::string(diagnosis.value(Key::problem));
  if (code == Code::not_a_shared_library && info.kind == binary::Kind::elf)
    return std::string(binary::name_of(info.type));
  if (code == Code::loading_forbidden_by_library) return "refuses dlopen";
  return info.sniffed;
}

}  // namespace

std::optional<Refusal> refusal_of(const Machine& machine, const binary::BinaryInfo& info,
                                  const std::string& path, bool direct) {
  if (info.kind == binary::Kind::pe || info.kind == binary::Kind::macho) {
    Refusal refusal{info.sniffed, true, diagnose(Code::file_for_other_system)};
    refusal.diagnosis.with(Key::file, path)
        .with(Key::format, info.sniffed)
        .with(Key::built_for, info.machine);
    return refusal;
  }
  if (info.kind == binary::Kind::elf && info.bits != 0 && !info.machine.empty()) {
    const bool class_differs = machine.bits != 0 && info.bits != machine.bits;
    if (class_differs || (!machine.architecture.empty() && info.machine != machine.architecture)) {
      Refusal refusal = other_machine(machine, info, path, direct, class_differs);
      // A direct open has no further place to search. musl has no such check and loads the file, which is
      // worse.
      refusal.fatal = direct || machine.libc == Libc::musl;
      return refusal;
    }
  }
  if (!info.problems.empty()) {
    // A library built for musl finds the linker script libc.so of a development package on glibc.
    return Refusal{short_reason(info.problems.front(), info), true, info.problems.front()};
  }
  if (!knows_abi_version(machine, info)) {
    Refusal refusal{"foreign ABI version", true, diagnose(Code::library_for_other_elf_system)};
    refusal.diagnosis.with(Key::file, path)
        .with(Key::problem, "it needs ABI version " + std::to_string(info.abi_version) + " of " +
                                info.os_abi + ", which this system's C library does not know")
        .with(Key::abi_version, std::to_string(info.abi_version), "e_ident");
    return refusal;
  }
  if (const std::optional<std::uint64_t> alignment = unmappable_alignment(machine, info)) {
    Refusal refusal{"built for smaller pages", true, diagnose(Code::file_not_mappable)};
    refusal.diagnosis.with(Key::file, path)
        .with(Key::problem, "misaligned", "program headers")
        .with(Key::alignment, std::to_string(*alignment));
    // A smaller alignment does not come from another page size.
    if (*alignment >= 4096) refusal.diagnosis.with(Key::page_size, std::to_string(machine.page_size));
    return refusal;
  }
  if (needs_newer_kernel(machine, info)) {
    Refusal refusal{"needs Linux " + info.minimum_os, direct, diagnose(Code::kernel_too_old)};
    refusal.diagnosis.with(Key::file, path)
        .with(Key::needs, info.minimum_os, "NT_GNU_ABI_TAG")
        .with(Key::have, machine.kernel, "uname");
    return refusal;
  }
  if (machine.isa != 0 && (info.isa_needed & 0xf & ~machine.isa) != 0) {
    Refusal refusal{std::string("needs ") + std::string(level_name(info.isa_needed)), true,
                    diagnose(Code::processor_too_old)};
    refusal.diagnosis.with(Key::file, path)
        .with(Key::needs, level_name(info.isa_needed), "GNU_PROPERTY_X86_ISA_1_NEEDED")
        .with(Key::have, level_name(machine.isa), "cpuid")
        .with(Key::required_by, path);
    return refusal;
  }
  return std::nullopt;
}

namespace {

bool leaves_stack_alone(const Machine& machine) {
  return machine.libc == Libc::glibc && !machine.libc_version.empty() &&
         compare_versions(machine.libc_version, "2.41") >= 0;
}

// The stack is executable from the start with glibc.rtld.execstack=2 (glibc 2.42, and backports to 2.41 in
// distributions), or if the program itself needs it.
enum class Stack { plain, perhaps_executable, executable };
Stack stack_at_start(const Machine& machine, const Request& request, Reader& reader) {
  if (tunable(request.tunables, "glibc.rtld.execstack") == 2)
    return compare_versions(machine.libc_version, "2.42") >= 0 ? Stack::executable
                                                               : Stack::perhaps_executable;
  const std::string program = path_text(machine.program);
  if (program.empty()) return Stack::plain;
  const auto& info = reader.read(program);
  return info && info->executable_stack ? Stack::perhaps_executable : Stack::plain;
}

}  // namespace

void judge_executable_stack(const Machine& machine, const Request& request, Reader& reader,
                            Closure& closure) {
  for (const Object& object : closure.objects) {
    if (object.info == nullptr || !object.info->executable_stack || object.found_by == "already loaded")
      continue;
    Diagnosis diagnosis = diagnose(Code::executable_stack_needed);
    diagnosis.with(Key::file, object.path);
    const Stack stack =
        leaves_stack_alone(machine) ? stack_at_start(machine, request, reader) : Stack::executable;
    if (stack != Stack::executable) {
      // "have" would suggest a certain refusal, and the behavior of a backported 2.41 is unknown.
      if (stack == Stack::plain) diagnosis.with(Key::have, machine.libc_version, "glibc");
      (stack == Stack::plain ? closure.refused : closure.doubts).push_back(std::move(diagnosis));
    } else if (object.found_by != "ld.so.cache" && object.found_by != "default") {
      closure.warnings.push_back(std::move(diagnosis));
    }
  }
}

// glibc reads decimal, 0x and 0 numbers (elf/dl-minimal.c, _dl_strtoul); the last assignment counts.
std::optional<std::uint64_t> tunable(std::string_view tunables, std::string_view name) {
  std::optional<std::uint64_t> value;
  for (const std::string& entry : split(tunables, ':')) {
    if (!entry.starts_with(name) || entry.size() <= name.size() || entry[name.size()] != '=') continue;
    std::string_view digits = std::string_view(entry).substr(name.size() + 1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
      digits.remove_prefix(2);
    } else if (digits.starts_with("0")) {
      base = 8;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (error == std::errc() && end == digits.data() + digits.size() && !digits.empty()) value = number;
  }
  return value;
}

namespace {

bool sets(const std::string& tunables, std::string_view name) {
  for (const std::string& entry : split(tunables, ':'))
    if (entry.size() > name.size() + 1 && entry.starts_with(name) && entry[name.size()] == '=') return true;
  return false;
}

}  // namespace

std::string unsupported_setting(const Machine& machine, const UnsupportedLoaderSettings& loader_settings) {
  if (machine.libc != Libc::glibc || machine.secure) return {};
  if (!loader_settings.audit.empty()) return "LD_AUDIT";
  if (sets(loader_settings.tunables, "glibc.cpu.hwcaps")) return "glibc.cpu.hwcaps in GLIBC_TUNABLES";
  // It affects the hwcaps folders of glibc before 2.37 (elf/dl-hwcaps.c).
  if (machine.legacy_hwcaps.empty()) return {};
  if (!loader_settings.hwcap_mask.empty()) return "LD_HWCAP_MASK";
  if (sets(loader_settings.tunables, "glibc.cpu.hwcap_mask")) return "glibc.cpu.hwcap_mask in GLIBC_TUNABLES";
  return {};
}

UnsupportedLoaderSettings loader_settings_at_start() {
  return {variable_at_start("LD_AUDIT").value_or(""), loader_tunables_at_start(),
          variable_at_start("LD_HWCAP_MASK").value_or("")};
}

namespace {

// The static TLS needed by libraries that are not loaded yet, and those libraries.
struct Wanted {
  std::uint64_t bytes = 0;
  std::vector<const Object*> by;
  bool certain = true;  // false: known from the flag alone
};

// The C library is loaded in every program.
bool is_loaded(const Object& object) {
  return object.found_by == "already loaded" || object.soname == "libc.so.6" ||
         object.soname.starts_with("ld-linux");
}

// Returns the bytes by the flags alone, which are known without further reads.
std::uint64_t flagged(const Closure& closure, bool loaded) {
  std::uint64_t bytes = 0;
  for (const Object& object : closure.objects)
    if (object.info != nullptr && object.info->static_tls && is_loaded(object) == loaded)
      bytes += std::min<std::uint64_t>(object.info->tls_size, std::uint64_t{1} << 48);
  return bytes;
}

Wanted wanted_by(const Closure& closure, const Reader& reader) {
  Wanted wanted;
  for (const Object& object : closure.objects) {
    if (object.info == nullptr || !object.info->static_tls || object.info->tls_size == 0 || is_loaded(object))
      continue;
    const std::optional<bool> own = binary::takes_own_static_tls(reader.on_disk(object.path));
    if (own.has_value() && !*own) continue;
    wanted.certain &= own.has_value();
    wanted.bytes += std::min<std::uint64_t>(object.info->tls_size, std::uint64_t{1} << 48);
    wanted.by.push_back(&object);
  }
  return wanted;
}

// Returns the thread's own alignment, TCB_ALIGNMENT: 64 by sysdeps/x86/nptl/pthreaddef.h, elsewhere that of
// nptl/descr.h (arm64's loader of 2.36 refuses more than 32; tested in tests/linker).
std::uint64_t thread_alignment(const Closure& closure) {
  const bool is_x86 = std::any_of(closure.objects.begin(), closure.objects.end(), [](const Object& object) {
    return object.info != nullptr && (object.info->machine == "x86_64" || object.info->machine == "i386");
  });
  return is_x86 ? 64 : 32;
}

// Returns the largest possible alignment of the process's block: that of the thread and of everything loaded
// at the start (glibc elf/dl-tls.c, _dl_determine_tlsoffset). Any library of the process may have been loaded
// at the start.
std::uint64_t most_alignment(const Closure& closure, const std::filesystem::path& program, Reader& reader) {
  std::uint64_t alignment = thread_alignment(closure);
  const auto take = [&](const binary::BinaryInfo* info) {
    if (info != nullptr) alignment = std::max(alignment, info->tls_alignment);
  };
  for (const Object& object : closure.objects)
    if (is_loaded(object)) take(object.info);
  if (!program.empty())
    if (const auto& info = reader.read(path_text(program))) take(&*info);
  return alignment;
}

// Refuses libraries that need a larger alignment than the block's, as glibc does whatever room is left
// (elf/dl-reloc.c, _dl_try_allocate_static_tls). Returns true if the refusal is certain.
bool judge_alignment(const Machine& machine, Reader& reader, const Wanted& wanted, Closure& closure) {
  const auto strictest =
      std::max_element(wanted.by.begin(), wanted.by.end(), [](const Object* one, const Object* other) {
        return one->info->tls_alignment < other->info->tls_alignment;
      });
  if (strictest == wanted.by.end()) return false;
  const std::uint64_t alignment = (*strictest)->info->tls_alignment;
  if (alignment <= thread_alignment(closure)) return false;
  const std::uint64_t most = most_alignment(closure, machine.program, reader);
  Diagnosis diagnosis = diagnose(Code::no_static_tls_left);
  diagnosis.with(Key::file, closure.file)
      .with(Key::library, (*strictest)->path, "relocations of static TLS")
      .with(Key::alignment, std::to_string(alignment), "PT_TLS")
      .with(Key::most_alignment, std::to_string(most), "libraries of the process");
  const bool never = wanted.certain && alignment > most;
  (never ? closure.refused : closure.doubts).push_back(std::move(diagnosis));
  return never;
}

Diagnosis reported(Code code, const Closure& closure, const Wanted& wanted) {
  Diagnosis diagnosis = diagnose(code);
  diagnosis.with(Key::file, closure.file).with(Key::static_tls, std::to_string(wanted.bytes), "PT_TLS");
  for (const Object* object : wanted.by)
    diagnosis.with(Key::library, object->path, "relocations of static TLS");
  return diagnosis;
}

}  // namespace

std::uint64_t static_tls_reserve(const Machine& machine, std::string_view tunables) {
  constexpr std::uint64_t usual = 1664;
  // Until 2.31 it was a constant (TLS_STATIC_SURPLUS), and a privileged program ignores tunables.
  if (machine.secure || (!machine.libc_version.empty() && compare_versions(machine.libc_version, "2.32") < 0))
    return usual;
  constexpr std::uint64_t usual_namespaces = 4, most_namespaces = 16, usual_optional = 512;
  constexpr std::uint64_t a_library = 144;  // LIBC_IE_TLS and OTHER_IE_TLS
  std::uint64_t namespaces = tunable(tunables, "glibc.rtld.nns").value_or(usual_namespaces);
  if (namespaces < 1 || namespaces > most_namespaces) namespaces = usual_namespaces;
  const std::uint64_t optional = tunable(tunables, "glibc.rtld.optional_static_tls").value_or(usual_optional);
  // LEGACY_TLS, which makes the usual sum equal to the old constant, is as large as one library's part.
  return (namespaces - 1) * a_library + namespaces * a_library + optional + a_library;
}

void judge_static_tls(const Machine& machine, const Request& request, Reader& reader, Closure& closure) {
  const std::uint64_t flags_say = flagged(closure, false);
  if (flags_say == 0) return;
  if (machine.libc == Libc::musl) {
    // musl ldso/dynlink.c, do_relocs: TPOFF for a library not loaded at the start is an error.
    const Wanted wanted = wanted_by(closure, reader);
    if (wanted.bytes == 0) return;
    Diagnosis diagnosis = reported(Code::built_for_glibc, closure, wanted);
    diagnosis.with(
        Key::problem,
        "it needs static thread-local storage, which musl gives only to libraries loaded at program start");
    (wanted.certain ? closure.refused : closure.doubts).push_back(std::move(diagnosis));
    return;
  }
  const std::uint64_t usual = thread_alignment(closure);
  const bool aligned = std::any_of(closure.objects.begin(), closure.objects.end(), [&](const Object& object) {
    return object.info != nullptr && object.info->static_tls && !is_loaded(object) &&
           object.info->tls_alignment > usual;
  });
  if (aligned && judge_alignment(machine, reader, wanted_by(closure, reader), closure)) return;
  const std::uint64_t reserve = static_tls_reserve(machine, request.tunables);
  // Loaded libraries may have been there at the start, or have used the same reserve.
  const std::uint64_t drawn = std::min(reserve, flagged(closure, true));
  if (flags_say <= reserve - drawn) return;
  const Wanted wanted = wanted_by(closure, reader);
  if (wanted.bytes <= reserve - drawn) return;
  const bool never =
      // Padding of the block to its alignment is also available.
      wanted.certain && wanted.bytes > reserve + most_alignment(closure, machine.program, reader) - 1;
  Diagnosis diagnosis = reported(Code::no_static_tls_left, closure, wanted);
  diagnosis.with(Key::reserve, std::to_string(reserve), "GLIBC_TUNABLES");
  (never ? closure.refused : closure.doubts).push_back(std::move(diagnosis));
}

}  // namespace enginehost::linker
