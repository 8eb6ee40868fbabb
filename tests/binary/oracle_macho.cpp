#include "tests/binary/oracle_macho.hpp"

#include <map>

#include "host/binary/binary.hpp"

namespace enginehost::binary::oracle {
namespace {

std::string arch_of(const std::string& machine) { return machine == "aarch64" ? "arm64" : machine; }

std::string without_last_zero(const std::string& version) {
  const bool three = std::count(version.begin(), version.end(), '.') == 2;
  return three && version.ends_with(".0") ? version.substr(0, version.size() - 2) : version;
}

// llvm-objdump --macho --private-headers, one load command after the other.
class LoadCommands {
 public:
  Facts read(const std::string& text) {
    std::istringstream lines(text);
    bool header = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("Load command ", 0) == 0) {
        finish();
      } else if (line.rfind("Section", 0) == 0) {
        end_of_section();
        in_section_ = true;
      } else if (line.find("magic") != std::string::npos && line.find("cputype") != std::string::npos) {
        header = true;
      } else if (header) {
        take_header(line);
        header = false;
      } else {
        take_field(line);
      }
    }
    finish();
    facts_.insert("needs " + std::to_string(needed_) + " bytes");
    facts_.insert("memory " + std::to_string(memory_));
    if (tls_ != 0) facts_.insert("thread-local " + std::to_string(tls_));
    return std::move(facts_);
  }

 private:
  void take_header(const std::string& line) {
    std::istringstream words(line);
    const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    if (all.size() < 7) return;
    facts_.insert("type " + all[4]);
    for (const std::string& word : all)
      if (word == "TWOLEVEL" || word == "MH_HAS_TLV_DESCRIPTORS") facts_.insert("flag " + word);
  }

  void take_field(const std::string& line) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) return;
    // Two words that form one key.
    for (const std::string key : {"current version", "compatibility version", "time stamp"})
      if (line.compare(begin, key.size(), key) == 0) {
        fields_[key] = line.substr(begin + key.size() + 1);
        return;
      }
    const std::size_t space = line.find(' ', begin);
    if (space == std::string::npos) return;
    const std::size_t value = line.find_first_not_of(' ', space);
    if (value == std::string::npos) return;
    (in_section_ ? section_ : fields_)[line.substr(begin, space - begin)] = line.substr(value);
  }

  void end_of_section() {
    if (in_section_ &&
        (section_["type"] == "S_THREAD_LOCAL_REGULAR" || section_["type"] == "S_THREAD_LOCAL_ZEROFILL"))
      tls_ += std::stoull(section_["size"], nullptr, 0);
    section_.clear();
    in_section_ = false;
  }

  std::string named(const char* key) {
    const std::string value = fields_[key];
    return value.substr(0, value.rfind(" (offset "));
  }

  void finish() {
    end_of_section();
    const std::string command = fields_["cmd"];
    const std::string versions = " " + fields_["current version"] + " " + fields_["compatibility version"];
    for (const auto& [name, word] : {std::pair{"LC_LOAD_DYLIB", "required"},
                                     {"LC_LOAD_WEAK_DYLIB", "weak"},
                                     {"LC_REEXPORT_DYLIB", "re-exported"},
                                     {"LC_LAZY_LOAD_DYLIB", "lazy"},
                                     {"LC_LOAD_UPWARD_DYLIB", "upward"}})
      if (command == name) facts_.insert(word + (" " + named("name")) + versions);
    if (command == "LC_ID_DYLIB") facts_.insert("is " + named("name") + versions);
    if (command == "LC_RPATH") facts_.insert("rpath " + named("path"));
    if (command == "LC_CODE_SIGNATURE") facts_.insert("signed");
    if (command == "LC_DYLD_CHAINED_FIXUPS") facts_.insert("chained fixups");
    if (command.rfind("LC_ENCRYPTION_INFO", 0) == 0 && fields_["cryptid"] != "0") facts_.insert("encrypted");
    if (command == "LC_UUID") {
      std::string uuid;
      for (char letter : fields_["uuid"])
        if (letter != '-') uuid += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      facts_.insert("uuid " + uuid);
    }
    if (command == "LC_BUILD_VERSION") built_for(fields_["platform"], fields_["minos"], fields_["sdk"]);
    if (command == "LC_VERSION_MIN_MACOSX") built_for("macos", fields_["version"], fields_["sdk"]);
    if (command == "LC_SEGMENT_64" || command == "LC_SEGMENT") {
      const std::uint64_t size = std::stoull(fields_["filesize"]);
      if (size > 0) needed_ = std::max<std::uint64_t>(needed_, std::stoull(fields_["fileoff"]) + size);
      if (fields_["segname"] != "__PAGEZERO") memory_ += std::stoull(fields_["vmsize"], nullptr, 0);
    }
    fields_.clear();
  }

  void built_for(const std::string& platform, const std::string& oldest, const std::string& sdk) {
    facts_.insert("for " + platform + " " + without_last_zero(oldest));
    if (sdk != "n/a" && sdk != "0.0") facts_.insert("sdk " + without_last_zero(sdk));
  }

  Facts facts_;
  std::map<std::string, std::string> fields_, section_;
  bool in_section_ = false;
  std::uint64_t needed_ = 0, memory_ = 0, tls_ = 0;
};

// The undefined symbols that may stay undefined. (llvm-nm also calls a symbol weak when it only refers to a
// weak definition.)
std::set<std::string> weak_imports(const std::string& text, const std::string& machine) {
  constexpr std::uint64_t N_WEAK_REF = 0x40;
  std::set<std::string> weak;
  std::istringstream lines(text);
  std::string name;
  bool this_slice = false, undefined = false;
  for (std::string line; std::getline(lines, line);) {
    const auto [key, value] = key_value(line);
    if (key == "Arch") this_slice = value == machine;
    if (key == "Name") name = value.substr(0, value.rfind(" ("));
    if (key == "Type") undefined = value.rfind("Undef", 0) == 0;
    if (this_slice && undefined && key.rfind("Flags [ (", 0) == 0 &&
        (std::stoull(key.substr(9), nullptr, 0) & N_WEAK_REF) != 0)
      weak.insert(name);
  }
  return weak;
}

// "(undefined) weak external _name (from libSystem)", "(indirect) external _name (for _other)". Only the
// export list shows that a re-exported symbol is weak; the symbol table does not.
void add_nm(const std::string& text, const std::set<std::string>& weak_imports, Facts& facts) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t mark = line.find(" external ");
    if (mark == std::string::npos || line.find("private external") != std::string::npos) continue;
    const std::string before = line.substr(0, mark);
    std::string name = line.substr(mark + 10), library, passed_on;
    const bool weak = before.ends_with(" weak");
    if (const std::size_t bracket = name.find(" ("); bracket != std::string::npos) {
      const std::string note = name.substr(bracket + 2, name.size() - bracket - 3);
      name = name.substr(0, bracket);
      if (note.rfind("from ", 0) == 0) library = note.substr(5);
      if (note.rfind("for ", 0) == 0) passed_on = note.substr(4);
    }
    if (before.find("(undefined)") != std::string::npos)
      facts.insert("imports " + name + " of " + library + (weak_imports.contains(name) ? " weak" : ""));
    else if (!passed_on.empty())
      facts.insert("exports " + name + " as " + passed_on);
    else
      facts.insert("exports " + name + (weak ? " weak" : ""));
  }
}

std::size_t offset_of_slice(const BinaryInfo& info, const std::string& machine) {
  for (const Slice& slice : info.slices)
    if (slice.machine == machine) return slice.offset;
  return 0;
}

}  // namespace

// Shortened as in llvm-nm: the framework's name, or the file's without the last one or two digits of its
// version ("libz.1" for "libz.1.3.1.dylib"); otherwise the path.
std::string short_library_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().native();
  if (path.find(name + ".framework/") != std::string::npos) return name;
  if (!name.ends_with(".dylib")) return path;
  std::string shortened = name.substr(0, name.size() - 6);
  for (int digit = 0; digit < 2; ++digit)
    if (shortened.size() > 2 && shortened[shortened.size() - 2] == '.')
      shortened.resize(shortened.size() - 2);
  return shortened;
}

Facts ask_about_macho(const MachoOracles& oracles, const std::string& file, const std::string& machine) {
  const std::string arch = "--arch=" + arch_of(machine);
  Facts facts = LoadCommands().read(ask({oracles.objdump, "--macho", "--private-headers", arch, file}).text);
  const std::set<std::string> weak = weak_imports(ask({oracles.readobj, "--symbols", file}).text, machine);
  add_nm(ask({oracles.nm, "-m", arch, file}).text, weak, facts);
  return facts;
}

Facts our_macho_facts(const std::string& file, const std::string& machine) {
  Facts facts;
  const Result<BinaryInfo> info = read_binary(file, machine);
  const Result<SymbolTable> table = read_symbols(file, machine);
  if (!info || !table) {
    ADD_FAILURE() << file << " cannot be read";
    return facts;
  }
  EXPECT_TRUE(table->complete) << file;
  EXPECT_EQ(info->machine, machine) << file;
  // A program is no library (EH-F10) but is still read.
  const bool program = info->type == Type::executable;
  EXPECT_TRUE(program || info->problems.empty()) << file << ": " << info->problems.front().code;
  const MachoFacts& macho = info->macho;
  std::string type = macho.file_type == "executable" ? "execute" : macho.file_type;
  for (char& letter : type) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  facts.insert("type " + type);
  if (macho.two_level_namespace) facts.insert("flag TWOLEVEL");
  if (macho.thread_locals) facts.insert("flag MH_HAS_TLV_DESCRIPTORS");
  for (const DylibNeed& need : macho.dylibs)
    facts.insert(std::string(name_of(need.how)) + " " + need.name + " " + need.current_version + " " +
                 need.compatibility_version);
  if (!info->soname.empty())
    facts.insert("is " + info->soname + " " + macho.current_version + " " + macho.compatibility_version);
  for (const std::string& path : info->rpath) facts.insert("rpath " + path);
  if (info->code_signed) facts.insert("signed");
  if (macho.chained_fixups) facts.insert("chained fixups");
  if (macho.encrypted) facts.insert("encrypted");
  if (!info->build_id.empty()) facts.insert("uuid " + info->build_id);
  if (!macho.platform.empty()) facts.insert("for " + macho.platform + " " + info->minimum_os);
  if (!macho.sdk.empty()) facts.insert("sdk " + macho.sdk);
  facts.insert("needs " + std::to_string(info->needed_size - offset_of_slice(*info, machine)) + " bytes");
  facts.insert("memory " + std::to_string(info->memory_size));
  if (info->tls_size != 0) facts.insert("thread-local " + std::to_string(info->tls_size));
  for (const Symbol& symbol : table->exports)
    facts.insert("exports " + symbol.name +
                 (!symbol.forwarder.empty() ? " as " + symbol.forwarder
                  : symbol.weak             ? " weak"
                                            : ""));
  for (const Symbol& symbol : table->imports)
    facts.insert("imports " + symbol.name + " of " + short_library_name(symbol.library) +
                 (symbol.weak ? " weak" : ""));
  return facts;
}

}  // namespace enginehost::binary::oracle
