#include "host/binary/elf_file.hpp"

namespace enginehost::binary {

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::elf:
      return "elf";
    case Kind::pe:
      return "pe";
    case Kind::macho:
      return "macho";
    case Kind::unknown:
      break;
  }
  return "unknown";
}

std::string_view name_of(Type type) {
  switch (type) {
    case Type::shared_library:
      return "shared library";
    case Type::executable:
      return "executable";
    case Type::position_independent_executable:
      return "position-independent executable";
    case Type::relocatable_object:
      return "relocatable object";
    case Type::core_dump:
      return "core dump";
    case Type::unknown:
      break;
  }
  return "unknown";
}

std::string_view name_of(DylibNeed::How how) {
  switch (how) {
    case DylibNeed::How::required:
      return "required";
    case DylibNeed::How::weak:
      return "weak";
    case DylibNeed::How::reexported:
      return "re-exported";
    case DylibNeed::How::lazy:
      return "lazy";
    case DylibNeed::How::upward:
      return "upward";
  }
  return "required";
}

// e_machine numbers are those of <elf.h>; the names are uname's if it has one.
std::string machine_name(const ElfFile& elf) {
  switch (elf.machine) {
    case 3:
      return "i386";
    case 6:
      return "i486";
    case 8:
      return elf.wide ? (elf.big_endian ? "mips64" : "mips64el") : (elf.big_endian ? "mips" : "mipsel");
    case 20:
      return "ppc";
    case 21:
      return elf.big_endian ? "ppc64" : "ppc64le";
    case 22:
      return elf.wide ? "s390x" : "s390";
    case 40:
      return "arm";
    case 43:
      return "sparc64";
    case 50:
      return "ia64";
    case 62:
      return elf.wide ? "x86_64" : "x32";
    case 183:
      return elf.wide ? "aarch64" : "aarch64_ilp32";
    case 190:
      return "cuda";
    case 224:
      return "amdgpu";
    case 243:
      return elf.wide ? "riscv64" : "riscv32";
    case 258:
      return elf.wide ? "loongarch64" : "loongarch32";
    default:
      return "machine " + std::to_string(elf.machine);
  }
}

std::string os_abi_name(std::uint8_t os_abi) {
  switch (os_abi) {
    case 0:
      return "System V";
    case 1:
      return "HP-UX";
    case 2:
      return "NetBSD";
    case 3:
      return "GNU/Linux";
    case 6:
      return "Solaris";
    case 7:
      return "AIX";
    case 8:
      return "IRIX";
    case 9:
      return "FreeBSD";
    case 12:
      return "OpenBSD";
    case 51:
      return "CUDA";
    case 64:
      return "AMDGPU HSA";
    case 97:
      return "ARM";
    case 255:
      return "standalone";
    default:
      return "number " + std::to_string(os_abi);
  }
}

}  // namespace enginehost::binary
