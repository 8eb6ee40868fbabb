#include "tests/faults/mutants.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/files.hpp"

namespace enginehost::faults {
namespace {

[[noreturn]] void give_up(const std::filesystem::path& file, const char* what) {
  std::fprintf(stderr, "%s: %s\n", file.c_str(), what);
  std::abort();
}

// The region of a section. Sections that a loader only reads through (strings, code) share a region.
const char* region_of(const Elf64_Shdr& section) {
  switch (section.sh_type) {
    case SHT_DYNAMIC:
      return ".dynamic";
    case SHT_DYNSYM:
      return "symbols";
    case SHT_STRTAB:
      return "strings";
    case SHT_GNU_versym:
    case SHT_GNU_verneed:
    case SHT_GNU_verdef:
      return "versions";
    case SHT_GNU_HASH:
    case SHT_HASH:
      return "hash tables";
    case SHT_RELA:
    case SHT_RELR:
      return "relocations";
    case SHT_INIT_ARRAY:
    case SHT_FINI_ARRAY:
      return "constructors";
    default:
      return nullptr;
  }
}

}  // namespace

std::vector<Region> regions_of(const std::filesystem::path& file) {
  const auto read = read_file(file.native());
  if (!read || read->empty()) give_up(file, "cannot be read");
  const std::string& bytes = *read;
  std::vector<Region> regions;
  const Region anywhere{"anywhere", 0, bytes.size()};
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header || bytes.compare(0, SELFMAG, ELFMAG) != 0 || bytes[EI_CLASS] != ELFCLASS64)
    return {anywhere};
  std::memcpy(&header, bytes.data(), sizeof header);
  regions.push_back({"header", 0, sizeof header});
  regions.push_back({"program headers", header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)});
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    const std::uint64_t at = header.e_shoff + std::uint64_t{i} * sizeof section;
    if (at + sizeof section > bytes.size()) give_up(file, "its section headers lie outside");
    std::memcpy(&section, bytes.data() + at, sizeof section);
    if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_size == 0) continue;
    const char* name = region_of(section);
    if (name == nullptr || section.sh_offset + section.sh_size > bytes.size()) continue;
    regions.push_back({name, section.sh_offset, section.sh_size});
  }
  regions.push_back(anywhere);
  return regions;
}

Mutant::Mutant(std::filesystem::path file, const std::vector<Region>& regions, std::mt19937_64& random)
    : file_(std::move(file)) {
  const FileDescriptor opened(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.valid()) give_up(file_, "cannot be opened");
  const std::size_t count = 1 + random() % 3;
  while (changes_.size() < count) {
    const Region& region = regions[random() % regions.size()];
    Change change{region.offset + random() % region.size, 0, 0, region.name};
    const bool again = std::any_of(changes_.begin(), changes_.end(),
                                   [&](const Change& other) { return other.offset == change.offset; });
    if (again) continue;
    if (::pread(opened.get(), &change.before, 1, static_cast<off_t>(change.offset)) != 1)
      give_up(file_, "cannot be read");
    // A single bit as often as a whole byte.
    change.after = static_cast<unsigned char>(random() % 2 == 0 ? change.before ^ (1u << (random() % 8))
                                                                : change.before + 1 + random() % 255);
    changes_.push_back(std::move(change));
  }
  write(true);
}

Mutant::~Mutant() { write(false); }

void Mutant::write(bool after) const {
  struct stat was {};
  // Files of a store are read-only, even for their owner.
  if (::stat(file_.c_str(), &was) != 0 || ::chmod(file_.c_str(), was.st_mode | S_IWUSR) != 0)
    give_up(file_, "cannot be made writable");
  {
    const FileDescriptor opened(::open(file_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!opened.valid()) give_up(file_, "cannot be written to");
    for (const Change& change : changes_)
      if (::pwrite(opened.get(), after ? &change.after : &change.before, 1,
                   static_cast<off_t>(change.offset)) != 1)
        give_up(file_, "cannot be written to");
    const timespec times[2] = {was.st_atim, was.st_mtim};
    if (::futimens(opened.get(), times) != 0) give_up(file_, "cannot be given its time back");
  }
  if (::chmod(file_.c_str(), was.st_mode) != 0) give_up(file_, "cannot be protected again");
}

std::string Mutant::text() const {
  std::string text = file_.filename().native() + ":";
  for (const Change& change : changes_) {
    char line[64];
    std::snprintf(line, sizeof line, " 0x%llx %02x -> %02x in ",
                  static_cast<unsigned long long>(change.offset), change.before, change.after);
    text += line + change.region + ";";
  }
  text.pop_back();
  return text;
}

}  // namespace enginehost::faults
