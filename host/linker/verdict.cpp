#include "host/linker/loader_rules.hpp"

#include <algorithm>
#include <iterator>

#include "base/version.hpp"

namespace enginehost::linker {
namespace {

Refusal other_machine(const Machine& machine, const binary::BinaryInfo& info, const std::string& path,
                      bool direct, bool class_differs) {
  Refusal refusal;
  refusal.diagnosis = diagnose(class_differs ? "EH-L06" : direct ? "EH-L04" : "EH-L05");
  refusal.diagnosis.with("file", path)
      .with("built_for", info.machine, "e_machine")
      .with("built_for_bits", std::to_string(info.bits), "e_ident")
      .with("machine", machine.architecture)
      .with("machine_bits", std::to_string(machine.bits));
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

std::string short_reason(const Diagnosis& diagnosis, const binary::BinaryInfo& info) {
  const std::string_view code = diagnosis.code;
  if (code == "EH-F04") return "truncated";
  if (code == "EH-F08" || code == "EH-F12" || code == "EH-L07")
    return std::string(diagnosis.value("problem"));
  if (code == "EH-F10" && info.kind == binary::Kind::elf) return std::string(binary::name_of(info.type));
  if (code == "EH-F13") return "refuses dlopen";
  return info.sniffed;
}

}  // namespace

std::optional<Refusal> refusal_of(const Machine& machine, const binary::BinaryInfo& info,
                                  const std::string& path, bool direct) {
  if (info.kind == binary::Kind::pe || info.kind == binary::Kind::macho) {
    Refusal refusal{info.sniffed, true, diagnose("EH-F09")};
    refusal.diagnosis.with("file", path).with("format", info.sniffed).with("built_for", info.machine);
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
    Refusal refusal{"foreign ABI version", true, diagnose("EH-L07")};
    refusal.diagnosis.with("file", path)
        .with("problem", "it needs ABI version " + std::to_string(info.abi_version) + " of " + info.os_abi +
                             ", which this system's C library does not know")
        .with("abi_version", std::to_string(info.abi_version), "e_ident");
    return refusal;
  }
  if (const std::optional<std::uint64_t> alignment = unmappable_alignment(machine, info)) {
    Refusal refusal{"built for smaller pages", true, diagnose("EH-F12")};
    refusal.diagnosis.with("file", path)
        .with("problem", "misaligned", "program headers")
        .with("alignment", std::to_string(*alignment));
    // A smaller alignment does not come from another page size.
    if (*alignment >= 4096) refusal.diagnosis.with("page_size", std::to_string(machine.page_size));
    return refusal;
  }
  if (machine.isa != 0 && (info.isa_needed & 0xf & ~machine.isa) != 0) {
    Refusal refusal{std::string("needs ") + std::string(level_name(info.isa_needed)), true,
                    diagnose("EH-L27")};
    refusal.diagnosis.with("file", path)
        .with("needs", level_name(info.isa_needed), "GNU_PROPERTY_X86_ISA_1_NEEDED")
        .with("have", level_name(machine.isa), "cpuid")
        .with("required_by", path);
    return refusal;
  }
  return std::nullopt;
}

}  // namespace enginehost::linker
