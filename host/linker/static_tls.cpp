#include "host/linker/loader_rules.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/paths.hpp"
#include "base/version.hpp"
#include "host/binary/binary.hpp"

namespace enginehost::linker {
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
  Diagnosis diagnosis = diagnose("EH-L19");
  diagnosis.with("file", closure.file)
      .with("library", (*strictest)->path, "relocations of static TLS")
      .with("alignment", std::to_string(alignment), "PT_TLS")
      .with("most_alignment", std::to_string(most), "libraries of the process");
  const bool never = wanted.certain && alignment > most;
  (never ? closure.refused : closure.doubts).push_back(std::move(diagnosis));
  return never;
}

Diagnosis reported(const char* code, const Closure& closure, const Wanted& wanted) {
  Diagnosis diagnosis = diagnose(code);
  diagnosis.with("file", closure.file).with("static_tls", std::to_string(wanted.bytes), "PT_TLS");
  for (const Object* object : wanted.by) diagnosis.with("library", object->path, "relocations of static TLS");
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
    Diagnosis diagnosis = reported("EH-L29", closure, wanted);
    diagnosis.with(
        "problem",
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
  Diagnosis diagnosis = reported("EH-L19", closure, wanted);
  diagnosis.with("reserve", std::to_string(reserve), "GLIBC_TUNABLES");
  (never ? closure.refused : closure.doubts).push_back(std::move(diagnosis));
}

}  // namespace enginehost::linker
