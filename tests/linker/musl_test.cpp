// musl's rules for searching libraries, each compared with musl's own loader.
#include <gmock/gmock.h>

#include <sstream>

#include "host/linker/search.hpp"
#include "host/linker/symbols.hpp"
#include "tests/linker/generated.hpp"
#include "tests/linker/real_loader.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::linker {
namespace {

using test::ask_linker;
using test::ask_loader;
using test::LoaderAnswer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* musl_loader = "/lib/ld-musl-x86_64.so.1";

Machine musl_machine() {
  Machine machine = describe_this_machine();
  machine.libc = Libc::musl;
  machine.program.clear();
  machine.library_path.clear();
  machine.library_path_text.reset();
  std::optional<std::string> path_file;
  if (std::ifstream file("/etc/ld-musl-x86_64.path"); file)
    path_file = std::string(std::istreambuf_iterator<char>(file), {});
  machine.default_directories = musl_default_directories(path_file);
  return machine;
}

class Musl : public test::Generated {
 protected:
  void SetUp() override {
    Generated::SetUp();
    if (test::architecture != std::string("x86_64")) GTEST_SKIP() << "musl's loader is here for x86-64 only";
    if (!std::filesystem::exists(musl_loader)) GTEST_SKIP() << "musl is not installed";
  }
  std::filesystem::path part(const std::string& name, const std::vector<std::string>& needs = {},
                             const std::vector<std::string>& more = {}) const {
    std::vector<std::string> flags{"-nostdlib", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined",
                                   "-Wl,-soname," + std::filesystem::path(name).filename().native()};
    for (const std::string& need : needs) flags.push_back((folder() / need).native());
    flags.insert(flags.end(), more.begin(), more.end());
    return library(name, "int f;\n", flags);
  }
  // The results of musl's loader and of ours for the same file, which must agree.
  LoaderAnswer both(const std::filesystem::path& file, const std::string& library_path = {}) {
    Machine machine = musl_machine();
    machine.library_path = split_musl_path(library_path);
    Reader reader;
    LoaderAnswer expected = ask_loader(musl_loader, file, library_path);
    LoaderAnswer found = ask_linker(machine, file, reader);
    const auto as_set = [&](const std::vector<std::string>& order) {
      std::set<std::string> set(order.begin(), order.end());
      set.erase(test::real_path(file));
      return set;
    };
    EXPECT_EQ(as_set(found.order), as_set(expected.order)) << file;
    EXPECT_EQ(found.missing, expected.missing) << file;
    return found;
  }
};

TEST_F(Musl, AgreesOnAHundredTreesOfSearchPaths) {
  std::size_t found_libraries = 0, missing = 0;
  for (unsigned long seed = 101; seed <= 200; ++seed) {
    const Tree tree = grow(seed, {"$LIB/../c", "$ORIGINAL/x", "${ORIGIN}/../b"});
    const LoaderAnswer found = both(tree.root, tree.library_path);
    found_libraries += found.order.size();
    missing += found.missing.size();
  }
  EXPECT_GT(found_libraries, 100u);
  EXPECT_GT(missing, 100u);
  std::cout << found_libraries << " found, " << missing << " missing\n";
}

TEST_F(Musl, RUNPATHIsInheritedAsRPATHIs) {
  part("deps/bottom.so");
  part("middle.so", {"deps/bottom.so"});
  for (const char* tags : {"-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"}) {
    const auto engine = part("engine.so", {"middle.so"}, {"-Wl,-rpath,$ORIGIN:$ORIGIN/deps", tags});
    EXPECT_THAT(both(engine).missing, IsEmpty()) << tags;
  }
}

TEST_F(Musl, OneUnknownTokenMakesTheWholePathUseless) {
  part("deps/dep.so");
  EXPECT_THAT(both(part("engine.so", {"deps/dep.so"}, {"-Wl,-rpath,$ORIGIN/deps:$LIB/x"})).missing,
              ElementsAre("dep.so"));
  EXPECT_THAT(both(part("engine.so", {"deps/dep.so"}, {"-Wl,-rpath,$ORIGIN/deps:/none"})).missing, IsEmpty());
}

TEST_F(Musl, ASemicolonDoesNotSeparateAndALineEndDoes) {
  part("deps/dep.so");
  const auto engine = part("engine.so", {"deps/dep.so"});
  const std::string deps = (folder() / "deps").native();
  EXPECT_THAT(both(engine, "/none;" + deps).missing, ElementsAre("dep.so"));
  EXPECT_THAT(both(engine, "/none\n" + deps).missing, IsEmpty());
  EXPECT_THAT(both(engine, "::/none::" + deps).missing, IsEmpty());
}

TEST_F(Musl, TheSONAMEOfALibraryServesNothing) {
  part("real/dep.so");
  const auto odd = part("odd.so", {"real/dep.so"}, {"-Wl,-rpath,$ORIGIN"});
  std::filesystem::rename(folder() / "real/dep.so", folder() / "under-another-name.so");
  Machine machine = musl_machine();
  Request request;
  request.file = odd;
  request.preloaded = {folder() / "under-another-name.so"};
  Reader reader;
  EXPECT_FALSE(close(machine, request, reader).loads());
  machine.libc = Libc::glibc;
  EXPECT_TRUE(close(machine, request, reader).loads());
}

TEST_F(Musl, ThePartsOfTheCLibraryAreServedByTheLoader) {
  const auto engine = library("engine.so", "#include <math.h>\ndouble f(double x) { return pow(x, x); }\n",
                              {"-Wl,--no-as-needed", "-lm", "-lpthread", "-ldl"});
  EXPECT_THAT(both(engine).missing, IsEmpty());
  EXPECT_TRUE(served_by_musl("libc.so.6"));
  EXPECT_TRUE(served_by_musl("libc.musl-x86_64.so.1"));
  EXPECT_FALSE(served_by_musl("libmvec.so.1"));
  EXPECT_FALSE(served_by_musl("libcrypt.so.1"));
}

TEST_F(Musl, LoadsALibraryOfAnotherMachineUnchecked) {
  part("dep.so");
  const auto engine = part("engine.so", {"dep.so"}, {"-Wl,-rpath,$ORIGIN"});
  std::string bytes = bytes_of(folder() / "dep.so");
  bytes[18] = '\xb7';  // e_machine: EM_AARCH64
  bytes[19] = 0;
  write("dep.so", bytes);
  EXPECT_THAT(ask_loader(musl_loader, engine, "").missing, IsEmpty());
  Machine machine = musl_machine();
  Request request;
  request.file = engine;
  Reader reader;
  const Closure closure = close(machine, request, reader);
  EXPECT_FALSE(closure.loads());
  const std::vector<Diagnosis> diagnoses = diagnose_closure(machine, closure);
  ASSERT_EQ(diagnoses.size(), 1u);
  EXPECT_EQ(diagnoses[0].code, "EH-L05");
  EXPECT_EQ(diagnoses[0].value(Key::built_for), "aarch64");
}

// The results of musl's loader and of ours including symbols: "" = it loads.
class MuslSymbols : public Musl {
 protected:
  std::string verdict(const std::filesystem::path& file) {
    const Machine machine = musl_machine();
    Request request;
    request.file = file;
    Reader reader;
    const Closure closure = close(machine, request, reader);
    std::string said;
    for (const Diagnosis& one : diagnose_closure(machine, closure)) said += std::string(one.code_text());
    for (const Diagnosis& one : diagnose_symbols(undefined_symbols(closure, reader).undefined))
      said += std::string(one.code_text()) + " " + std::string(one.value(Key::symbol));
    const LoaderAnswer answer = ask_loader(musl_loader, file, "");
    EXPECT_EQ(said.empty(), answer.missing.empty() && answer.error.empty())
        << said << "; musl: " << answer.error;
    return said;
  }
  // A library that needs f of version V2 of libv.so.
  std::filesystem::path user_of_V2() const {
    versioned("int f(void) { return 1; }\n", "V2 { global: f; };\n");
    return library("user.so", "int f(void); int u(void) { return f(); }\n",
                   {"-nostdlib", (folder() / "libv.so").native(), "-Wl,-rpath,$ORIGIN"});
  }
  void versioned(const std::string& source, const std::string& map) const {
    library("libv.so", source,
            {"-nostdlib", "-Wl,-soname,libv.so", "-Wl,--version-script=" + write("v.map", map).native()});
  }
};

TEST_F(MuslSymbols, MuslIgnoresMissingVersions) {
  const auto user = user_of_V2();
  EXPECT_EQ(verdict(user), "");
  versioned("int f(void) { return 1; }\n", "V1 { global: f; };\n");
  EXPECT_EQ(verdict(user), "");
  library("libv.so", "int f(void) { return 1; }\n", {"-nostdlib", "-Wl,-soname,libv.so"});
  EXPECT_EQ(verdict(user), "");
}

TEST_F(MuslSymbols, ADefinitionOfAHiddenVersionServesNobody) {
  const auto user = user_of_V2();
  versioned("int old(void) { return 1; } __asm__(\".symver old, f@V2\");\n", "V2 { global: f; };\n");
  EXPECT_EQ(verdict(user), "EH-L15 f");
}

TEST_F(MuslSymbols, L29StaticTLSOfALibraryThatIsOpenedLaterIsRefused) {
  if (!has_tool("musl-gcc")) GTEST_SKIP() << "musl-gcc is not installed";
  const auto file = library("tls.so",
                            "__thread char block[16] __attribute__((tls_model(\"initial-exec\")));\n"
                            "char* f(void) { return block; }\n",
                            {"-nostdlib"});
  const auto program = folder() / "opens";
  write(
      "opens.c",
      "#include <dlfcn.h>\n#include <stdio.h>\n"
      "int main(int n, char** v) { if (dlopen(v[n - 1], RTLD_NOW)) return 0; puts(dlerror()); return 1; }\n");
  run({"musl-gcc", "-o", program.native(), (folder() / "opens.c").native()});
  ChildRequest child;
  child.argv = {program.native(), file.native()};
  const Result<ChildOutcome> outcome = run_child(child);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_THAT(outcome->output, ::testing::HasSubstr("initial-exec TLS resolves to dynamic definition"));
  const Machine machine = musl_machine();
  Request request;
  request.file = file;
  Reader reader;
  const Closure closure = close(machine, request, reader);
  EXPECT_FALSE(closure.loads());
  EXPECT_EQ(diagnose_closure(machine, closure).front().code, "EH-L29");
}

TEST_F(Musl, AnEmptyPathFileLeavesNoDefaultFolder) {
  EXPECT_THAT(musl_default_directories(std::nullopt), ElementsAre("/lib", "/usr/local/lib", "/usr/lib"));
  EXPECT_THAT(musl_default_directories("/a\n/b:/c\n"), ElementsAre("/a", "/b", "/c"));
  EXPECT_THAT(musl_default_directories(""), IsEmpty());
}

}  // namespace
}  // namespace enginehost::linker
