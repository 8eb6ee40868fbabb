// EngineHost's own files for macOS as they are installed. ENGINEHOST_MACOS_INSTALLED names a folder with such
// a tree, with the plugins in its folder "plugins" (scripts/test-macos.sh).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/environment.hpp"
#include "host/preflight/foreign.hpp"
#include "tests/binary/oracle_macho.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;

enum class What { program, library, plugin };
struct Built {
  std::string file;
  What what;
  binary::BinaryInfo info;
  binary::SymbolTable symbols;
};

class BuiltForMacOs : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = environment_variable("ENGINEHOST_MACOS_INSTALLED");
    if (!folder) GTEST_SKIP() << "scripts/test-macos.sh runs this after it has made the files";
    for (const char* name : {"bin/engine-info", "bin/engine-run", "bin/engine-cache", "bin/engine-manifest",
                             "libexec/enginehost/enginehost-probe"})
      add(fs::path(*folder) / name, What::program);
    add(fs::path(*folder) / "lib/libenginehost.0.dylib", What::library);
    for (const auto& entry : fs::directory_iterator(fs::path(*folder) / "plugins"))
      add(entry.path(), What::plugin);
    ASSERT_GE(built_.size(), 7u);
  }

  void add(const fs::path& file, What what) {
    auto info = binary::read_binary(file);
    auto symbols = binary::read_symbols(file);
    ASSERT_TRUE(info && symbols) << file;
    ASSERT_EQ(info->kind, binary::Kind::macho) << file;
    built_.push_back({file.native(), what, std::move(*info), std::move(*symbols)});
  }

  std::vector<Built> built_;
};

TEST_F(BuiltForMacOs, EveryFileIsReadAsLlvmReadsIt) {
  const binary::oracle::MachoOracles oracles;
  if (!oracles.installed()) GTEST_SKIP() << "llvm-objdump, llvm-nm or llvm-readobj is not installed";
  binary::oracle::Tally tally;
  for (const Built& one : built_)
    tally.compare(one.file, binary::oracle::our_macho_facts(one.file, one.info.machine),
                  binary::oracle::ask_about_macho(oracles, one.file, one.info.machine));
  tally.print("EngineHost's files for macOS");
}

TEST_F(BuiltForMacOs, AllAreForOneProcessorAndMacOs11AndSigned) {
  for (const Built& one : built_) {
    EXPECT_EQ(one.info.machine, built_.front().info.machine) << one.file;
    EXPECT_EQ(one.info.minimum_os, "11.0") << one.file;
    EXPECT_EQ(one.info.macho.platform, "macos") << one.file;
    EXPECT_TRUE(one.info.macho.two_level_namespace) << one.file;
    EXPECT_EQ(one.info.macho.file_type, one.what == What::program   ? "executable"
                                        : one.what == What::library ? "dylib"
                                                                    : "bundle")
        << one.file;
    if (one.what == What::program) {
      EXPECT_EQ(one.info.problems.at(0).code, "EH-F10") << one.file;
    } else {
      EXPECT_THAT(one.info.problems, IsEmpty()) << one.file;
    }
    EXPECT_TRUE(one.info.code_signed || one.info.machine == "x86_64") << one.file;
  }
}

TEST_F(BuiltForMacOs, TheInstalledTreeMayBeMoved) {
  for (const Built& one : built_) {
    EXPECT_EQ(one.info.soname, one.what == What::library ? "@rpath/libenginehost.0.dylib" : "") << one.file;
    EXPECT_THAT(one.info.rpath, IsEmpty()) << one.file;
  }
}

// Besides macOS itself: libcurl, which macOS has, and two libraries of Homebrew. The plugins and the probe
// need nothing but macOS.
TEST_F(BuiltForMacOs, TheyNeedOnlyMacOsAndTheLinkedLibraries) {
  for (const Built& one : built_) {
    const bool small = one.what == What::plugin || one.file.ends_with("enginehost-probe");
    EXPECT_THAT(one.info.needed, Contains("/usr/lib/libSystem.B.dylib")) << one.file;
    for (const std::string& need : one.info.needed) {
      if (need == "/usr/lib/libSystem.B.dylib") continue;
      EXPECT_FALSE(small) << one.file << " needs " << need;
      EXPECT_THAT(need, AnyOf("/usr/lib/libcurl.4.dylib", EndsWith("/opt/libarchive/lib/libarchive.13.dylib"),
                              EndsWith("/opt/openssl@3/lib/libcrypto.3.dylib")))
          << one.file;
    }
    EXPECT_THAT(one.info.optional, IsEmpty()) << one.file;
    for (const binary::Symbol& import : one.symbols.imports)
      EXPECT_THAT(one.info.needed, Contains(import.library)) << one.file << ": " << import.name;
  }
}

TEST_F(BuiltForMacOs, OnlyOwnSymbolsAreExported) {
  for (const Built& one : built_) {
    std::vector<std::string> names;
    for (const binary::Symbol& symbol : one.symbols.exports) names.push_back(symbol.name);
    if (one.what == What::plugin) {
      EXPECT_THAT(names, ElementsAre("_engine_plugin_v1")) << one.file;
    }
    if (one.what == What::library) {
      EXPECT_GT(names.size(), 20u);
      EXPECT_THAT(names, Each(StartsWith("_enginehost_"))) << one.file;
    }
  }
}

TEST_F(BuiltForMacOs, AMacOfThatKindAcceptsThePlugins) {
  for (const Built& one : built_) {
    if (one.what != What::plugin) continue;
    platform::Platform mac;
    mac.os = platform::Fact<std::string>::known("macos", "");
    mac.arch = platform::Fact<std::string>::known(one.info.machine == "aarch64" ? "arm64" : "x86_64", "");
    mac.distribution = platform::Fact<platform::Distribution>::known({"macos", "macOS 11.0", "11.0"}, "");
    preflight::ForeignSpec spec;
    spec.plugin = one.file;
    spec.platform = &mac;
    spec.symbols = true;
    const preflight::Report report = preflight::check_foreign(spec);
    EXPECT_EQ(report.verdict, preflight::Verdict::loads) << one.file;
    EXPECT_THAT(report.warnings, IsEmpty()) << one.file;
  }
}

}  // namespace
}  // namespace enginehost::test
