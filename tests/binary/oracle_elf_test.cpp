// Names, search paths and versions agree with binutils on every library of this machine.
#include <glob.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "tests/binary/oracle.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::binary {
namespace {

struct Said {
  std::vector<std::string> needed;
  std::string soname, rpath, runpath;
  std::multiset<std::string> version_needs;  // "libc.so.6 GLIBC_2.34", with " weak" at the end
  std::multiset<std::string> version_definitions;
  bool operator==(const Said&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Said& said) {
  out << "soname " << said.soname << " rpath " << said.rpath << " runpath " << said.runpath << "\nneeded";
  for (const std::string& name : said.needed) out << ' ' << name;
  for (const std::string& name : said.version_needs) out << "\n  wants " << name;
  for (const std::string& name : said.version_definitions) out << "\n  defines " << name;
  return out;
}

// Runs objdump -p over many files.
std::map<std::string, Said> parse(const std::string& text) {
  std::map<std::string, Said> all;
  Said* now = nullptr;
  enum { none, dynamic, definitions, references } part = none;
  std::string library;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (std::size_t mark = line.find(":     file format "); mark != std::string::npos) {
      now = &all[line.substr(0, mark)];
      part = none;
      continue;
    }
    if (now == nullptr) continue;
    if (line == "Dynamic Section:")
      part = dynamic;
    else if (line == "Version definitions:")
      part = definitions;
    else if (line == "Version References:")
      part = references;
    else if (part == dynamic) {
      const std::size_t key_end = line.find(' ', 2);
      if (key_end == std::string::npos) continue;
      const std::string key = line.substr(2, key_end - 2);
      const std::size_t start = line.find_first_not_of(' ', key_end);
      const std::string value = start == std::string::npos ? "" : line.substr(start);
      if (key == "NEEDED" || key == "FILTER") now->needed.push_back(value);
      if (key == "SONAME") now->soname = value;
      if (key == "RPATH") now->rpath = value;
      if (key == "RUNPATH") now->runpath = value;
    } else if (part == definitions) {
      // "2 0x00 0x09691a75 GLIBC_2.2.5"; a line that begins with a tab names the parent.
      std::istringstream words(line);
      std::string index, flags, hash, name;
      if (!line.empty() && line.front() != '\t' && words >> index >> flags >> hash >> name && flags != "0x01")
        now->version_definitions.insert(name);
    } else if (part == references) {
      if (line.substr(0, 16) == "  required from ") {
        library = line.substr(16, line.size() - 17);
      } else {
        std::istringstream words(line);
        std::string hash, flags, index, name;
        if (words >> hash >> flags >> index >> name)
          now->version_needs.insert(library + " " + name + (flags == "0x02" ? " weak" : ""));
      }
    }
  }
  return all;
}

std::vector<std::string> files_of_this_machine() {
  std::vector<std::string> files;
  for (const char* pattern : {"/usr/lib/x86_64-linux-gnu/*.so.*", "/usr/local/cuda*/lib64/*.so.*",
                              "/usr/lib64/*.so.*", "/usr/lib/aarch64-linux-gnu/*.so.*", "/usr/lib32/*.so*"}) {
    glob_t found{};
    if (::glob(pattern, 0, nullptr, &found) == 0)
      for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
  }
  return files;
}

class Oracle : public test::Workshop {};

TEST_F(Oracle, AgreesWithObjdumpOnEveryLibrary) {
  if (!has_tool("objdump")) GTEST_SKIP() << "objdump is not installed";
  std::vector<std::string> files;
  for (const std::string& file : files_of_this_machine())
    if (Result<BinaryInfo> info = read_binary(file); info && info->kind == Kind::elf) files.push_back(file);
  ASSERT_GT(files.size(), 50u);
  std::map<std::string, Said> expected;
  for (std::size_t i = 0; i < files.size(); i += 100) {
    std::vector<std::string> command{"objdump", "-p"};
    command.insert(command.end(), files.begin() + static_cast<std::ptrdiff_t>(i),
                   files.begin() + static_cast<std::ptrdiff_t>(std::min(files.size(), i + 100)));
    expected.merge(parse(run(command)));
  }
  std::size_t needs = 0, wants = 0;
  for (const std::string& file : files) {
    Result<BinaryInfo> info = read_binary(file);
    ASSERT_TRUE(info.has_value());
    Said said{info->needed, info->soname, join(info->rpath, ":"), join(info->runpath, ":"), {}, {}};
    for (const VersionNeed& need : info->version_needs)
      said.version_needs.insert(need.library + " " + need.version + (need.weak ? " weak" : ""));
    for (const std::string& name : info->version_definitions) said.version_definitions.insert(name);
    EXPECT_EQ(said, expected[file]) << file;
    EXPECT_TRUE(info->problems.empty())
        << file << ": " << info->problems.front().code << " " << info->problems.front().value(Key::problem);
    needs += info->needed.size();
    wants += info->version_needs.size();
  }
  std::cout << files.size() << " files, " << needs << " needs, " << wants << " wanted versions compared\n";
}

// readelf's program headers, notes and dynamic flags.
oracle::Facts readelf_facts(const std::string& text, bool x86) {
  oracle::Facts facts;
  std::uint64_t needed = 0, memory = 0, tls = 0;
  bool stack_reported = false, stack_executable = false, loads = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream split(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(split), {}};
    if (words.empty()) continue;
    const bool segment = words.size() >= 7 && words[1].rfind("0x", 0) == 0 && words[5].rfind("0x", 0) == 0;
    if (segment) {
      const std::string& type = words[0];
      const std::uint64_t begin = std::stoull(words[1], nullptr, 0), size = std::stoull(words[4], nullptr, 0);
      if ((type == "LOAD" || type == "DYNAMIC" || type == "INTERP") && size > 0)
        needed = std::max(needed, begin + size);
      if (type == "LOAD") {
        loads = true;
        memory += std::stoull(words[5], nullptr, 0);
      }
      if (type == "TLS") tls = std::stoull(words[5], nullptr, 0);
      if (type == "GNU_STACK") {
        stack_reported = true;
        // "RW" or "RWE" or "R E", followed by the alignment.
        for (std::size_t i = 6; i + 1 < words.size(); ++i)
          stack_executable = stack_executable || words[i].find('E') != std::string::npos;
      }
    }
    if (const std::size_t at = line.find("program interpreter: "); at != std::string::npos)
      facts.insert("interpreter " + line.substr(at + 21, line.size() - at - 22));
    if (const std::size_t at = line.find("Build ID: "); at != std::string::npos)
      facts.insert("build id " + line.substr(at + 10));
    if (const std::size_t at = line.find("OS: Linux, ABI: "); at != std::string::npos)
      facts.insert("kernel " + line.substr(at + 16));
    if (const std::size_t at = line.find("x86 ISA needed: "); at != std::string::npos)
      facts.insert("processor " + line.substr(at + 16));
    const bool flags = line.find("(FLAGS)") != std::string::npos,
               flags_1 = line.find("(FLAGS_1)") != std::string::npos;
    for (const std::string& word : words) {
      if (flags && (word == "STATIC_TLS" || word == "TEXTREL")) facts.insert("flag " + word);
      if (flags_1 && (word == "NOOPEN" || word == "NODEFLIB" || word == "PIE")) facts.insert("flag " + word);
      if (word == "(TEXTREL)") facts.insert("flag TEXTREL");
    }
  }
  if (stack_reported ? stack_executable : loads && x86) facts.insert("executable stack");
  facts.insert("needs " + std::to_string(needed) + " bytes");
  facts.insert("memory " + std::to_string(memory));
  facts.insert("thread-local " + std::to_string(tls));
  return facts;
}

oracle::Facts our_facts(const BinaryInfo& info) {
  oracle::Facts facts;
  auto mark = [&](bool set, const char* word) {
    if (set) facts.insert(word);
  };
  if (!info.interpreter.empty()) facts.insert("interpreter " + info.interpreter);
  if (!info.build_id.empty()) facts.insert("build id " + info.build_id);
  if (!info.minimum_os.empty()) facts.insert("kernel " + info.minimum_os);
  std::vector<std::string> levels;
  for (const auto& [bit, name] :
       {std::pair{1u, "x86-64-baseline"}, {2u, "x86-64-v2"}, {4u, "x86-64-v3"}, {8u, "x86-64-v4"}})
    if ((info.isa_needed & bit) != 0) levels.emplace_back(name);
  if (!levels.empty()) facts.insert("processor " + join(levels, ", "));
  mark(info.static_tls, "flag STATIC_TLS");
  mark(info.text_relocations, "flag TEXTREL");
  mark(info.no_dlopen, "flag NOOPEN");
  mark(info.no_default_directories, "flag NODEFLIB");
  mark(info.type == Type::position_independent_executable, "flag PIE");
  mark(info.executable_stack, "executable stack");
  facts.insert("needs " + std::to_string(info.needed_size) + " bytes");
  facts.insert("memory " + std::to_string(info.memory_size));
  facts.insert("thread-local " + std::to_string(info.tls_size));
  return facts;
}

// The ELF files among this machine's files.
std::map<std::string, BinaryInfo> elf_files() {
  std::map<std::string, BinaryInfo> files;
  for (const std::string& file : files_of_this_machine())
    if (Result<BinaryInfo> info = read_binary(file); info && info->kind == Kind::elf)
      files[file] = std::move(*info);
  return files;
}

std::vector<std::string> names_of(const std::map<std::string, BinaryInfo>& files) {
  std::vector<std::string> names;
  for (const auto& [name, info] : files) names.push_back(name);
  return names;
}

TEST_F(Oracle, AgreesWithReadelfOnSegmentsNotesAndFlags) {
  if (!has_tool("readelf")) GTEST_SKIP() << "readelf is not installed";
  const std::map<std::string, BinaryInfo> files = elf_files();
  const auto said = oracle::ask_in_batches(
      {"readelf", "-W", "-l", "-n", "-d"}, names_of(files),
      [](const std::string& line) { return line.rfind("File: ", 0) == 0 ? line.substr(6) : ""; });
  oracle::Tally tally;
  for (const auto& [file, info] : files) {
    ASSERT_TRUE(said.contains(file)) << file;
    const bool x86 = info.machine == "x86_64" || info.machine == "i386" || info.machine == "x32";
    oracle::Facts ours = our_facts(info), theirs = readelf_facts(said.at(file), x86);
    // On arm64 the relocations show it and the flag may be missing (host/binary/elf_relocations.cpp).
    if (info.machine == "aarch64") ours.erase("flag STATIC_TLS"), theirs.erase("flag STATIC_TLS");
    tally.compare(file, ours, theirs);
  }
  EXPECT_GT(tally.files, 50u);
  tally.print("ELF files of this machine");
}

// "0000000000001000 T name@@V1", "                 U name@V1"
oracle::Facts nm_facts(const std::string& text) {
  oracle::Facts facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string address, type, name;
    words >> address;
    if (address.size() == 1)
      type = address;
    else
      words >> type;
    words >> name;
    // Small letters are local symbols, but for these.
    const bool local = type.empty() || std::islower(static_cast<unsigned char>(type[0])) != 0;
    if (!name.empty() && (!local || type == "w" || type == "v" || type == "u" || type == "i"))
      facts.insert(name);
  }
  return facts;
}

TEST_F(Oracle, AgreesWithNmOnExportsAndImports) {
  if (!has_tool("nm")) GTEST_SKIP() << "nm is not installed";
  const std::map<std::string, BinaryInfo> files = elf_files();
  const auto said = oracle::ask_in_batches({"nm", "-D"}, names_of(files), [](const std::string& line) {
    return !line.empty() && line.front() == '/' && line.back() == ':' ? line.substr(0, line.size() - 1) : "";
  });
  oracle::Tally tally;
  for (const auto& [file, info] : files) {
    const Result<SymbolTable> table = read_symbols(file);
    ASSERT_TRUE(table.has_value()) << file;
    EXPECT_TRUE(table->complete) << file;
    oracle::Facts ours;
    for (const auto* list : {&table->exports, &table->imports})
      for (const Symbol& symbol : *list)
        // nm omits the version where it equals the name, which marks that a version exists.
        ours.insert(symbol.version.empty() || symbol.version == symbol.name
                        ? symbol.name
                        : symbol.name + (list == &table->exports && !symbol.hidden_version ? "@@" : "@") +
                              symbol.version);
    ASSERT_TRUE(said.contains(file) || ours.empty()) << file;
    tally.compare(file, ours, said.contains(file) ? nm_facts(said.at(file)) : oracle::Facts());
  }
  EXPECT_GT(tally.files, 50u);
  tally.print("symbols of ELF files of this machine");
}

}  // namespace
}  // namespace enginehost::binary
