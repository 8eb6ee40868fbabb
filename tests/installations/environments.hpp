// Environments laid out as by pip and conda, around small libraries made by the machine's compiler.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "host/installations/in_place.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::test {

class Environments : public Workshop {
 protected:
  // The name that libc10 exports shows the C++ ABI, as in the real library.
  static std::string c10_source(bool cxx11) {
    return std::string("void ") +
           (cxx11 ? "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_"
                    "traitsIcESaIcEEE"
                  : "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs") +
           "(void) {}\n";
  }

  // libtorch_cpu and libc10 in that folder, as in a wheel.
  void make_torch(const std::string& folder, bool cxx11 = true,
                  const std::vector<std::string>& compiler = {"gcc"}) const {
    library(folder + "/libc10.so", c10_source(cxx11), {"-Wl,-soname,libc10.so"}, compiler);
    library(folder + "/libgomp-a34b3233.so.1", "int omp(void) { return 1; }",
            {"-Wl,-soname,libgomp-a34b3233.so.1"}, compiler);
    library(folder + "/libtorch_cpu.so", "#include <stdio.h>\nint torch(void) { return puts(\"t\"); }",
            {"-Wl,-soname,libtorch_cpu.so", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed",
             at(folder + "/libc10.so"), at(folder + "/libgomp-a34b3233.so.1")},
            compiler);
  }

  void make_package(const std::string& folder, const std::string& name, const std::string& version) const {
    write(folder + "/" + name + "-" + version + ".dist-info/METADATA",
          "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n\nVersion: 9.9\n");
  }

  void make_conda_record(const std::string& prefix, const std::string& name,
                         const std::string& version) const {
    write(prefix + "/conda-meta/" + name + "-" + version + "-h1234_0.json", Json::object()
                                                                                .set("name", name)
                                                                                .set("version", version)
                                                                                .set("build", "h1234_0")
                                                                                .set("files", Json::array())
                                                                                .dump());
  }

  std::string at(const std::string& name) const { return (folder() / name).native(); }

  static const installations::Runtime* find(const installations::Installation& installation,
                                            const std::string& engine) {
    for (const installations::Runtime& runtime : installation.runtimes)
      if (runtime.engine == engine) return &runtime;
    return nullptr;
  }

  static std::string evidence(const std::vector<manifest::InstallationSign>& all, const std::string& what) {
    for (const manifest::InstallationSign& one : all)
      if (one.what == what) return one.value;
    return {};
  }

  // Every path below the folder with its stat data and its size: any change gives another text.
  std::string state_of(const std::filesystem::path& folder) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const auto stamp = stamp_of(entry.path());
      all[entry.path().native()] = stamp ? std::to_string(stamp->inode) + " " + std::to_string(stamp->size) +
                                               " " + std::to_string(stamp->modified_ns)
                                         : "";
    }
    std::string text;
    for (const auto& [path, state] : all) text += path + " " + state + "\n";
    return text;
  }
};

}  // namespace enginehost::test
