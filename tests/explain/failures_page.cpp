#include "tests/explain/failures_page.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

#include "host/explain/describe_code.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::explain {
namespace {

struct Family {
  char letter;
  const char* title;
  const char* about;
};
constexpr Family families[] = {
    {'F', "F: files, disk and locks", "Files on disk differ from the published ones, or cannot be written."},
    {'L', "L: linking on Linux", "The files are complete, but the loader cannot link them."},
    {'R', "R: running", "The files load, but their code fails when it runs."},
    {'G', "G: GPUs and their drivers",
     "The build is correct, but the driver is missing, unsuitable or in the wrong place."},
    {'W', "W: Windows",
     "Errors of the Windows loader, read by their numbers because Windows translates its texts. Tests "
     "produce them with Wine's loader, not with the loader of Windows."},
    {'X', "X: macOS", "Errors of the macOS loader, read by their texts."},
};
constexpr Family others[] = {
    {'N', "N: fetching", ""},
    {'M', "M: manifests and trust", ""},
    {'P', "P: policy, consent and calling", ""},
    {'S', "S: choosing a build", ""},
    {'E', "E: reported by the engine", ""},
};

std::string id_of(const Entry& entry) { return std::string(text_of(entry.code).substr(3)); }

std::vector<const Entry*> of(char letter) {
  std::vector<const Entry*> found;
  for (const Entry& entry : all())
    if (text_of(entry.code)[3] == letter) found.push_back(&entry);
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
      for (const Entry* entry : of(family.letter)) number += entry->proof == kinds[kind] ? 1 : 0;
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

// Breaks a paragraph or list item at spaces, with the indent of a list item's next lines.
std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t width = 118;
  std::string lines;
  std::size_t used = 0, at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (used != 0 && used + 1 + word.size() > width) {
      lines += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (used != 0) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += word.size();
  }
  return lines + "\n";
}

void add_item(std::string& text, const char* label, const std::string& value) {
  if (!value.empty()) text += wrapped("- **" + std::string(label) + "**: " + cell(value), 2);
}

std::string section(const Entry& entry, const TestsOfClasses& tests) {
  std::string text = "### " + std::string(text_of(entry.code)) + " " + std::string(entry.title) + "\n\n" +
                     wrapped(cell(entry.meaning), 0) + "\n";
  add_item(text, "known before loading",
           entry.before.empty() ? "it cannot be detected" : std::string(entry.before));
  add_item(text, "known afterwards", std::string(entry.after));
  for (const std::string_view remedy : entry.remedies) add_item(text, "to do", readable(remedy));
  add_item(text, "the build", std::string(consequence(entry.category)));
  std::string mark(name_of(entry.proof));
  if (!entry.unproduced.empty()) mark += ": " + std::string(entry.unproduced);
  add_item(text, "proven", mark);
  if (const auto found = tests.find(id_of(entry)); entry.proof != Proof::none && found != tests.end())
    for (const std::string& test : found->second) text += "  " + wrapped("- " + test, 4);
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
      "```\n"
      "engine-info --code EH-L01\n"
      "engine-info --code EH-L01 --json\n"
      "```\n\n"
      "Every failure has a code, and a code never changes its meaning. The commands above print one entry of "
      "this page.\n"
      "Words in CAPITALS stand for values found on the machine.\n\n"
      "| in an entry | meaning |\n"
      "|---|---|\n"
      "| known before loading | how EngineHost detects the failure without loading the build |\n"
      "| known afterwards | how it detects the failure if the check before could not |\n"
      "| to do | the remedies, the best one first; a failure shows only those that fit it |\n"
      "| the build | what EngineHost does with a build that failed with this code |\n"
      "| proven | how far tests prove the class, and which tests |\n"
      "| exit status | of a command that ends with this failure |\n\n"
      "Tests run on Linux without a GPU. They prove a class in one of four ways:\n\n"
      "| proven | meaning |\n"
      "|---|---|\n"
      "| produced | Tests cause the real failure and check its class, file and cause. For GPUs, NVIDIA's own "
      "runtime runs on a driver library made for the test |\n"
      "| from the file | EngineHost detects the failure in files made for it. The failure itself needs "
      "another "
      "system |\n"
      "| parsed | EngineHost reads the failure's text or number, and compares it with the files if there are "
      "any |\n"
      "| described | The entry explains the failure, but nothing detects it yet |\n\n"
      "Package names for Debian and for the Python package index were compared with the packages, and "
      "FFmpeg's with\n"
      "conda-forge's list. Other names for conda, and those for Fedora, come from their documents and are "
      "not\n"
      "verified: a remedy says \"probably\" before them.\n\n"
      "The target `docs_failures` writes this page from the folder failures and the names of the tests. Do "
      "not "
      "edit it.\n\n" +
      summary() + "\n";
  for (const Family& family : families) {
    text += "## " + std::string(family.title) + "\n\n" + wrapped(family.about, 0) + "\n";
    for (const Entry* entry : of(family.letter)) text += section(*entry, tests);
  }
  text +=
      "## Failures without a load\n\nThese concern fetching, manifests, policy, configuration, calls and the "
      "choice of a build.\n\n";
  for (const Family& family : others) {
    text += "### " + std::string(family.title) +
            "\n\n| code | title | means | to do | exit status |\n|---|---|---|---|---|\n";
    for (const Entry* entry : of(family.letter)) {
      std::string remedies;
      for (const std::string_view remedy : entry->remedies)
        remedies += (remedies.empty() ? "" : "; ") + readable(remedy);
      text += "| " + std::string(text_of(entry->code)) + " | " + cell(entry->title) + " | " +
              cell(entry->meaning) + " | " + cell(remedies) + " | " + exit_status_text(*entry) + " |\n";
    }
    text += "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace enginehost::explain
