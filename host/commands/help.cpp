#include "host/commands/help.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::commands {
namespace {

std::vector<HelpText>& texts() {
  static auto& all = *new std::vector<HelpText>{
      {"engine-info",
       {{"engine-info", "what opens here"},
        {"engine-info pytorch", "open it and show what you got"},
        {"engine-info pytorch@2.0 --plan", "decide only; nothing is downloaded"},
        {"engine-info --inspect libfoo.so", "would this library load, and if not, why"}},
       "settings.md"},
      {"engine-cache",
       {{"engine-cache list", "what is installed"},
        {"engine-cache fetch onnxruntime@1.24", "install a build without opening it"}},
       "storage.md"},
      {"engine-cache fetch",
       {{"engine-cache fetch onnxruntime@1.24 --flavor cpu", "install this flavor for this machine"},
        {"engine-cache fetch onnxruntime --platform board.json", "install what another machine needs"}},
       "admin.md"},
      {"engine-cache update",
       {{"engine-cache update", "which installed engines are outdated"},
        {"engine-cache update --install onnxruntime", "fetch and prove the newest build that fits"}},
       "admin.md"},
      {"engine-cache rollback",
       {{"engine-cache rollback onnxruntime", "use the version again that was used before"},
        {"engine-cache update --install onnxruntime", "end the rollback"}},
       "admin.md"},
      {"engine-cache list",
       {{"engine-cache list", "the builds of your cache and of the layers"},
        {"engine-cache list --json", "the same for a program"}},
       "storage.md"},
      {"engine-cache path",
       {{"engine-cache path", "print the folder"},
        {"du -sh \"$(engine-cache path)\"", "how much disk it takes"}},
       "storage.md"},
      {"engine-cache verify",
       {{"engine-cache verify --deep", "read every byte of every build"},
        {"engine-cache verify --deep --repair onnxruntime", "repair one build"}},
       "storage.md"},
      {"engine-cache remove",
       {{"engine-cache remove mxnet", "the only installed build of an engine"},
        {"engine-cache remove onnxruntime@1.24", "one version of it"}},
       "storage.md"},
      {"engine-cache gc",
       {{"engine-cache gc --max-size 20G", "remove the longest unused builds"},
        {"engine-cache gc --max-age 30d --dry-run", "show what would be removed"}},
       "storage.md"},
      {"engine-cache pin",
       {{"engine-cache pin onnxruntime@1.24", "keep this version"},
        {"engine-cache pin mxnet", "keep the only installed build of an engine"}},
       "storage.md"},
      {"engine-cache unpin",
       {{"engine-cache unpin onnxruntime@1.24", "let gc remove it again"},
        {"engine-cache unpin mxnet", "by the name of the engine"}},
       "storage.md"},
      {"engine-cache quarantine",
       {{"engine-cache quarantine list", "which builds are not used here, and why"},
        {"engine-cache quarantine clear pytorch", "try a build again"}},
       "quarantine.md"},
      {"engine-cache quarantine list",
       {{"engine-cache quarantine list", "one line for each build"},
        {"engine-cache quarantine list --json", "with the evidence"}},
       "quarantine.md"},
      {"engine-cache quarantine show",
       {{"engine-cache quarantine show pytorch", "when it failed, how, and what ends the quarantine"},
        {"engine-cache quarantine show pytorch --json", "the same for a program"}},
       "quarantine.md"},
      {"engine-cache quarantine clear",
       {{"engine-cache quarantine clear pytorch", "try this build again"},
        {"engine-cache quarantine clear --all", "try all again, except disabled ones"}},
       "quarantine.md"},
      {"engine-cache quarantine disable",
       {{"engine-cache quarantine disable pytorch@2.0", "never use this version here"},
        {"engine-cache quarantine disable mxnet", "by the name of the engine"}},
       "quarantine.md"},
      {"engine-cache quarantine enable",
       {{"engine-cache quarantine enable pytorch@2.0", "use it again"},
        {"engine-cache quarantine enable mxnet", "by the name of the engine"}},
       "quarantine.md"},
      {"engine-cache licenses",
       {{"engine-cache licenses list", "what covers the engines, and who accepted it"},
        {"engine-cache licenses accept LicenseRef-vendor", "read a text and accept it"}},
       "policy.md"},
      {"engine-cache licenses list",
       {{"engine-cache licenses list", "every license that a known build names"},
        {"engine-cache licenses list --json", "with the records of acceptance"}},
       "policy.md"},
      {"engine-cache licenses show",
       {{"engine-cache licenses show LicenseRef-vendor", "print its text"},
        {"engine-cache licenses show LicenseRef-vendor --json", "with the digest of the text"}},
       "policy.md"},
      {"engine-cache licenses accept",
       {{"engine-cache licenses accept LicenseRef-vendor", "show the text and record your acceptance"},
        {"engine-cache licenses accept LicenseRef-vendor --text eula.txt", "with a text from a file"}},
       "policy.md"},
      {"engine-cache trust",
       {{"engine-cache trust list", "which keys count here"},
        {"engine-cache trust add safe.pub --repository https://engines.example/engines",
         "trust a publisher for one repository"}},
       "publishing.md"},
      {"engine-cache trust add",
       {{"engine-cache trust add safe.pub --repository https://engines.example/engines",
         "for one repository"},
        {"engine-cache trust add safe.pub --engines toy", "for every repository, and builds of one engine"}},
       "publishing.md"},
      {"engine-cache trust list",
       {{"engine-cache trust list", "keys, and the state of signed repositories"},
        {"engine-cache trust list --json", "the same for a program"}},
       "publishing.md"},
      {"engine-cache trust remove",
       {{"engine-cache trust remove 7E15A53C6D9C2A10", "by the id that trust list shows"},
        {"engine-cache trust remove 7E15", "by a unique beginning of it"}},
       "publishing.md"},
      {"engine-cache trust forget",
       {{"engine-cache trust forget https://engines.example/engines",
         "its versions and blocks, not its keys"},
        {"engine-cache trust forget /srv/engines --json", "the same for a program"}},
       "publishing.md"},
      {"engine-cache import",
       {{"engine-cache import engines.bundle", "into your cache"},
        {"engine-cache import engines.bundle --layer system", "for all users of this machine"}},
       "admin.md"},
      {"engine-cache request",
       {{"engine-cache request lab.request onnxruntime@1.27", "ask for one engine"},
        {"engine-cache request lab.request", "ask for newer builds of all installed engines"}},
       "admin.md"},
      {"engine-cache sdk",
       {{"engine-cache sdk onnxruntime ort", "the newest version, for find_package(onnxruntime)"},
        {"engine-cache sdk pytorch@2.15 libtorch", "this version, for find_package(Torch)"}},
       "engine-sdk.md"},
      {"engine-cache lock",
       {{"engine-cache lock onnxruntime -o enginehost.lock", "lock what this machine opens"},
        {"engine-cache lock pytorch@2.15 -o enginehost.lock --platform windows-x86_64",
         "add an engine of another system"}},
       "lock-file.md"}};
  return all;
}

constexpr std::size_t least_columns = 40;
constexpr std::size_t widest_names = 24;  // longer names have their description on the next line

struct Row {
  std::string name, meaning;
};

// Returns the words of a text in lines of at most `width`. A longer word stands alone; "[env: NAME]" is one
// word.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t begin = text.starts_with("[env: ") ? text.find(' ') + 1 : 0;
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string paragraph(std::string_view text, std::size_t columns) {
  std::string all;
  for (const std::string& line : wrapped(text, columns)) all += line + "\n";
  return all;
}

// Two columns. `widest`: names up to this width have their meaning beside them.
std::string table(const std::vector<Row>& rows, std::size_t columns, std::size_t widest) {
  std::size_t width = 0;
  for (const Row& row : rows)
    if (row.name.size() <= widest) width = std::max(width, row.name.size());
  if (width == 0) width = std::min(widest, std::size_t{6});
  const std::size_t left = width + 4;
  std::string text;
  for (const Row& row : rows) {
    text += "  " + row.name;
    std::size_t at = row.name.size() + 2;
    for (const std::string& line : wrapped(row.meaning, columns - left)) {
      if (at + 2 > left) {
        text += "\n";
        at = 0;
      }
      text.append(left - at, ' ');
      text += line;
      at = left;
    }
    text += "\n";
  }
  return text;
}

// "--flavor FLAVOR", "-h, --help", "ID...".
std::string name_of(const CLI::Option& option) {
  if (!option.nonpositional()) {
    const std::string name = option.get_name();
    const bool several = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
    return several && name.find("...") == std::string::npos ? name + "..." : name;
  }
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  std::string text = join(names, ", ");
  // CLI11 appends the accepted values after a colon; the description says them in words.
  const std::string value = option.get_type_name();
  if (option.get_items_expected_min() > 0 && option.get_type_size() > 0)
    text += " " + value.substr(0, value.find(':'));
  return text;
}

std::string usage(const CLI::App& command) {
  std::string text = path_of_command(command);
  for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    if (option->nonpositional()) continue;
    text += option->get_required() ? " " + name_of(*option) : " [" + name_of(*option) + "]";
  }
  for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; }))
    if (option->nonpositional() && option->get_required()) text += " " + name_of(*option);
  if (command.get_require_subcommand_min() > 0) text += " SUBCOMMAND";
  return text + " [OPTIONS]";
}

std::string as_sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text + ".";
}

std::string examples(const HelpText& help, std::size_t columns) {
  std::vector<Row> rows;
  for (const HelpText::Example& example : help.examples)
    rows.push_back({std::string(example.command), std::string(example.meaning)});
  return "\nExamples:\n" + table(rows, columns, columns / 2);
}

std::string subcommands(const CLI::App& command, std::size_t columns) {
  std::vector<Row> rows;
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    rows.push_back({below->get_name(), below->get_description()});
  return rows.empty() ? "" : "\nSubcommands:\n" + table(rows, columns, widest_names);
}

std::string flags(const CLI::App& command, std::size_t columns) {
  struct Group {
    std::string name;
    std::vector<Row> rows;
  };
  std::vector<Group> groups{{"Arguments", {}}};
  for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    const bool help = option == command.get_help_ptr();
    // --help is defined first and belongs last.
    if (help) continue;
    const std::string name = option->nonpositional() ? option->get_group() : "Arguments";
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& one) { return one.name == name; });
    if (at == groups.end()) at = groups.insert(groups.end(), Group{name, {}});
    at->rows.push_back({name_of(*option), option->get_description()});
  }
  if (command.get_help_ptr() != nullptr) {
    if (groups.size() == 1) groups.push_back({"Options", {}});
    groups.back().rows.push_back({name_of(*command.get_help_ptr()), "print this help"});
  }
  std::string text;
  for (const Group& group : groups)
    if (!group.rows.empty()) text += "\n" + group.name + ":\n" + table(group.rows, columns, widest_names);
  return text;
}

// The page's place where this program was installed, else its name in the source tree.
std::string place_of_page(std::string_view page) {
  const std::filesystem::path name = path_of("docs/" + std::string(page));
  const std::filesystem::path file =
      executable_folder().parent_path() / "share" / "doc" / "enginehost" / name;
  std::error_code error;
  return path_text(std::filesystem::exists(file, error) ? file : name);
}

}  // namespace

void add_help_texts(const std::vector<HelpText>& more) {
  texts().insert(texts().end(), more.begin(), more.end());
}

const HelpText* help_text_of(std::string_view command) {
  const auto& all = texts();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const HelpText& one) { return one.command == command; });
  return found == all.end() ? nullptr : &*found;
}

std::string path_of_command(const CLI::App& command) {
  std::string path = command.get_name();
  for (const CLI::App* above = command.get_parent(); above != nullptr; above = above->get_parent())
    path = above->get_name() + " " + path;
  return path;
}

std::string help_of(const CLI::App& command, std::size_t columns) {
  columns = std::max(columns, least_columns);
  const HelpText* const help = help_text_of(path_of_command(command));
  std::string text = paragraph("Usage: " + usage(command), columns) + "\n" +
                     paragraph(as_sentence(command.get_description()), columns);
  if (help != nullptr) text += examples(*help, columns);
  text += subcommands(command, columns) + flags(command, columns);
  const CLI::App* top = &command;
  while (top->get_parent() != nullptr) top = top->get_parent();
  if (top != &command)
    text += "\n" + paragraph("The flags of every subcommand: " + top->get_name() + " --help", columns);
  if (help != nullptr) text += "\ndocs: " + place_of_page(help->page) + "\n";
  return text;
}

}  // namespace enginehost::commands
