#include "tests/binary/foreign_libraries.hpp"

namespace enginehost::binary {
namespace {

// The machine's name for llvm-dlltool.
std::string dlltool_machine(const std::string& machine) {
  if (machine == "x64") return "i386:x86-64";
  return machine == "x86" ? "i386" : "arm64";
}

}  // namespace

std::string ForeignWorkshop::tool(const std::string& name) {
  for (const std::string& candidate : {name + "-14", name})
    if (std::filesystem::exists("/usr/bin/" + candidate)) return "/usr/bin/" + candidate;
  return {};
}

std::string ForeignWorkshop::windows_tools_missing() {
  for (const char* name : {"clang", "lld-link", "llvm-dlltool"})
    if (tool(name).empty()) return std::string(name) + " is not installed";
  return {};
}

std::string ForeignWorkshop::macos_tools_missing() {
  for (const char* name : {"clang", "ld64.lld", "llvm-lipo"})
    if (tool(name).empty()) return std::string(name) + " is not installed";
  return {};
}

std::string ForeignWorkshop::windows_object(const std::string& name, const std::string& target,
                                            const std::string& source) const {
  write(name + ".c", source);
  run({tool("clang"), "--target=" + target, "-fno-ident", "-c", "-o", at(name + ".obj"), at(name + ".c")});
  return at(name + ".obj");
}

std::string ForeignWorkshop::import_library(const std::string& dll, const std::string& machine,
                                            const std::string& exports) const {
  write(dll + ".def", "LIBRARY " + dll + "\nEXPORTS\n" + exports);
  run({tool("llvm-dlltool"), "-m", dlltool_machine(machine), "-d", at(dll + ".def"), "-l", at(dll + ".lib")});
  return at(dll + ".lib");
}

std::filesystem::path ForeignWorkshop::windows_library(const std::string& name, const std::string& machine,
                                                       const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{tool("lld-link"), "/dll", "/noentry", "/machine:" + machine,
                                   "/out:" + at(name)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  run(command);
  return folder() / name;
}

std::filesystem::path ForeignWorkshop::usual_windows_library(const std::string& target,
                                                             const std::string& machine) const {
  const std::string object =
      windows_object("engine", target,
                     "__declspec(dllimport) int one(void); __declspec(dllimport) int two(void);\n"
                     "int __delayLoadHelper2(void) { return 0; }\n"
                     "__declspec(dllexport) int engine(void) { return one() + two(); }\n");
  const std::string first = import_library("first.dll", machine, "  one\n");
  const std::string second = import_library("second.dll", machine, "  two\n");
  return windows_library("engine.dll", machine,
                         {object, first, second, "/delayload:second.dll", "/subsystem:windows,6.02"});
}

std::string ForeignWorkshop::macos_object(const std::string& name, const std::string& arch,
                                          const std::string& source) const {
  write(name + ".c", source);
  const std::string object = at(name + "-" + arch + ".o");
  run({tool("clang"), "--target=" + arch + "-apple-macos12", "-c", "-o", object, at(name + ".c")});
  return object;
}

std::filesystem::path ForeignWorkshop::macos_library(const std::string& name, const std::string& arch,
                                                     const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{tool("ld64.lld"), "-arch", arch,    "-platform_version",
                                   "macos",          "12.3",  "13.1",  "-undefined",
                                   "dynamic_lookup", "-o",    at(name)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  run(command);
  return folder() / name;
}

}  // namespace enginehost::binary
