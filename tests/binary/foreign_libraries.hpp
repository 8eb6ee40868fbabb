// Makes libraries for Windows and macOS with clang and lld, without headers or libraries of those systems.
#pragma once
#include "tests/support/workshop.hpp"

namespace enginehost::binary {

class ForeignWorkshop : public test::Workshop {
 protected:
  // LLVM's tool of this name; "" = not installed.
  static std::string tool(const std::string& name);
  // The reason why nothing can be made for Windows or macOS here; "" = it can.
  static std::string windows_tools_missing();
  static std::string macos_tools_missing();

  std::string at(const std::string& name) const { return (folder() / name).native(); }

  // name.obj from C text; `target` is "x86_64-pc-windows-msvc" and the like.
  std::string windows_object(const std::string& name, const std::string& target,
                             const std::string& source) const;
  // An import library for `dll` with these lines under EXPORTS.
  std::string import_library(const std::string& dll, const std::string& machine,
                             const std::string& exports) const;
  // A DLL; `arguments` go to lld-link after /dll, /machine and /out.
  std::filesystem::path windows_library(const std::string& name, const std::string& machine,
                                        const std::vector<std::string>& arguments) const;
  // engine.dll: needs first.dll, delay-loads second.dll, exports "engine".
  std::filesystem::path usual_windows_library(const std::string& target, const std::string& machine) const;

  // name.o from C text; `arch` is "arm64" or "x86_64".
  std::string macos_object(const std::string& name, const std::string& arch, const std::string& source) const;
  // A dylib (or what `arguments` say) at `name`, linked from them.
  std::filesystem::path macos_library(const std::string& name, const std::string& arch,
                                      const std::vector<std::string>& arguments) const;
};

}  // namespace enginehost::binary
