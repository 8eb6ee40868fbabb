// Symbols that would stay undefined are found before loading (L12, L15, L16).
#include "host/linker/symbols.hpp"

#include <gmock/gmock.h>

#include "tests/support/workshop.hpp"

namespace enginehost::linker {
namespace {

class SymbolsOf : public test::Workshop {
 protected:
  std::string findings(const std::filesystem::path& file) {
    Machine machine = describe_this_machine();
    Request request;
    request.file = file;
    const Closure closure = close(machine, request, reader_);
    const SymbolFindings found = undefined_symbols(closure, reader_, folder());
    EXPECT_GT(found.checked, 0u);
    std::string text;
    for (const Diagnosis& diagnosis : diagnose_symbols(found.undefined)) {
      text += std::string(diagnosis.code_text());
      for (const std::string& symbol : diagnosis.values(Key::symbol)) text += " " + symbol;
      text += ";";
    }
    return text;
  }
  Reader reader_;
};

TEST_F(SymbolsOf, ACompleteLibraryHasNoUndefinedSymbol) {
  EXPECT_EQ(findings(library("x.so", "#include <stdio.h>\nint f(void) { return puts(\"\"); }\n")), "");
}

TEST_F(SymbolsOf, AnUndefinedFunctionIsL12AndAWeakOneIsNot) {
  EXPECT_EQ(findings(library("x.so",
                             "int missing_kernel(void); __attribute__((weak)) int maybe(void);\n"
                             "int f(void) { return missing_kernel() + (maybe ? maybe() : 0); }\n")),
            "EH-L12 missing_kernel;");
}

TEST_F(SymbolsOf, SymbolsThatAMissingLibraryMayOfferAreNotReported) {
  const auto dep = library("libdep.so", "int offered(void) { return 0; }\n", {"-Wl,-soname,libdep.so"});
  const auto engine = library(
      "engine.so", "int offered(void); int missing(void); int f(void) { return offered() + missing(); }\n",
      {dep.native(), "-Wl,-rpath,$ORIGIN"});
  EXPECT_EQ(findings(engine), "EH-L12 missing;");
  const std::string bytes = bytes_of(dep);
  for (const std::string& content :
       {std::string("GROUP ( libdep.so.1 )\n"), bytes.substr(0, bytes.size() / 2)}) {
    write("libdep.so", content);
    reader_ = Reader();
    EXPECT_EQ(findings(engine), "");
  }
  std::filesystem::remove(dep);
  reader_ = Reader();
  EXPECT_EQ(findings(engine), "");
}

TEST_F(SymbolsOf, L16ASymbolThatOnlyAProgramOffersIsNamedAsSuch) {
  const auto file = library("x.so", "int napi_create(void); int f(void) { return napi_create(); }\n");
  EXPECT_EQ(findings(file), "EH-L16 napi_create;") << "Node offers such names to its extensions";
}

TEST_F(SymbolsOf, L14AMissingVariableIsDistinguishedFromAFunction) {
  library("libdep.so", "int counter; int count(void) { return counter; }\n", {"-Wl,-soname,libdep.so"});
  const auto engine =
      library("engine.so", "extern int counter; int count(void); int f(void) { return counter + count(); }\n",
              {(folder() / "libdep.so").native(), "-Wl,-rpath,$ORIGIN"});
  EXPECT_EQ(findings(engine), "");
  library("libdep.so", "int other;\n", {"-Wl,-soname,libdep.so"});
  reader_ = Reader();
  EXPECT_EQ(findings(engine), "EH-L14 counter;EH-L12 count;");
}

TEST_F(SymbolsOf, AHiddenVersionServesExplicitRequestsOnly) {
  const std::string map = write("v.map", "V1 { global: keep; }; V2 { global: f; };\n").native();
  const auto make = [&](const char* source) {
    library("libdep.so", source, {"-Wl,-soname,libdep.so", "-Wl,--version-script=" + map});
  };
  // Linked against a library without versions, so the reference has none.
  library("libdep.so", "int f(void) { return 0; }\n", {"-Wl,-soname,libdep.so"});
  const auto engine = library("engine.so", "int f(void); int g(void) { return f(); }\n",
                              {(folder() / "libdep.so").native(), "-Wl,-rpath,$ORIGIN"});
  make("int keep; int old(void) { return 0; } __asm__(\".symver old, f@@V2\");\n");
  EXPECT_EQ(findings(engine), "");
  make("int keep; int old(void) { return 0; } __asm__(\".symver old, f@V2\");\n");
  reader_ = Reader();
  EXPECT_EQ(findings(engine), "EH-L15 f;");
}

TEST_F(SymbolsOf, ALibraryOpenedOnItsOwnDoesNotSeeEarlierOnes) {
  const auto provider = library("provider.so", "int lent(void) { return 0; }\n");
  const auto engine = library("engine.so", "int lent(void); int f(void) { return lent(); }\n");
  Request request;
  request.file = engine;
  request.preloaded = {provider};
  const Closure closure = close(describe_this_machine(), request, reader_);
  const SymbolFindings found = undefined_symbols(closure, reader_, folder());
  ASSERT_EQ(found.undefined.size(), 1u);  // RTLD_LOCAL
  EXPECT_EQ(found.undefined[0].name, "lent");
}

TEST_F(SymbolsOf, AVersionNodeWithoutTheSymbolIsL15) {
  const std::string map = write("v.map", "V1 { global: a; b; };\n").native();
  const auto make = [&](const std::string& source) {
    return library("libver.so.1", source, {"-Wl,-soname,libver.so.1", "-Wl,--version-script=" + map});
  };
  make("int a(void) { return 0; } int b(void) { return 0; }\n");
  const auto engine = library("engine.so", "int a(void); int b(void); int f(void) { return a() + b(); }\n",
                              {(folder() / "libver.so.1").native(), "-Wl,-rpath,$ORIGIN"});
  EXPECT_EQ(findings(engine), "");
  reader_ = Reader();
  make("int a(void) { return 0; }\n");
  EXPECT_EQ(findings(engine), "EH-L15 b;");
  write("v.map", "V1 { global: a; }; V2 { global: b; };\n");
  reader_ = Reader();
  make("int a(void) { return 0; } int b(void) { return 0; }\n");
  EXPECT_EQ(findings(engine), "EH-L15 b;");
}

}  // namespace
}  // namespace enginehost::linker
