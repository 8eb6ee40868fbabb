#include "tests/explain/failures_page.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

#include "host/explain/describe_code.hpp"
#include "host/explain/explain.hpp"
#include "host/explain/proven.hpp"

namespace enginehost::explain {
namespace {

struct Family {
  char letter;
  const char* title;
  const char* about;
};
constexpr Family families[] = {
    {'F', "F: files, disk and locks",
     "The files on disk differ from the published ones, or cannot be written."},
    {'L', "L: linking on Linux", "The files are whole, but the loader cannot bring them together."},
    {'R', "R: running", "The files load, and their code fails."},
    {'G', "G: GPUs and their drivers",
     "The build is intact; the driver, or its installation on this machine, is not."},
    {'W', "W: Windows",
     "Errors of Windows' loader, by number, because its texts are translated. Here Wine's loader produces "
     "them, not Windows' own."},
    {'X', "X: macOS", "Errors of macOS's loader, by its texts."},
};
constexpr Family others[] = {
    {'N', "N: fetching", ""},
    {'M', "M: manifests and trust", ""},
    {'P', "P: policy, consent and calling", ""},
    {'S', "S: choosing a build", ""},
    {'E', "E: reported by the engine", ""},
};

std::string id_of(const Entry& entry) { return std::string(entry.code.substr(3)); }

std::vector<const Entry*> of(char letter) {
  std::vector<const Entry*> found;
  for (const Entry& entry : all())
    if (entry.code[3] == letter) found.push_back(&entry);
  return found;
}

// Markdown reads "|" as the end of a cell and "<" as a tag.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    if (c == '<')
      escaped += "&lt;";
    else
      escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string summary() {
  constexpr Proof kinds[] = {Proof::produced, Proof::from_file, Proof::parsed, Proof::described};
  std::string text =
      "| classes | produced | from the file | parsed | described | all |\n|---|---|---|---|---|---|\n";
  int sums[4] = {};
  for (const Family& family : families) {
    text += "| " + std::string(family.title);
    std::size_t count = 0;
    for (std::size_t kind = 0; kind < std::size(kinds); ++kind) {
      int number = 0;
      for (const Entry* entry : of(family.letter)) number += proven(entry->code).how == kinds[kind] ? 1 : 0;
      sums[kind] += number;
      count += static_cast<std::size_t>(number);
      text += " | " + std::to_string(number);
    }
    text += " | " + std::to_string(count) + " |\n";
  }
  text += "| all";
  for (const int sum : sums) text += " | " + std::to_string(sum);
  return text + " | " + std::to_string(sums[0] + sums[1] + sums[2] + sums[3]) + " |\n";
}

void add_item(std::string& text, const char* label, const std::string& value) {
  if (!value.empty()) text += "- **" + std::string(label) + "**: " + cell(value) + "\n";
}

std::string section(const Entry& entry, const TestsOfClasses& tests) {
  std::string text = "### " + std::string(entry.code) + " " + std::string(entry.title) + "\n\n" +
                     cell(entry.meaning) + "\n\n";
  add_item(text, "known before loading", entry.before.empty() ? "it cannot be" : std::string(entry.before));
  add_item(text, "known afterwards", std::string(entry.after));
  for (const std::string_view remedy : entry.remedies) add_item(text, "to do", readable(remedy));
  add_item(text, "the build", std::string(consequence(entry.category)));
  const Proven how = proven(entry.code);
  std::string mark(name_of(how.how));
  if (!how.reason.empty()) mark += ": " + std::string(how.reason);
  add_item(text, "proven", mark);
  if (const auto found = tests.find(id_of(entry)); how.how != Proof::none && found != tests.end())
    for (const std::string& test : found->second) text += "  - " + test + "\n";
  add_item(text, "exit status", exit_status_text(entry));
  return text + "\n";
}

}  // namespace

TestsOfClasses tests_of_classes(const std::filesystem::path& tests) {
  const std::regex test_case("TEST(?:_F|_P)?\\(\\s*(\\w+)\\s*,\\s*(\\w+)\\s*\\)");
  // "X03X04AnotherFormat" names two classes.
  const std::regex ids("(^|[^A-Z0-9])((?:[FLRGWX][0-9][0-9])+)(?![0-9])");
  TestsOfClasses found;
  for (const auto& file : std::filesystem::recursive_directory_iterator(tests)) {
    const std::filesystem::path inside = std::filesystem::relative(file.path(), tests);
    if (file.path().extension() != ".cpp" || *inside.begin() == "explain") continue;
    std::ifstream stream(file.path());
    const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    for (std::sregex_iterator at(text.begin(), text.end(), test_case), end; at != end; ++at) {
      const std::string name = (*at)[2];
      for (std::sregex_iterator run(name.begin(), name.end(), ids); run != end; ++run)
        for (std::string rest = (*run)[2]; !rest.empty(); rest.erase(0, 3))
          found[rest.substr(0, 3)].push_back((*at)[1].str() + "." + name + " (tests/" +
                                             inside.generic_string() + ")");
    }
  }
  for (auto& [code, names] : found) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  return found;
}

std::string failures_page(const TestsOfClasses& tests) {
  std::string text =
      "# Failures\n\n"
      "Every failure has a code, which never changes its meaning. `engine-info --code EH-L01` prints the "
      "text "
      "of this\n"
      "page; `--json` gives the same to programs. Words in CAPITALS stand for values of the machine.\n\n"
      "The target `docs_failures` writes this page from the catalog (host/explain/catalog) and the names of "
      "the\n"
      "tests. Do not edit it by hand: a test compares it with both.\n\n"
      "Each class has a mark that says how far it is proven. EngineHost is developed on Linux without a "
      "GPU.\n\n"
      "- *produced*: the listed tests cause the failure, and class, file and cause are reported. For GPUs, "
      "NVIDIA's\n"
      "  own runtime runs over a fake driver library.\n"
      "- *from the file*: the class is recognized in files made for it; the failure itself needs another "
      "system.\n"
      "- *parsed*: the class is recognized by the text or number of the failure, compared with the files if "
      "there are\n"
      "  any.\n"
      "- *described*: the class is only explained; nothing detects it yet.\n\n"
      "The package names in remedies were compared with Debian's packages and with the package index. Those "
      "of conda\n"
      "and Fedora come from their documents and are unverified: a remedy says \"probably\" before them.\n\n" +
      summary() + "\n";
  for (const Family& family : families) {
    text += "## " + std::string(family.title) + "\n\n" + family.about + "\n\n";
    for (const Entry* entry : of(family.letter)) text += section(*entry, tests);
  }
  text += "## Failures without a load\n\nFetching, choosing, configuration, calling.\n\n";
  for (const Family& family : others) {
    text += "### " + std::string(family.title) +
            "\n\n| code | title | means | to do | exit status |\n|---|---|---|---|---|\n";
    for (const Entry* entry : of(family.letter)) {
      std::string remedies;
      for (const std::string_view remedy : entry->remedies)
        remedies += (remedies.empty() ? "" : "; ") + readable(remedy);
      text += "| " + std::string(entry->code) + " | " + cell(entry->title) + " | " + cell(entry->meaning) +
              " | " + cell(remedies) + " | " + exit_status_text(*entry) + " |\n";
    }
    text += "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace enginehost::explain
