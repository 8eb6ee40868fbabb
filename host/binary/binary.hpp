// The metadata of a shared library, read from the file. Nothing is mapped and nothing is run.
//
// Every function opens the file, reads the few parts it needs with pread and closes it again. The file is
// untrusted: every read is checked against its size, every loop ends, and no length from the file sizes an
// allocation. Thread safety: any thread; the caller owns the returned values.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::binary {

enum class Kind { unknown, elf, pe, macho };
enum class Type {
  unknown,
  shared_library,
  executable,
  position_independent_executable,
  relocatable_object,
  core_dump,
};

// "elf", "pe", "macho", "unknown": the values in `engine-info --inspect --json`.
std::string_view name_of(Kind kind);
// "shared library", "position-independent executable", ...
std::string_view name_of(Type type);

// A symbol version that the file needs from one of its libraries (DT_VERNEED).
struct VersionNeed {
  std::string library;  // the SONAME at link time: "libc.so.6"
  std::string version;  // "GLIBC_2.34"
  bool weak = false;    // if missing, the loader only warns
};

// Facts that only a Windows library (PE/COFF) has. Names and numbers are those of Microsoft's "PE Format"
// page.
struct PeFacts {
  std::string linker_version;  // the linker's toolset, "14.40"; the MSVC runtime must not be older
  std::string subsystem;       // "windows", "console", "native", "EFI application", ...
  std::string system_version;  // MajorOperatingSystemVersion: "6.0"
  std::uint64_t image_base = 0;
  bool dynamic_base = false, high_entropy_addresses = false, no_execute = false;  // ASLR, 64-bit ASLR, NX
  bool force_integrity = false;  // loaded only with a valid signature
  bool app_container = false, control_flow_guard = false, no_isolation = false;
  bool bound_imports = false;  // has addresses of one Windows release; the loader resolves them again
  bool managed = false;        // has a CLR header: .NET code
  bool has_resources = false;  // pe_resources has something to read
  std::uint16_t dependent_load_flags =
      0;  // /DEPENDENTLOADFLAG: the LOAD_LIBRARY_SEARCH_* flags for its imports
};

// A library that a Mach-O file names. Its position in the list is its ordinal (1, 2, ...) in the symbol
// tables.
struct DylibNeed {
  enum class How { required, weak, reexported, lazy, upward };
  std::string name;
  How how = How::required;
  std::string current_version;        // of the library at link time: "1311.0.0"
  std::string compatibility_version;  // the lowest compatibility version that the found library may have
};
std::string_view name_of(DylibNeed::How how);  // "required", "weak", ...

// Facts that only a Mach-O file (macOS) has; for a universal file, those of the chosen slice.
struct MachoFacts {
  std::string file_type;  // "dylib", "bundle", "executable", "object", "dylib stub", "dSYM", ...
  std::string platform;   // "macos", "ios", "maccatalyst", ...; "" = not stated
  std::string sdk;        // "14.4"
  std::string current_version, compatibility_version;  // its own, from LC_ID_DYLIB
  bool two_level_namespace = false;                    // imports name their library
  bool encrypted = false;       // LC_ENCRYPTION_INFO with a cipher: the code is unreadable
  bool chained_fixups = false;  // needs macOS 11 or newer
  bool thread_locals = false;   // has thread-local variables
  std::vector<DylibNeed> dylibs;
};

// One architecture's part of a universal Mach-O file.
struct Slice {
  std::string machine;
  std::uint64_t offset = 0, size = 0;
};

struct BinaryInfo {
  Kind kind = Kind::unknown;
  // The format by its first bytes: "ELF", "PE/COFF (Windows)", "Mach-O (macOS)", "HTML page", "XML text",
  // "JSON text", "gzip archive", "zip archive", "xz archive", "zstd archive", "bzip2 archive", "Git LFS
  // pointer", "static archive (ar)", "linker script or text", "script (#!)", "empty file", "unknown data".
  std::string sniffed;
  std::string page_title;  // <title> of an HTML page: identifies a proxy's login page

  std::uint64_t file_size = 0;
  // The file size that a loader needs. ELF: the largest p_offset + p_filesz, without section headers. PE:
  // sections and certificates. Mach-O: segments (of all slices, or of the chosen one).
  std::uint64_t needed_size = 0;
  std::uint64_t device = 0;  // the file's identity: paths with the same pair are one library
  std::uint64_t inode = 0;

  int bits = 0;  // 32, 64; 0 = unknown
  bool big_endian = false;
  std::string machine;  // "x86_64", "aarch64", "i386", "x32", "arm", "riscv64", "ppc64le", "s390x", ...; PE
                        // also "arm64ec" (x86-64 calls, AArch64 code: needs Windows on Arm) and "arm64x"
                        // (serves aarch64 and arm64ec); Mach-O also "x86_64h" and "arm64e". A universal
                        // Mach-O file joins them with '+' unless one was chosen
  std::string os_abi;   // "System V", "GNU/Linux", "FreeBSD", ...
  std::uint8_t abi_version = 0;  // EI_ABIVERSION: a number defined by that ABI
  Type type = Type::unknown;

  std::string soname;                   // DT_SONAME, LC_ID_DYLIB, the PE export name
  std::vector<std::string> needed;      // in file order: DT_NEEDED, PE imports, LC_LOAD_DYLIB
  std::vector<std::string> delayed;     // PE delay imports and Mach-O lazy dylibs: loaded at first use
  std::vector<std::string> optional;    // Mach-O weak dylibs, ELF DT_AUXILIARY: may be missing
  std::vector<std::string> reexported;  // Mach-O: those of `needed` whose exports this file re-exports
  std::vector<std::string> rpath;       // DT_RPATH or LC_RPATH split at ':', unexpanded, with empty elements
  std::vector<std::string> runpath;     // DT_RUNPATH
  bool has_rpath = false;               // present, even if empty
  bool has_runpath = false;
  std::string interpreter;  // PT_INTERP

  std::vector<VersionNeed> version_needs;
  std::vector<std::string>
      version_definitions;               // DT_VERDEF, without the base definition (the file's own name)
  bool has_version_definitions = false;  // has DT_VERDEF: the loader checks needed versions against it
  bool has_version_symbols = false;      // has DT_VERSYM: each symbol has a version, or none

  bool has_load = false;     // ELF: at least one PT_LOAD
  bool has_dynamic = false;  // ELF: PT_DYNAMIC
  // The OR of these values of all PT_LOADs; shows whether any has a bit below a page size.
  std::uint64_t load_alignments = 0;  // p_align
  std::uint64_t load_distances = 0;   // p_vaddr - p_offset
  bool breaks_own_alignment = false;  // p_vaddr - p_offset of a PT_LOAD is no multiple of its p_align
  // The smallest page size (from 4096 on) at which two segments of different permissions share a page; or 0.
  std::uint64_t shared_page = 0;
  bool misaligned = false;              // p_vaddr - p_offset of a PT_LOAD is no multiple of any page size
  std::uint64_t memory_size = 0;        // sum of p_memsz of all PT_LOAD; SizeOfImage; all segments
  std::uint64_t tls_size = 0;           // PT_TLS p_memsz; the template of a PE TLS directory
  std::uint64_t tls_alignment = 0;      // PT_TLS p_align
  bool static_tls = false;              // DF_STATIC_TLS; on arm64 its relocation
  bool executable_stack = false;        // PT_GNU_STACK with PF_X, or none at all on x86
  bool text_relocations = false;        // DT_TEXTREL
  bool no_dlopen = false;               // DF_1_NOOPEN
  bool no_default_directories = false;  // DF_1_NODEFLIB
  bool packed_relocations = false;      // DT_RELR: needs glibc 2.36
  bool code_signed = false;             // PE security directory, LC_CODE_SIGNATURE
  std::uint32_t isa_needed = 0;         // x86 ISA_1_NEEDED bits: 1 baseline, 2 v2, 4 v3, 8 v4
  std::string minimum_os;               // Mach-O minos, PE subsystem version, kernel of NT_GNU_ABI_TAG
  std::string build_id;                 // hex; LC_UUID of a Mach-O file
  // ELF: has EngineHost's note "stand-in" (engines/pytorch/stand_ins). Such a file offers a library's
  // functions and not what they do, so it never counts as that library.
  bool stand_in = false;

  PeFacts pe;
  MachoFacts macho;
  std::vector<Slice> slices;  // of a universal Mach-O file, in file order; else empty

  // The problems of the content, worst first; empty = none found. Codes and evidence (each also has "file"):
  //   EH-F02 empty                     size
  //   EH-F03 shorter than a header     size, format
  //   EH-F04 truncated                 size, needed_size
  //   EH-F05 web page, JSON, text      size, format, page_title or first_line, link_target
  //   EH-F06 still compressed          format
  //   EH-F07 Git LFS pointer           format, oid, expected_size (if any)
  //   EH-F08 damaged metadata          problem; for data of no known format: format
  //   EH-F10 not a shared library      type (or format)
  //   EH-F12 cannot be mapped          problem ("no PT_DYNAMIC", "no PT_LOAD", "misaligned"), alignment,
  //                                    page_size
  //   EH-F13 refuses dlopen            flag
  //   EH-L07 foreign ELF variety       problem, os_abi | byte_order | version
  std::vector<Diagnosis> problems;
};

// Reads the file's metadata. Problems of the content are in BinaryInfo::problems. A healthy PE or Mach-O file
// has none; the caller decides whether it suits this machine.
//
// `machine` chooses the slice of a universal Mach-O file ("aarch64"). The result then describes only that
// slice. Without it, or if there is no such slice, the result's `machine` joins all slices and the rest
// describes the first.
//
// Errors, if the file cannot be opened or read:
//   EH-F01 file missing         file; with errno: it exists but cannot be read
//   EH-F11 not a readable file  file, problem ("directory", "dangling link", "link loop", "not a
//                               regular file"), link and target of the broken link
//   EH-L25 permission           file, blocked_by (the first path component without access), errno
//   EH-L26 I/O or descriptors   file, errno: an I/O error, or no free descriptor
//   EH-L33 path too long        file, errno
Result<BinaryInfo> read_binary(const std::filesystem::path& file, std::string_view machine = {});
// Returns whether a reader failed because the file is missing; a search then continues. An unreadable file
// has the same code.
bool no_such_file(const Diagnosis& why);

// Does the same for `name` in the folder with this descriptor (from open(2), also with O_PATH; AT_FDCWD with
// a whole path as the name). `path` is the file's path in messages. Returns null if there is no such file or
// only a dangling link, because a loader then continues with its next folder. That takes one system call.
std::unique_ptr<Result<BinaryInfo>> read_binary_in(int folder, const std::string& name, std::string path);

// A symbol of a dynamic symbol table, a PE export or import table, or a Mach-O export trie or symbol table.
// Mach-O names keep the compiler's leading underscore.
struct Symbol {
  std::string name;     // "" = a PE symbol with only an ordinal
  std::string version;  // "" = unversioned
  std::string library;  // for an import: its library at link time, if the file names it (ELF: with a version;
                        // PE: always; Mach-O: with a two-level namespace)
  // PE export: "NTDLL.RtlAllocateHeap"; re-exported Mach-O symbol: its name there.
  std::string forwarder;
  std::uint32_t ordinal = 0;  // PE: of an export, or of an import by ordinal
  std::uint64_t address = 0;  // of an export: in memory, before it is moved; for PE: after the image base
  std::uint64_t size = 0;     // ELF
  bool delayed = false;       // PE: imported at first use
  bool weak = false;
  bool unique = false;          // STB_GNU_UNIQUE: glibc keeps one object of it for the whole process
  bool hidden_version = false;  // f@V1 rather than f@@V1: found only with its version
  bool function = false;        // STT_FUNC or STT_GNU_IFUNC; a PE export in a code section
  bool thread_local_storage = false;
  bool variable = false;  // ELF: STT_OBJECT, STT_COMMON or STT_TLS; for an import: the type at link time
};

struct SymbolTable {
  std::vector<Symbol> exports;
  std::vector<Symbol> imports;
  bool complete = true;  // false: the table is damaged or exceeds the reader's limits (8 million symbols, 256
                         // MiB of names)
};

// Returns all exported and imported symbols of a library, for the symbol pass (L12, L15, R11, W03, X07). For
// a universal file: of the slice for `machine`, else of the first. Errors: as read_binary, and EH-F08
// (problem) if the symbol table cannot be read.
Result<SymbolTable> read_symbols(const std::filesystem::path& file, std::string_view machine = {});

// Checks the tables that a loader follows without checks when it binds: symbol versions, and the symbols and
// addresses of relocations. Only for ELF of x86-64 and AArch64 without other problems; other files pass.
// Errors: EH-F08 (problem), else as read_binary. Reads these tables whole: some ms for a large engine, 10 ms
// for a million relocations.
Result<void> check_bindings(const std::filesystem::path& file);

// Returns whether a loader must place this library's own thread-local variables in the static block.
// DF_STATIC_TLS does not show that, because it is also set for access to another library's variables. Returns
// nothing if unknown: the file cannot be read, or is neither x86-64 nor AArch64. Reads the relocations.
std::optional<bool> takes_own_static_tls(const std::filesystem::path& file);

// The resources of a Windows library. Undocumented parts that do not match expectations are left empty.
struct PeResources {
  std::string file_version;  // VS_FIXEDFILEINFO: "14.38.33135.0"
  std::string product_version;
  bool has_manifest = false;
  std::vector<std::string>
      assemblies;  // side-by-side assemblies its manifest depends on: "Microsoft.VC90.CRT 9.0.21022.8"
};

// Returns an empty value for a file that is no PE file or has no resources. Errors: as read_binary.
Result<PeResources> pe_resources(const std::filesystem::path& file);

// Returns the library names beginning with `prefix` ("libcudnn_") in the read-only data of an ELF file,
// sorted and unique. Libraries that open others by name contain such texts. Missing sections and sections
// above 64 MiB give no names. Errors: as read_binary.
Result<std::vector<std::string>> library_names(const std::filesystem::path& file, std::string_view prefix);

// The head of the exported plugin object. Its first 24 bytes hold no pointers, so the file has their final
// values.
struct PluginHeader {
  enum class State {
    found,
    symbol_absent,  // no such export
    no_bytes,       // the object is in .bss: code fills it, and it cannot be read without running that
    wrong_magic,    // the first eight bytes are not "ENGPLUG\0"
    no_object,      // the symbol is a function, or thread-local
  };
  State state = State::symbol_absent;
  std::string magic;  // the eight bytes, as found
  std::uint32_t size = 0;
  std::uint16_t abi_major = 0;
  std::uint16_t abi_minor = 0;
  std::uint16_t host_minor = 0;  // the oldest host version it needs
  std::uint16_t reserved = 0;
  std::uint32_t flags = 0;           // bit 0: may be unloaded
  std::uint64_t object_size = 0;     // ELF: from the symbol table; 0 = unknown
  std::vector<std::string> exports;  // if the symbol is absent: up to 16 names that the file exports
};

// Reads the plugin's head from the file on disk. `symbol` is the C name in every format. For a universal
// file: of the slice for `machine`, else of the first. Errors: as read_binary; EH-F08 if the metadata is
// damaged; the first of BinaryInfo::problems if the file is no library.
Result<PluginHeader> read_plugin_header(const std::filesystem::path& file,
                                        std::string_view symbol = "engine_plugin_v1",
                                        std::string_view machine = {});

// The texts of the plugin object.
struct PluginTexts {
  std::string engine;
  std::vector<std::string> capabilities;
};

// Reads them from the file on disk; no code of the plugin runs. Returns nothing if they are not known: the
// file is no ELF plugin for x86-64 or AArch64, is damaged, or its own code fills in the texts.
std::optional<PluginTexts> read_plugin_texts(const std::filesystem::path& file);

// Returns the releases of its runtime that a plugin serves, ">=1.17,<2", by its capability "versions.RANGE".
// Empty: it does not state them.
std::string served_versions(const std::vector<std::string>& capabilities);

// Returns whether the plugin serves that release. One that states no range, or one that cannot be read,
// counts as serving every release: each build is tried before it is trusted.
bool serves_version(const std::vector<std::string>& capabilities, std::string_view version);

// Returns true for comparisons with >=, >, <=, < or ==, joined by ",": ">=1.17,<2".
bool is_version_range(std::string_view range);

// The GPU code in the .nv_fatbin section (CUDA; .nv_fatb in a PE file). NVIDIA does not document the layout;
// it was derived from files. Parts that do not match are skipped and described in `note`.
struct GpuCode {
  struct Entry {
    std::string kind;         // "sass", "ptx"
    std::string arch;         // "8.6", "12.0"
    std::uint32_t count = 0;  // over all kernels: a small count is weak evidence for the architecture
  };
  std::vector<Entry> entries;  // sorted by kind, then architecture
  std::string note;            // why the list may be incomplete; empty = everything was understood
};

// Returns an empty list for a file without GPU code. Errors: as read_binary.
Result<GpuCode> gpu_code(const std::filesystem::path& file);

}  // namespace enginehost::binary
