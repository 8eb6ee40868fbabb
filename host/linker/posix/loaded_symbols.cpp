#include "host/linker/loaded_symbols.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "host/linker/this_linux.hpp"

namespace enginehost::linker {

#ifdef __GLIBC__

namespace {

constexpr unsigned char unique_binding = 10;

// A process has these once; their unique symbols are everybody's.
constexpr std::string_view runtimes[] = {"libc.so.", "libm.so.",    "libstdc++.so.", "libgcc_s.so.",
                                         "ld-linux", "libmvec.so.", "libpthread.so."};

bool is_runtime(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return std::ranges::any_of(runtimes, [&](std::string_view one) { return name.starts_with(one); });
}

// True for /lib, /usr/lib64 and their folders of one architecture (x86_64-linux-gnu).
bool is_in_system_folder(std::string_view file) {
  std::string_view folder = file.substr(0, file.rfind('/'));
  if (folder.starts_with("/usr/")) folder.remove_prefix(4);
  if (!folder.starts_with("/lib")) return false;
  folder.remove_prefix(4);
  if (folder.starts_with("64") || folder.starts_with("32")) folder.remove_prefix(2);
  return folder.empty() || (folder.front() == '/' && folder.rfind('/') == 0 &&
                            folder.find("-linux-") != std::string_view::npos);
}

// GNU's linkers mark a file with unique symbols, and one with indirect functions, as GNU's.
bool is_marked_as_gnus(const dl_phdr_info& library) {
  const auto* const header = reinterpret_cast<const unsigned char*>(first_address(library));
  return header != nullptr && std::memcmp(header, ELFMAG, SELFMAG) == 0 && header[EI_OSABI] == ELFOSABI_GNU;
}

// Not by dladdr(), which searches the symbols.
bool is_own(const dl_phdr_info& library) {
  const auto here = reinterpret_cast<ElfW(Addr)>(&is_own) - library.dlpi_addr;
  for (ElfW(Half) i = 0; i < library.dlpi_phnum; ++i)
    if (const ElfW(Phdr)& segment = library.dlpi_phdr[i];
        segment.p_type == PT_LOAD && here >= segment.p_vaddr && here - segment.p_vaddr < segment.p_memsz)
      return true;
  return false;
}

bool is_foreign(const dl_phdr_info& library) {
  const std::string_view path = library.dlpi_name != nullptr ? library.dlpi_name : "";
  // The program has an empty name, the vdso one without a folder.
  if (path.find('/') == std::string_view::npos || is_runtime(path)) return false;
  if (is_in_system_folder(path) && !is_marked_as_gnus(library)) return false;
  return !is_own(library);
}

// Visits foreign libraries until `visit` returns true. The loader loads and unloads nothing meanwhile.
template <class Visit>
bool visit_foreign(Visit visit) {
  return ::dl_iterate_phdr(
             [](dl_phdr_info* library, std::size_t, void* data) {
               return is_foreign(*library) && (*static_cast<Visit*>(data))(*library) ? 1 : 0;
             },
             &visit) != 0;
}

LoadedLibrary described(const dl_phdr_info& library) {
  std::filesystem::path path = library.dlpi_name;
  // A relative name comes from a relative folder of LD_LIBRARY_PATH.
  if (library.dlpi_name[0] != '/') path = file_mapped_at(first_address(library));
  return {text_of_tag(library, DT_SONAME), std::move(path)};
}

// The dynamic tables of a loaded library. The loader has checked them and follows them itself.
class Exports {
 public:
  explicit Exports(const dl_phdr_info& library) {
    for (ElfW(Half) i = 0; i < library.dlpi_phnum; ++i)
      if (library.dlpi_phdr[i].p_type == PT_DYNAMIC) read(library, library.dlpi_phdr[i].p_vaddr);
  }
  bool readable() const {
    return symbols_ != nullptr && strings_ != nullptr && (gnu_ != nullptr || hash_ != nullptr);
  }

  // Returns the exported symbol with that name and version, or null.
  const ElfW(Sym) * find(const char* name, std::string_view version) const {
    return gnu_ != nullptr ? find_by_gnu_hash(name, version) : find_by_hash(name, version);
  }

  std::size_t count() const {
    std::size_t exported = 0;
    const std::uint32_t end = gnu_ != nullptr ? end_by_gnu_hash() : hash_[1];
    for (std::uint32_t i = 1; i < end; ++i) exported += is_exported(i) ? 1 : 0;
    return exported;
  }

 private:
  void read(const dl_phdr_info& library, ElfW(Addr) dynamic) {
    // As in text_of_tag().
    const auto at = [&](const ElfW(Dyn) & entry) {
      const ElfW(Addr) address = entry.d_un.d_ptr;
      return reinterpret_cast<const char*>(address < library.dlpi_addr ? address + library.dlpi_addr
                                                                       : address);
    };
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + dynamic);
         entry->d_tag != DT_NULL; ++entry)
      switch (entry->d_tag) {
        case DT_STRTAB:
          strings_ = at(*entry);
          break;
        case DT_SYMTAB:
          symbols_ = reinterpret_cast<const ElfW(Sym)*>(at(*entry));
          break;
        case DT_GNU_HASH:
          gnu_ = reinterpret_cast<const std::uint32_t*>(at(*entry));
          break;
        case DT_HASH:
          hash_ = reinterpret_cast<const std::uint32_t*>(at(*entry));
          break;
        case DT_VERSYM:
          versions_ = reinterpret_cast<const ElfW(Half)*>(at(*entry));
          break;
        case DT_VERDEF:
          definitions_ = at(*entry);
          break;
        default:
          break;
      }
  }

  const ElfW(Addr) * bloom() const { return reinterpret_cast<const ElfW(Addr)*>(gnu_ + 4); }
  const std::uint32_t* buckets() const { return reinterpret_cast<const std::uint32_t*>(bloom() + gnu_[2]); }
  const std::uint32_t* chains() const { return buckets() + gnu_[0]; }

  const ElfW(Sym) * find_by_gnu_hash(const char* name, std::string_view version) const {
    std::uint32_t hash = 5381;
    for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
    constexpr std::uint32_t bits = sizeof(ElfW(Addr)) * 8;
    const ElfW(Addr) word = bloom()[(hash / bits) % gnu_[2]];
    if (((word >> (hash % bits)) & (word >> ((hash >> gnu_[3]) % bits)) & 1) == 0) return nullptr;
    for (std::uint32_t i = gnu_[0] != 0 ? buckets()[hash % gnu_[0]] : 0; i != 0; ++i) {
      const std::uint32_t here = chains()[i - gnu_[1]];
      if ((here | 1) == (hash | 1) && is_it(i, name, version)) return &symbols_[i];
      if ((here & 1) != 0) break;
    }
    return nullptr;
  }

  const ElfW(Sym) * find_by_hash(const char* name, std::string_view version) const {
    std::uint32_t hash = 0;
    for (const char* c = name; *c != '\0'; ++c) {
      hash = (hash << 4) + static_cast<unsigned char>(*c);
      hash = (hash ^ ((hash & 0xF0000000u) >> 24)) & 0x0FFFFFFFu;
    }
    const std::uint32_t* const first = hash_ + 2;
    for (std::uint32_t i = first[hash % hash_[0]]; i != STN_UNDEF; i = first[hash_[0] + i])
      if (is_it(i, name, version)) return &symbols_[i];
    return nullptr;
  }

  // The end of the last chain.
  std::uint32_t end_by_gnu_hash() const {
    const std::uint32_t last = gnu_[0] != 0 ? *std::max_element(buckets(), chains()) : 0;
    if (last < gnu_[1]) return 0;
    std::uint32_t i = last;
    while ((chains()[i - gnu_[1]] & 1) == 0) ++i;
    return i + 1;
  }

  bool is_exported(std::uint32_t i) const {
    const ElfW(Sym)& symbol = symbols_[i];
    const unsigned char binding = ELF64_ST_BIND(symbol.st_info), visibility = symbol.st_other & 3;
    return symbol.st_shndx != SHN_UNDEF && symbols_[i].st_name != 0 &&
           (binding == STB_GLOBAL || binding == STB_WEAK || binding == unique_binding) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED) &&
           (versions_ == nullptr || (versions_[i] & 0x7fff) != VER_NDX_LOCAL);
  }

  bool is_it(std::uint32_t i, const char* name, std::string_view version) const {
    return is_exported(i) && std::strcmp(strings_ + symbols_[i].st_name, name) == 0 &&
           version_of(i) == version;
  }

  std::string_view version_of(std::uint32_t i) const {
    const unsigned wanted = versions_ != nullptr ? versions_[i] & 0x7fffu : 0;
    if (wanted < 2 || definitions_ == nullptr) return {};
    for (const char* at = definitions_;;) {
      const auto* const definition = reinterpret_cast<const ElfW(Verdef)*>(at);
      if ((definition->vd_ndx & 0x7fffu) == wanted)
        return strings_ + reinterpret_cast<const ElfW(Verdaux)*>(at + definition->vd_aux)->vda_name;
      if (definition->vd_next == 0) return {};
      at += definition->vd_next;
    }
  }

  const char* strings_ = nullptr;
  const char* definitions_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const ElfW(Half) * versions_ = nullptr;
  const std::uint32_t* gnu_ = nullptr;
  const std::uint32_t* hash_ = nullptr;
};

// Templates and inline variables of the standard library are in most C++ libraries.
bool is_of_the_standard_library(std::string_view name) {
  if (!name.starts_with("_Z")) return false;
  name.remove_prefix(2);
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view mark : {"GV", "Z", "N", "K", "L"})
      if (name.starts_with(mark)) {
        name.remove_prefix(mark.size());
        more = true;
      }
  }
  return name.starts_with("S") || name.starts_with("9__gnu_cxx");
}

std::string shared_symbol(const binary::SymbolTable& symbols, const Exports& exports) {
  for (const binary::Symbol& symbol : symbols.exports) {
    if (!symbol.unique || is_of_the_standard_library(symbol.name)) continue;
    const ElfW(Sym)* const there = exports.find(symbol.name.c_str(), symbol.version);
    if (there != nullptr && ELF64_ST_BIND(there->st_info) == unique_binding) return symbol.name;
  }
  return {};
}

struct Compared {
  std::size_t common = 0;
  std::string differs;
};

Compared compare(const binary::SymbolTable& symbols, const Exports& exports) {
  Compared compared;
  for (const binary::Symbol& symbol : symbols.exports) {
    const ElfW(Sym)* const there = exports.find(symbol.name.c_str(), symbol.version);
    if (there != nullptr) ++compared.common;
    if (compared.differs.empty() && (there == nullptr || (symbol.variable && there->st_size != symbol.size)))
      compared.differs = symbol.name;
  }
  if (const std::size_t count = exports.count(); compared.differs.empty() && count != symbols.exports.size())
    compared.differs =
        std::to_string(count) + " symbols in place of " + std::to_string(symbols.exports.size());
  return compared;
}

}  // namespace

std::vector<LoadedLibrary> foreign_libraries() {
  std::vector<LoadedLibrary> found;
  visit_foreign([&](const dl_phdr_info& library) {
    found.push_back(described(library));
    return false;
  });
  return found;
}

bool may_share_objects() {
  return visit_foreign([](const dl_phdr_info&) { return true; });
}

std::vector<LoadedCopy> loaded_copies(const std::string& soname, const binary::SymbolTable& symbols) {
  constexpr std::size_t least_part = 4;
  std::vector<LoadedCopy> copies;
  visit_foreign([&](const dl_phdr_info& library) {
    const Exports exports(library);
    if (!exports.readable()) return false;
    std::string shared = shared_symbol(symbols, exports);
    const bool same_name = !soname.empty() && text_of_tag(library, DT_SONAME) == soname;
    if (shared.empty() && !same_name) return false;
    Compared compared = compare(symbols, exports);
    if (!same_name && compared.common < symbols.exports.size() / least_part) return false;
    LoadedLibrary described_library = described(library);
    copies.push_back({std::move(described_library.soname), std::move(described_library.path),
                      std::move(shared), std::move(compared.differs)});
    return false;
  });
  return copies;
}

#else

std::vector<LoadedLibrary> foreign_libraries() { return loaded_libraries(); }
bool may_share_objects() { return false; }
std::vector<LoadedCopy> loaded_copies(const std::string&, const binary::SymbolTable&) { return {}; }

#endif

}  // namespace enginehost::linker
