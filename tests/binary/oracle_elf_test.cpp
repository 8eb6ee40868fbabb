// binutils reads the same files: names, search paths and versions must agree on every library of this
// machine.
#include <glob.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "host/binary/binary.hpp"
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

// objdump -p over many files.
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

TEST_F(Oracle, objdump_says_the_same_of_every_library) {
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
        << file << ": " << info->problems.front().code << " " << info->problems.front().value("problem");
    needs += info->needed.size();
    wants += info->version_needs.size();
  }
  std::cout << files.size() << " files, " << needs << " needs, " << wants << " wanted versions compared\n";
}

TEST_F(Oracle, nm_lists_the_same_exports_and_imports) {
  if (!has_tool("nm")) GTEST_SKIP() << "nm is not installed";
  const std::vector<std::string> all = files_of_this_machine();
  std::size_t compared = 0, symbols = 0;
  for (std::size_t i = 0; i < all.size(); i += all.size() / 40 + 1) {
    Result<BinaryInfo> info = read_binary(all[i]);
    if (!info || info->kind != Kind::elf) continue;
    Result<SymbolTable> table = read_symbols(all[i]);
    ASSERT_TRUE(table.has_value()) << all[i];
    EXPECT_TRUE(table->complete) << all[i];
    std::multiset<std::string> expected, found;
    std::istringstream lines(run({"nm", "-D", all[i]}));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string address, type, name;
      words >> address;
      if (address.size() == 1)
        type = address;
      else
        words >> type;
      words >> name;
      if (name.empty() || std::islower(static_cast<unsigned char>(type[0])) != 0) {
        if (type != "w" && type != "v" && type != "u" && type != "i") continue;
      }
      expected.insert(name);
    }
    for (const auto* list : {&table->exports, &table->imports})
      for (const Symbol& symbol : *list)
        // nm leaves the version away where it is the name: the mark that a version exists.
        found.insert(symbol.version.empty() || symbol.version == symbol.name
                         ? symbol.name
                         : symbol.name + (symbol.defined && !symbol.hidden_version ? "@@" : "@") +
                               symbol.version);
    std::vector<std::string> only_found, only_expected;
    std::set_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                        std::back_inserter(only_found));
    std::set_difference(expected.begin(), expected.end(), found.begin(), found.end(),
                        std::back_inserter(only_expected));
    EXPECT_EQ(only_found, std::vector<std::string>()) << all[i];
    EXPECT_EQ(only_expected, std::vector<std::string>()) << all[i];
    ++compared;
    symbols += found.size();
  }
  EXPECT_GT(compared, 10u);
  std::cout << compared << " files, " << symbols << " symbols compared\n";
}

}  // namespace
}  // namespace enginehost::binary
