// What a shared library says of itself, read from the file: nothing is mapped, nothing is run.
//
// Every function here opens the file, reads the few parts it needs with pread and closes it again. The bytes
// are a stranger's: every read is checked against the file, every loop has an end, no length from the file
// sizes an allocation. All functions may be called from any thread; the values they return belong to the
// caller.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/binary/boxed.hpp"

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

// "elf", "pe", "macho", "unknown": the words of `engine-info --inspect --json`.
std::string_view name_of(Kind kind);
// "shared library", "position-independent executable", ...
std::string_view name_of(Type type);

// A symbol version that the file wants of one of the libraries it needs (DT_VERNEED).
struct VersionNeed {
  std::string library;  // the SONAME it was linked against: "libc.so.6"
  std::string version;  // "GLIBC_2.34"
  bool weak = false;    // the loader only warns when it is missing
};

// What only a Windows library (PE/COFF) says. Names and numbers are those of Microsoft's "PE Format" page.
struct PeFacts {
  std::string linker_version;  // "14.40": the toolset it was linked with, which its MSVC runtime may not be
                               // older than
  std::string subsystem;       // "windows", "console", "native", "EFI application", ...
  std::string system_version;  // MajorOperatingSystemVersion: "6.0"
  std::uint64_t image_base = 0;
  std::uint32_t timestamp = 0;  // of a reproducible build: a hash
  bool dynamic_base = false, high_entropy_addresses = false, no_execute = false;  // ASLR, 64-bit ASLR, NX
  bool force_integrity = false;  // is loaded only if its signature is valid
  bool app_container = false, control_flow_guard = false, no_isolation = false;
  bool bound_imports = false;  // addresses of one Windows release are noted; the loader looks them up again
  bool managed = false;        // there is a CLR header: .NET code
  bool has_resources = false;  // pe_resources has something to read
  std::uint16_t dependent_load_flags =
      0;  // /DEPENDENTLOADFLAG: the LOAD_LIBRARY_SEARCH_* its imports are searched with
};

// One library that a Mach-O file names; its place in the list is its ordinal (1, 2, ...) in the symbol
// tables.
struct DylibNeed {
  enum class How { required, weak, reexported, lazy, upward };
  std::string name;
  How how = How::required;
  std::string current_version;        // of the library it was linked against: "1311.0.0"
  std::string compatibility_version;  // the library that is found may not tell a lower one
};
std::string_view name_of(DylibNeed::How how);  // "required", "weak", ...

// What only a Mach-O file (macOS) says; of a universal file: what the chosen slice says.
struct MachoFacts {
  std::string file_type;  // "dylib", "bundle", "executable", "object", "dylib stub", "dSYM", ...
  std::string platform;   // "macos", "ios", "maccatalyst", ...; "" = not told
  std::string sdk;        // "14.4"
  std::string current_version, compatibility_version;  // of itself, from LC_ID_DYLIB
  bool two_level_namespace = false;                    // imports name the library they come from
  bool encrypted = false;       // LC_ENCRYPTION_INFO with a cipher: the code cannot be read
  bool chained_fixups = false;  // needs macOS 11 or newer
  bool thread_locals = false;   // it has thread-local variables
  std::vector<DylibNeed> dylibs;
};

// One architecture's part of a universal Mach-O file.
struct Slice {
  std::string machine;
  std::uint64_t offset = 0, size = 0;
};

struct BinaryInfo {
  Kind kind = Kind::unknown;
  // What the bytes look like: "ELF", "PE/COFF (Windows)", "Mach-O (macOS)", "HTML page", "XML text", "JSON
  // text", "gzip archive", "zip archive", "xz archive", "zstd archive", "bzip2 archive", "Git LFS pointer",
  // "static archive (ar)", "linker script or text", "script (#!)", "empty file", "unknown data".
  std::string sniffed;
  std::string page_title;  // <title> of an HTML page: names the login page that a proxy sent

  std::uint64_t file_size = 0;
  // Where the last byte ends that a loader needs: ELF the largest p_offset + p_filesz (section headers are
  // not counted), PE sections and certificates, Mach-O segments (of all slices, or of the chosen one).
  std::uint64_t needed_size = 0;
  std::uint64_t device = 0;  // the file's identity: two paths with the same pair are one library
  std::uint64_t inode = 0;

  int bits = 0;  // 32, 64; 0 = unknown
  bool big_endian = false;
  std::string machine;  // "x86_64", "aarch64", "i386", "x32", "arm", "riscv64", "ppc64le", "s390x", ...;
                        // PE also "arm64ec" (x86-64 calls, AArch64 code: needs Windows on Arm) and "arm64x"
                        // (serves aarch64 and arm64ec); Mach-O also "x86_64h" and "arm64e". A universal
                        // Mach-O file joins them with '+' unless one was chosen
  std::string os_abi;   // "System V", "GNU/Linux", "FreeBSD", ...
  std::uint8_t abi_version = 0;  // EI_ABIVERSION: what of that ABI it needs, by number
  Type type = Type::unknown;

  std::string soname;                   // DT_SONAME, LC_ID_DYLIB, the PE export name
  std::vector<std::string> needed;      // in the file's order; a PE's imports, a Mach-O's LC_LOAD_DYLIB
  std::vector<std::string> delayed;     // PE delay imports and Mach-O lazy dylibs: wanted at first use
  std::vector<std::string> optional;    // Mach-O weak dylibs, ELF DT_AUXILIARY: fine when absent
  std::vector<std::string> reexported;  // Mach-O: those of `needed` whose exports are this file's too
  std::vector<std::string> rpath;    // DT_RPATH or LC_RPATH split at ':', as written; empty elements are kept
  std::vector<std::string> runpath;  // DT_RUNPATH
  bool has_rpath = false;            // present, even when it is empty
  bool has_runpath = false;
  std::string interpreter;  // PT_INTERP

  std::vector<VersionNeed> version_needs;
  std::vector<std::string>
      version_definitions;               // DT_VERDEF, without the base definition (the file's own name)
  bool has_version_definitions = false;  // there is a DT_VERDEF: the loader checks the needs against it
  bool has_version_symbols = false;      // DT_VERSYM: each symbol has a version, or none

  bool has_load = false;     // ELF: at least one PT_LOAD
  bool has_dynamic = false;  // ELF: PT_DYNAMIC
  // Of all PT_LOADs together, one number or'ed to the other: whether any of them has a bit below a page size.
  std::uint64_t load_alignments = 0;  // p_align
  std::uint64_t load_distances = 0;   // p_vaddr - p_offset
  bool breaks_own_alignment = false;  // p_vaddr - p_offset of some PT_LOAD is no multiple of its p_align
  // The smallest page size (from 4096 on) at which two segments of different rights share a page; 0 = none.
  std::uint64_t shared_page = 0;
  bool misaligned = false;                       // p_vaddr - p_offset of some is no multiple of any page size
  std::uint64_t memory_size = 0;                 // sum of p_memsz of all PT_LOAD; SizeOfImage; all segments
  std::uint64_t tls_size = 0;                    // PT_TLS p_memsz; the template of a PE TLS directory
  std::uint64_t tls_alignment = 0;               // PT_TLS p_align
  bool static_tls = false;                       // DF_STATIC_TLS; on arm64 its relocation
  bool executable_stack = false;                 // PT_GNU_STACK with PF_X, or none at all on x86
  bool text_relocations = false;                 // DT_TEXTREL
  bool no_dlopen = false;                        // DF_1_NOOPEN
  bool no_default_directories = false;           // DF_1_NODEFLIB
  bool position_independent_executable = false;  // DF_1_PIE
  bool packed_relocations = false;               // DT_RELR: needs glibc 2.36
  bool code_signed = false;                      // PE security directory, LC_CODE_SIGNATURE
  std::uint32_t isa_needed = 0;                  // x86 ISA_1_NEEDED bits: 1 baseline, 2 v2, 4 v3, 8 v4
  std::string minimum_os;                        // Mach-O minos, PE subsystem version
  std::string build_id;                          // hex; of a Mach-O file its LC_UUID

  Boxed<PeFacts> pe;
  Boxed<MachoFacts> macho;
  std::vector<Slice> slices;  // of a universal Mach-O file, in the file's order; else empty

  // What is wrong with the content, worst first; empty = nothing was found. Codes and their evidence (each
  // also has "file"):
  //   EH-F02 empty                size
  //   EH-F03 shorter than a header  size, format
  //   EH-F04 truncated            size, needed_size
  //   EH-F05 a web page, JSON or other text   size, format, page_title or first_line
  //   EH-F06 still compressed     format
  //   EH-F07 Git LFS pointer      format, oid, expected_size (if any)
  //   EH-F08 damaged metadata     problem; also for data of no known format (format)

  //   EH-F10 not a shared library type or format   type
  //   EH-F12 cannot be mapped     problem ("no PT_DYNAMIC", "no PT_LOAD", "misaligned"), alignment, page_size
  //   EH-F13 refuses dlopen       flag
  //   EH-L07 foreign ELF variety  problem, os_abi | byte_order | version
  std::vector<Diagnosis> problems;
};

// Memory that is used again for the next file; who reads hundreds in turn keeps one. One thread at a time.
class Buffers {
 public:
  Buffers();
  Buffers(Buffers&&) noexcept;
  Buffers& operator=(Buffers&&) noexcept;
  ~Buffers();

 private:
  friend class FileView;
  struct Storage;
  std::unique_ptr<Storage> kept_;
};

// Reads what the file says of itself. Fails only when the file cannot be opened or read:
//   EH-F01 file missing         file; with errno: it is there, and the system would not read it
//   EH-F11 not a readable file  file, problem ("directory", "dangling link", "link loop", "not a regular
//   file"),
//                               link and target of the broken link
//   EH-L25 permission           file, blocked_by (the first path component that may not be passed), errno
//   EH-L26 out of descriptors or an I/O error: file, errno
//   EH-L33 a path that is too long: file, errno
// Everything wrong with the content is told in BinaryInfo::problems. A healthy PE or Mach-O file has no
// problem here; whether it suits this machine is the caller's question.
// `machine` chooses the slice of a universal Mach-O file ("aarch64"): what is told is then that slice's
// alone. Without it, or when there is no such slice, `machine` of the result joins all of them and the rest
// is the first one's.
Result<BinaryInfo> read_binary(const std::filesystem::path& file, std::string_view machine = {});
// Whether a reader failed because there is no such file: a search goes on then. One that is there and cannot
// be read has the same code.
bool no_such_file(const Diagnosis& why);

// The same for `name` in the folder with this descriptor (from open(2), O_PATH will do; AT_FDCWD with a whole
// path as the name). `path` is how the file is told of. Nothing when there is no such file, or only a link
// that leads nowhere: a loader passes on to its next folder then, and a search asks so often that it may cost
// no more than one system call.
std::unique_ptr<Result<BinaryInfo>> read_binary_in(int folder, const std::string& name, std::string path,
                                                   Buffers* buffers = nullptr);

// A symbol of the dynamic symbol table, of a PE export or import table, or of a Mach-O export trie or symbol
// table. Mach-O names keep the underscore that the compiler puts before them.
struct Symbol {
  std::string name;     // "" = a PE symbol known by its ordinal only
  std::string version;  // "" = unversioned
  std::string library;  // of an import: the library it was linked against, where the file says so (ELF: with
                        // a version; PE: always; Mach-O: with a two-level namespace, else "")
  std::string
      forwarder;  // of a PE export "NTDLL.RtlAllocateHeap"; of a re-exported Mach-O symbol its name there
  std::uint32_t ordinal = 0;  // PE: of an export, or of an import by ordinal
  bool delayed = false;       // PE: imported at first use
  bool defined = false;       // exported; otherwise imported
  bool weak = false;
  bool hidden_version = false;  // f@V1 rather than f@@V1: only found by version
  bool function = false;        // STT_FUNC or STT_GNU_IFUNC; a PE export in a code section
  bool thread_local_storage = false;
  bool variable =
      false;  // ELF: STT_OBJECT, STT_COMMON or STT_TLS; of an import: what it was where it was linked
};

struct SymbolTable {
  std::vector<Symbol> exports;
  std::vector<Symbol> imports;
  bool complete = true;  // false: the table is damaged or longer than the reader's limits (8 million symbols,
                         // 256 MiB of names)
};

// All symbols that a library offers and asks of others, for the symbol pass (L12, L15, R11, W03, X07). Of a
// universal file: the slice for `machine`, else the first. Fails as read_binary does, and with EH-F08
// (problem) when the symbol table cannot be followed.
Result<SymbolTable> read_symbols(const std::filesystem::path& file, std::string_view machine = {});

// Whether what a loader follows without looking when it binds leads where it may: the versions of symbols,
// the symbols and places of relocations. EH-F08 (problem); fails otherwise as read_binary does. ELF of x86-64
// and AArch64; of everything else, and of a file that has other problems, nothing is said. Reads these tables
// whole: some ms for a large engine, 10 ms for a million relocations.
Result<void> check_bindings(const std::filesystem::path& file);

// What the resources of a Windows library tell. Undocumented corners are read softly: what does not fit is
// left empty.
struct PeResources {
  std::string file_version;  // VS_FIXEDFILEINFO: "14.38.33135.0"
  std::string product_version;
  bool has_manifest = false;
  std::vector<std::string>
      assemblies;  // side-by-side assemblies its manifest depends on: "Microsoft.VC90.CRT 9.0.21022.8"
};

// Fails as read_binary does; a file that is no PE file or has no resources gives an empty value.
Result<PeResources> pe_resources(const std::filesystem::path& file);

// Names of libraries beginning with `prefix` ("libcudnn_") that the read-only data of an ELF file holds as
// text, as libraries do that open others by name when they need them; sorted, each once. Soft: sections that
// are missing or larger than 64 MiB give no names. Fails as read_binary does.
Result<std::vector<std::string>> library_names(const std::filesystem::path& file, std::string_view prefix);

// The head of the exported plugin object: its first 24 bytes hold no pointers, so they are on disk as
// written.
struct PluginHeader {
  enum class State {
    found,
    symbol_absent,  // no such export
    no_bytes,       // the object lies in .bss: it is filled by code, and cannot be read without running it
    wrong_magic,    // the first eight bytes are not "ENGPLUG\0"
    no_object,      // the symbol is a function, or thread-local
  };
  State state = State::symbol_absent;
  std::string magic;  // the eight bytes, as found
  std::uint32_t size = 0;
  std::uint16_t abi_major = 0;
  std::uint16_t abi_minor = 0;
  std::uint16_t host_minor = 0;  // the oldest host it needs
  std::uint16_t reserved = 0;
  std::uint32_t flags = 0;           // bit 0: may be unloaded
  std::uint64_t object_size = 0;     // ELF: what the symbol table says; 0 = not told
  std::vector<std::string> exports;  // when the symbol is absent: up to 16 names the file does export
};

// Reads the plugin's head from the file on disk; `symbol` is the C name in every format. Fails as read_binary
// does, with EH-F08 when the metadata is damaged, and with the first of BinaryInfo::problems when the file is
// no library. Of a universal file: the slice for `machine`, else the first.
Result<PluginHeader> read_plugin_header(const std::filesystem::path& file,
                                        std::string_view symbol = "engine_plugin_v1",
                                        std::string_view machine = {});

// GPU code found in the .nv_fatbin section (CUDA; .nv_fatb in a PE file). The layout is not
// documented by NVIDIA but read from files: what does not fit is skipped and told in `note`, never an error.
struct GpuCode {
  struct Entry {
    std::string kind;         // "sass", "ptx"
    std::string arch;         // "8.6", "12.0"
    std::uint32_t count = 0;  // a union over kernels: rare architectures are weak evidence
  };
  std::vector<Entry> entries;  // sorted by kind, then architecture
  std::string note;            // why the list may be incomplete; empty = the whole section was understood
};

// Fails as read_binary does; a file without GPU code gives an empty list.
Result<GpuCode> gpu_code(const std::filesystem::path& file);

}  // namespace enginehost::binary
