#include "tests/windows/wine.hpp"
#include "tests/support/paths.hpp"

#include <sys/personality.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "base/text.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* compiler = "x86_64-w64-mingw32-gcc";

const fs::path& prefix() {
  static const fs::path path = ENGINEHOST_WINE_PREFIX;
  return path;
}

// The program that loads DLLs, beside the prefix.
fs::path loader() { return prefix().native() + "-load_library.exe"; }

bool succeeds(std::vector<std::string> command) {
  ChildRequest request;
  request.argv = std::move(command);
  request.deadline = std::chrono::minutes(3);
  const auto outcome = run_child(request);
  return outcome && outcome->succeeded();
}

// Prepares Wine once in each process. Returns the missing part, or "".
std::string prepare() {
  // Later processes get their heap at a fixed place; scripts/wine-run.sh has the reason. Where a sandbox
  // forbids it, about one start in ten thousand fails.
  ::personality(static_cast<unsigned long>(::personality(0xffffffffu)) | ADDR_NO_RANDOMIZE);
  if (!succeeds({"sh", source_path("/tests/windows/prepare_wine.sh"), prefix().native()}))
    return "the Wine prefix " + prefix().native() + " cannot be made";
  if (!succeeds({compiler, "-municode", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o",
                 loader().native(), source_path("/tests/windows/load_library.c")}))
    return "load_library.c cannot be compiled";
  return "";
}

std::string symbol_of(const std::string& file) {
  std::string stem = fs::path(file).stem().native();
  std::replace(stem.begin(), stem.end(), '-', '_');
  return "f_" + stem;
}

std::string with_backslashes(std::string path) {
  std::replace(path.begin(), path.end(), '/', '\\');
  return path;
}

// Wine's log doubles backslashes: L"Z:\\a;C:\\b".
std::string quoted_after(const std::string& line, const std::string& front) {
  const std::size_t at = line.find(front);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + front.size();
  std::string text = line.substr(begin, line.find('"', begin) - begin);
  for (std::size_t i = 0; (i = text.find("\\\\", i)) != std::string::npos; ++i) text.erase(i, 1);
  return to_lower(text);
}

// trace:module:load_dll looking for L"dep.dll" in L"Z:\\engine;C:\\windows\\system32\\"
void read_search(const std::string& line, const std::string& current, WineAnswer& answer) {
  const std::string name = quoted_after(line, "load_dll looking for L\"");
  if (name.empty() || name.find('\\') != std::string::npos || line.find("\" in L\"") == std::string::npos)
    return;
  std::vector<std::string> folders;
  for (std::string folder : split(quoted_after(line, "\" in L\""), ';')) {
    if (folder == ".") folder = to_lower(current);
    if (folder.ends_with('\\')) folder.pop_back();
    if (folder.empty()) continue;  // an empty PATH
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  }
  answer.searched[name] = folders;
}

// err:module:import_dll Library gone.dll (which is needed by L"Z:\\engine\\a.dll") not found
// Wine prints the same for a DLL that was found and lacks one of its own; such a DLL is the needing file of
// another line.
void keep_root_causes(const std::set<std::pair<std::string, std::string>>& lines, WineAnswer& answer) {
  std::set<std::string> needers;
  for (const auto& [name, needer] : lines) needers.insert(needer.substr(needer.find_last_of('\\') + 1));
  for (const auto& [name, needer] : lines)
    if (needers.count(name) == 0) answer.not_found.insert(name + " <- " + needer);
}

WineAnswer read_answer(const ChildOutcome& outcome, const std::string& current) {
  WineAnswer answer;
  answer.said = outcome.output;
  std::istringstream output(outcome.output);
  for (std::string line; std::getline(output, line);) {
    if (line == "loaded") answer.loaded = true;
    if (line.starts_with("error ")) answer.error = static_cast<std::uint32_t>(std::stoul(line.substr(6)));
    if (line == "function") answer.function = "found";
    if (line.starts_with("function error ")) answer.function = line.substr(15);
    if (line.starts_with("returned ") || line.starts_with("exception ")) answer.called = line;
    if (line.starts_with("module ")) answer.modules.push_back(to_lower(line.substr(7)));
  }
  std::set<std::pair<std::string, std::string>> not_found;
  std::istringstream log(outcome.error);
  for (std::string line; std::getline(log, line);) {
    read_search(line, current, answer);
    if (line.find("err:module:import_dll") == std::string::npos) continue;
    answer.said += line + "\n";
    for (const std::string front : {"import_dll Library ", "import_dll Loading library "})
      if (const std::size_t at = line.find(front); at != std::string::npos)
        not_found.emplace(to_lower(line.substr(at + front.size(), line.find(" (which") - at - front.size())),
                          quoted_after(line, "needed by L\""));
  }
  keep_root_causes(not_found, answer);
  return answer;
}

}  // namespace

fs::path wine_system_folder() { return prefix() / "drive_c/windows/system32"; }
fs::path wine_windows_folder() { return prefix() / "drive_c/windows"; }

void Wine::SetUp() {
  Workshop::SetUp();
  if (!has_tool("wine")) GTEST_SKIP() << "Wine is not installed (package wine)";
  if (!has_tool(compiler)) GTEST_SKIP() << "the Windows cross compiler is not installed";
  static const std::string failed = prepare();
  ASSERT_EQ(failed, "");
  for (const char* name : {"app", "engine", "tools"}) fs::create_directories(folder() / name);
  fs::copy_file(loader(), folder() / "app/load_library.exe");
  machine_.drives = {{'C', prefix() / "drive_c"}, {'Z', "/"}};
  machine_.application_directory = windows_path("app");
  machine_.system_directory = "C:\\windows\\system32";
  machine_.system16_directory = "C:\\windows\\system";
  machine_.windows_directory = "C:\\windows";
  machine_.current_directory = windows_path("app");
  machine_.known_dlls = {"kernel32.dll"};
}

std::string Wine::windows_path(const std::string& name) const {
  return "Z:" + with_backslashes((folder() / name).native());
}

fs::path Wine::dll(const std::string& name, const std::vector<std::string>& needs,
                   const std::string& body) const {
  std::string source = body, calls = "1";
  std::vector<std::string> flags{"-nostdlib", "-O1", "-Wl,--entry,0"};
  if (body.find("DllMainCRTStartup") != std::string::npos) flags.pop_back();
  for (const std::string& need : needs) {
    source += "__declspec(dllimport) int " + symbol_of(need) + "(void);\n";
    calls += " + " + symbol_of(need) + "()";
    flags.push_back((folder() / need).native());
  }
  source += "__declspec(dllexport) int " + symbol_of(name) + "(void) { return " + calls + "; }\n";
  return library(name, source, flags, {compiler});
}

std::string Wine::for_arm64(std::string bytes) {
  const std::size_t header = static_cast<unsigned char>(bytes.at(60));
  bytes.at(header + 4) = '\x64';
  bytes.at(header + 5) = '\xaa';
  return bytes;
}

std::string Wine::for_i386() const {
  const fs::path source = write("narrow.c", "__declspec(dllexport) int narrow(void) { return 1; }\n");
  run({"clang-14", "--target=i686-pc-windows-msvc", "-c", "-o", (folder() / "narrow.obj").native(),
       source.native()});
  run({"lld-link-14", "/dll", "/noentry", "/nodefaultlib", "/machine:x86",
       "/out:" + (folder() / "narrow.dll").native(), (folder() / "narrow.obj").native()});
  return bytes_of(folder() / "narrow.dll");
}

WineAnswer Wine::load(const std::string& file, std::uint32_t flags, const std::vector<std::string>& more,
                      const std::vector<std::string>& launcher) const {
  ChildRequest request;
  request.argv = launcher;
  request.argv.insert(request.argv.end(), {"wine", (folder() / "app/load_library.exe").native()});
  request.environment = {
      "WINEPREFIX=" + prefix().native(),   "WINEARCH=win64", "WINEDEBUG=-all,err+module,trace+module",
      "WINEDLLOVERRIDES=mscoree=;mshtml=", "DISPLAY",        "LC_ALL=C.UTF-8"};
  request.keep_bytes = 16u << 20;
  request.deadline = std::chrono::minutes(1);
  auto& argv = request.argv;
  argv.push_back("path=" + join(machine_.path, ";"));
  argv.push_back("current=" + machine_.current_directory);
  if (!machine_.dll_directory.empty()) argv.push_back("dll_directory=" + machine_.dll_directory);
  for (const std::string& added : machine_.added_directories) argv.push_back("added=" + added);
  if (machine_.default_flags != 0) argv.push_back("default_flags=" + std::to_string(machine_.default_flags));
  argv.push_back("flags=" + std::to_string(flags));
  argv.push_back("file=" + windows_path(file));
  argv.insert(argv.end(), more.begin(), more.end());
  const auto outcome = run_child(request);
  if (!outcome || !outcome->succeeded()) {
    ADD_FAILURE() << "wine ended with " << (outcome ? std::to_string(outcome->exit_code) : "nothing") << ": "
                  << (outcome ? outcome->output + outcome->error.substr(0, 2000) : "");
    return {};
  }
  return read_answer(*outcome, machine_.current_directory);
}

linker::WindowsClosure Wine::close_over(const std::string& file, std::uint32_t flags,
                                        const std::vector<std::string>& preloaded) {
  reader_ = linker::Reader();
  return linker::close_windows(machine_, {windows_path(file), preloaded, flags}, reader_);
}

}  // namespace enginehost::test
