#include "tests/binary/oracle_pe.hpp"

#include <map>

#include "host/binary/binary.hpp"

namespace enginehost::binary::oracle {
namespace {

std::uint64_t number(const std::string& text) { return text.empty() ? 0 : std::stoull(text, nullptr, 0); }

// "NAME (7)": the number is an ordinal when there is no name, else a hint.
std::string wanted(const std::string& value) {
  const std::size_t bracket = value.rfind(" (");
  const std::string name = value.substr(0, bracket);
  return name.empty() ? "#" + value.substr(bracket + 2, value.size() - bracket - 3) : name;
}

std::string machine_key_part(const std::string& value) {
  for (const auto& [begin, word] : {std::pair{"IMAGE_FILE_MACHINE_AMD64", "x86_64"},
                                    {"IMAGE_FILE_MACHINE_ARM64", "aarch64"},
                                    {"IMAGE_FILE_MACHINE_I386", "i386"}})
    if (value.rfind(begin, 0) == 0) return word;
  return value;
}

// The text of llvm-readobj, read line by line.
class Answer {
 public:
  Facts read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) take(line);
    finish();
    return std::move(facts_);
  }

 private:
  void take(const std::string& line) {
    if (line.empty()) return;
    const bool outermost = line.front() != ' ';
    const auto [key, value] = key_value(line);
    if (outermost && line.back() != ']' && line.back() != '}') part_ = key.substr(0, key.find(' '));
    if (part_ == "ImageFileHeader") {
      if (key == "Machine") machine_ = machine_key_part(value);
      if (key.rfind("IMAGE_FILE_DLL", 0) == 0) facts_.insert("is a DLL");
    } else if (part_ == "ImageOptionalHeader") {
      optional_header(key, value);
    } else if (part_ == "Sections") {
      section(key, value);
    } else if (part_ == "Import" || part_ == "DelayImport") {
      const std::string verb = part_ == "Import" ? "imports " : "delays ";
      if (key == "Name") facts_.insert(verb + (library_ = value));
      if (key == "Symbol") facts_.insert(verb + library_ + "!" + wanted(value));
    } else if (part_ == "TLSDirectory") {
      tls_[key] = value;
    } else if (part_ == "LoadConfig") {
      if (key == "DependentLoadFlags" && number(value) != 0)
        facts_.insert("dependent load flags " + std::to_string(number(value)));
      // Code for two machines: the header names only the one that an older system runs.
      if (key == "CHPEMetadataPointer" && number(value) != 0)
        machine_ = machine_ == "aarch64" ? "arm64x" : machine_ == "x86_64" ? "arm64ec" : machine_;
    }
  }

  void optional_header(const std::string& key, const std::string& value) {
    header_[key] = value;
    for (const auto& [name, word] : {std::pair{"HIGH_ENTROPY_VA", "high entropy"},
                                     {"DYNAMIC_BASE", "dynamic base"},
                                     {"FORCE_INTEGRITY", "force integrity"},
                                     {"NX_COMPAT", "no execute"},
                                     {"NO_ISOLATION", "no isolation"},
                                     {"APPCONTAINER", "app container"},
                                     {"GUARD_CF", "control flow guard"}})
      if (key.rfind(std::string("IMAGE_DLL_CHARACTERISTICS_") + name, 0) == 0) facts_.insert(word);
  }

  void section(const std::string& key, const std::string& value) {
    if (key == "RawDataSize") raw_size_ = number(value);
    if (key == "PointerToRawData" && raw_size_ > 0 && number(value) > 0)
      needed_ = std::max(needed_, number(value) + raw_size_);
  }

  void finish() {
    auto version = [&](const std::string& what) {
      return header_["Major" + what] + "." + header_["Minor" + what];
    };
    facts_.insert("machine " + machine_);
    facts_.insert("linker " + version("LinkerVersion"));
    facts_.insert("system " + version("OperatingSystemVersion"));
    facts_.insert("subsystem version " + version("SubsystemVersion"));
    facts_.insert("memory " + header_["SizeOfImage"]);
    facts_.insert("base " + std::to_string(number(header_["ImageBase"])));
    auto present = [&](const char* key, const char* word) {
      if (number(header_[key]) != 0) facts_.insert(word);
    };
    present("CertificateTableRVA", "signed");
    present("BoundImportRVA", "bound");
    present("CLRRuntimeHeaderRVA", "managed");
    present("ResourceTableRVA", "resources");
    needed_ =
        std::max(needed_, number(header_["CertificateTableRVA"]) + number(header_["CertificateTableSize"]));
    facts_.insert("needs " + std::to_string(needed_) + " bytes");
    const std::uint64_t tls = number(tls_["EndAddressOfRawData"]) - number(tls_["StartAddressOfRawData"]) +
                              number(tls_["SizeOfZeroFill"]);
    if (tls != 0) facts_.insert("thread-local " + std::to_string(tls));
  }

  Facts facts_;
  std::string part_, library_, machine_;
  std::map<std::string, std::string> header_, tls_;
  std::uint64_t raw_size_ = 0, needed_ = 0;
};

// The export table of llvm-objdump -p: "  12   0x1018  name" or "  12   name (forwarded to DLL.other)". An
// export without a name does not even end its line.
void add_objdump_exports(const std::string& text, Facts& facts) {
  std::istringstream lines(text);
  bool inside = false;
  auto all_digits = [](const std::string& word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("Export Table:", 0) == 0) inside = true;
    if (inside && line.empty()) return;
    std::istringstream split(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(split), {}};
    if (!inside || words.empty() || !all_digits(words[0])) continue;
    for (std::size_t i = 0; i < words.size();) {
      std::string fact = "exports #" + words[i++] + " ";
      const bool gap = i < words.size() && words[i] == "0";
      if (i < words.size() && (gap || words[i].rfind("0x", 0) == 0)) ++i;
      if (i < words.size() && !all_digits(words[i]) && words[i] != "(forwarded") fact += words[i++];
      if (i + 2 < words.size() && words[i] == "(forwarded") {
        fact += " as " + words[i + 2].substr(0, words[i + 2].size() - 1);
        i += 3;
      }
      if (!gap) facts.insert(fact);
    }
  }
}

void add_symbols(const SymbolTable& table, Facts& facts) {
  for (const Symbol& symbol : table.imports)
    facts.insert(std::string(symbol.delayed ? "delays " : "imports ") + symbol.library + "!" +
                 (symbol.name.empty() ? "#" + std::to_string(symbol.ordinal) : symbol.name));
  // The oracle prints only the first of several names of one ordinal.
  std::set<std::uint32_t> reported;
  for (const Symbol& symbol : table.exports)
    if (reported.insert(symbol.ordinal).second)
      facts.insert("exports #" + std::to_string(symbol.ordinal) + " " + symbol.name +
                   (symbol.forwarder.empty() ? "" : " as " + symbol.forwarder));
}

}  // namespace

Facts our_pe_facts(const std::string& file) {
  Facts facts;
  const Result<BinaryInfo> info = read_binary(file);
  const Result<SymbolTable> table = read_symbols(file);
  if (!info || !table) {
    ADD_FAILURE() << file << " cannot be read";
    return facts;
  }
  EXPECT_TRUE(table->complete) << file;
  for (const Diagnosis& problem : info->problems)
    if (problem.code != "EH-F10" || info->type == Type::shared_library)
      ADD_FAILURE() << file << ": " << problem.code << " " << problem.value(Key::problem);
  facts.insert("machine " + info->machine);
  const PeFacts& pe = info->pe;
  auto mark = [&](bool set, const char* word) {
    if (set) facts.insert(word);
  };
  mark(info->type == Type::shared_library, "is a DLL");
  mark(pe.high_entropy_addresses, "high entropy");
  mark(pe.dynamic_base, "dynamic base");
  mark(pe.force_integrity, "force integrity");
  mark(pe.no_execute, "no execute");
  mark(pe.no_isolation, "no isolation");
  mark(pe.app_container, "app container");
  mark(pe.control_flow_guard, "control flow guard");
  mark(info->code_signed, "signed");
  mark(pe.bound_imports, "bound");
  mark(pe.managed, "managed");
  mark(pe.has_resources, "resources");
  for (const std::string& name : info->needed) facts.insert("imports " + name);
  for (const std::string& name : info->delayed) facts.insert("delays " + name);
  facts.insert("linker " + pe.linker_version);
  facts.insert("system " + pe.system_version);
  facts.insert("subsystem version " + info->minimum_os);
  facts.insert("memory " + std::to_string(info->memory_size));
  facts.insert("base " + std::to_string(pe.image_base));
  facts.insert("needs " + std::to_string(info->needed_size) + " bytes");
  if (info->tls_size != 0) facts.insert("thread-local " + std::to_string(info->tls_size));
  if (pe.dependent_load_flags != 0)
    facts.insert("dependent load flags " + std::to_string(pe.dependent_load_flags));
  add_symbols(*table, facts);
  return facts;
}

std::map<std::string, Facts> ask_about_pe(const std::string& readobj, const std::string& objdump,
                                          const std::vector<std::string>& files) {
  const std::map<std::string, std::string> headers = ask_in_batches(
      {readobj, "--file-headers", "--sections", "--coff-imports", "--coff-tls-directory",
       "--coff-load-config"},
      files, [](const std::string& line) { return line.rfind("File: ", 0) == 0 ? line.substr(6) : ""; });
  const std::map<std::string, std::string> exports =
      ask_in_batches({objdump, "-p"}, files, [](const std::string& line) {
        const std::size_t end = line.find(":\tfile format ");
        return end == std::string::npos ? "" : line.substr(0, end);
      });
  std::map<std::string, Facts> answers;
  for (const auto& [file, text] : headers) {
    Facts& facts = answers[file] = Answer().read(text);
    if (const auto found = exports.find(file); found != exports.end())
      add_objdump_exports(found->second, facts);
  }
  return answers;
}

}  // namespace enginehost::binary::oracle
