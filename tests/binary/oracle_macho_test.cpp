// Our reader agrees with LLVM's tools on macOS libraries that lld makes here.
#include "tests/binary/oracle_macho.hpp"
#include "host/binary/binary.hpp"
#include "tests/binary/foreign_libraries.hpp"

namespace enginehost::binary {
namespace {

class OracleMacho : public ForeignWorkshop {
 protected:
  void SetUp() override {
    ForeignWorkshop::SetUp();
    const std::string missing = macos_tools_missing();
    if (!missing.empty()) GTEST_SKIP() << missing;
    if (!oracles_.installed()) GTEST_SKIP() << "llvm-objdump, llvm-nm or llvm-readobj is not installed";
  }
  void compare(const std::filesystem::path& file, const std::string& machine) {
    tally_.compare(file.native() + " (" + machine + ")", oracle::our_macho_facts(file, machine),
                   oracle::ask_about_macho(oracles_, file, machine));
  }

  oracle::MachoOracles oracles_;
  oracle::Tally tally_;
};

TEST_F(OracleMacho, AgreesOnEveryKindOfLibraryThatLldMakes) {
  std::vector<std::string> universal{tool("llvm-lipo"), "-create", "-output", at("universal.dylib")};
  for (const auto& [name_of_arch, machine] : {std::pair{"arm64", "aarch64"}, {"x86_64", "x86_64"}}) {
    const char* const arch = name_of_arch;  // captured by a lambda, which clang 14 refuses for a binding
    const std::string suffix = std::string("-") + arch + ".dylib";
    auto library = [&](const std::string& name, const std::string& source, std::vector<std::string> more) {
      more.insert(more.begin(),
                  {"-dylib", "-install_name", "@rpath/" + name + ".dylib", macos_object(name, arch, source)});
      return macos_library(name + suffix, arch, more).native();
    };
    const std::string one = library("libone", "int one(void) { return 1; }\n",
                                    {"-current_version", "3.2.1", "-compatibility_version", "2.0"});
    const std::string weak = library("libweak", "int feeble(void) { return 1; }\n", {});
    const std::string inner = library("libinner", "int inner(void) { return 1; }\n", {});
    const std::string engine = library("libengine",
                                       "int one(void); int feeble(void) __attribute__((weak_import)); int "
                                       "inner(void); int elsewhere(void);\n"
                                       "__thread int counter = 7; __thread long more[9];\n"
                                       "__attribute__((weak)) int replaceable(void) { return 1; }\n"
                                       "int engine(void) { return one() + (feeble ? feeble() : 0) + inner() "
                                       "+ elsewhere() + counter + (int)more[1]; }\n",
                                       {"-rpath", "@loader_path/../deps", "-rpath", "/opt/x", one,
                                        "-weak_library", weak, "-reexport_library", inner});
    const std::string bundle =
        macos_library(
            std::string("bundle-") + arch + ".so", arch,
            {"-bundle", macos_object("plugin", arch, "int one(void); int plugin(void) { return one(); }\n"),
             one})
            .native();
    for (const std::string& file : {one, weak, inner, engine, bundle}) compare(file, machine);
    universal.push_back(engine);
  }
  run(universal);
  for (const char* machine : {"aarch64", "x86_64"}) compare(folder() / "universal.dylib", machine);
  EXPECT_EQ(tally_.files, 12u);
  tally_.print("lld's Mach-O files");
}

}  // namespace
}  // namespace enginehost::binary
