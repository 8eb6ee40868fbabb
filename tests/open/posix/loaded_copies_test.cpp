// Libraries that register something once for the whole process, as libtorch does: a second copy, under
// whatever name, would end it. Each case has libraries with names of its own, since they stay in the process.
#include <dlfcn.h>

#include <algorithm>

#include "host/attempt/loaded_before.hpp"
#include "host/linker/loaded_symbols.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/open/open_engines_fixture.hpp"

namespace enginehost::open {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A library whose constructor ends the process if another copy of it has registered itself. `words`: the size
// of its unique object. `more`: further code.
std::string registering(const std::string& registry, const std::string& soname, int words = 4,
                        const std::string& more = {}) {
  const std::string size = std::to_string(words * 4);
  return test::compile_library(
      "#include <stdlib.h>\n"
      "__asm__(\".data\\n.globl " +
          registry + "\\n.type " + registry + ", %gnu_unique_object\\n.size " + registry + ", " + size +
          "\\n.balign 4\\n" + registry + ": .zero " + size +
          "\\n.text\\n\");\n"
          "extern int " +
          registry +
          "[];\n"
          "__attribute__((constructor)) static void enter(void) { if (" +
          registry + "[0]++) abort(); }\n" + "int entries_of_" + registry + "(void) { return " + registry +
          "[0]; }\n" + more,
      soname.empty() ? std::vector<std::string>() : std::vector<std::string>{"-Wl,-soname," + soname});
}

class LoadedCopies : public OpenEngines {
 protected:
  static test::TestBuild with(const std::string& id, const std::string& name, const std::string& bytes,
                              int priority) {
    test::TestBuild build = test::with_library(name, bytes);
    build.id = build.flavor = id;
    build.priority = priority;
    return build;
  }
  void publish_second(const std::string& name, const std::string& bytes) {
    repository_.add(with("second", name, bytes, 90));
    repository_.write();
  }
  // Loads a library of the program and returns its path. It stays in the process.
  std::string load_into_program(const std::string& name, const std::string& bytes, int flags = RTLD_LOCAL) {
    const std::filesystem::path file = folder_ / "program" / name;
    test::write_text(file, bytes);
    EXPECT_NE(::dlopen(file.c_str(), RTLD_NOW | flags), nullptr) << ::dlerror();
    return file.native();
  }
  // The good build opens in the same call, and nothing is remembered of the second.
  Diagnosis expect_refused(const Outcome& outcome) const {
    EXPECT_EQ(outcome.opened->installed.build, "reference-good");
    EXPECT_EQ(context_->history().find("second") == nullptr ||
                  context_->history().find("second")->state == history::State::proven,
              true);
    const Diagnosis refused = why_not(outcome, "second");
    EXPECT_EQ(refused.code, "EH-L17");
    EXPECT_THAT(explain::describe(refused), HasSubstr("in a process of its own"));
    return refused;
  }
  static const Diagnosis* warning(const Outcome& outcome, const std::string& code) {
    const auto found = std::ranges::find(outcome.warnings, code, &Diagnosis::code_text);
    return found != outcome.warnings.end() ? &*found : nullptr;
  }
  void expect_used(const Outcome& outcome, const std::string& path) const {
    EXPECT_EQ(outcome.opened->installed.build, "second");
    const Diagnosis* const used = warning(outcome, "EH-L37");
    ASSERT_NE(used, nullptr);
    EXPECT_THAT(used->values(Key::path), ElementsAre(path));
    EXPECT_THAT(explain::describe(*used), HasSubstr("not verified"));
    for (const Diagnosis& other : outcome.warnings)
      EXPECT_FALSE(other.code == "EH-L17" && other.value(Key::path) == path) << explain::describe(other);
  }
};

TEST_F(LoadedCopies, L37TheSameLibraryOfTheProgramIsUsed) {
  const std::string name = library_named("used_copy"), bytes = registering("used_copy", name);
  publish_second(name, bytes);
  const std::string path = load_into_program(name, bytes);
  expect_used(open_flavor(""), path);
}

TEST_F(LoadedCopies, AProvenBuildUsesItToo) {
  const std::string name = library_named("used_later"), bytes = registering("used_later", name);
  publish_second(name, bytes);
  prove_second();
  const std::string path = load_into_program(name, bytes);
  expect_used(open_flavor(""), path);
  EXPECT_EQ(context_->history().find("second")->state, history::State::proven);
}

TEST_F(LoadedCopies, OneThatAllLibrariesSeeIsUsedToo) {
  const std::string name = library_named("used_global"), bytes = registering("used_global", name);
  publish_second(name, bytes);
  const std::string path = load_into_program(name, bytes, RTLD_GLOBAL);
  expect_used(open_flavor(""), path);
}

// Other bytes and the same symbols.
std::string stamp(int number) {
  return "static int stamp(void) { return " + std::to_string(number) +
         "; }\nint the_stamp(void) { return stamp(); }\n";
}

// As the wheels of two Pythons.
TEST_F(LoadedCopies, OtherBytesOfTheSameReleaseAreUsed) {
  const std::string name = library_named("other_bytes");
  repository_.add(with("first", name, registering("other_bytes", name, 4, stamp(1)), 5));
  publish_second(name, registering("other_bytes", name, 4, stamp(2)));
  const Outcome held = first();
  const Outcome outcome = open_flavor("second");
  expect_used(outcome, (held.opened->installed.folder / "lib" / name).native());
}

TEST_F(LoadedCopies, L17AnotherReleaseIsRefusedBeforeItRuns) {
  const std::string name = library_named("other_release");
  test::TestBuild older = with("first", name, registering("other_release", name, 4, stamp(1)), 5);
  older.version = "0.9.0";
  repository_.add(older);
  publish_second(name, registering("other_release", name, 4, stamp(2)));
  request_.request.version = "0.9.0";
  const Outcome held = open_flavor("");
  ASSERT_EQ(held.opened->installed.build, "first");
  request_.request.version.clear();
  const Diagnosis refused = expect_refused(open_flavor(""));
  EXPECT_EQ(refused.value(Key::held_by), "first");
}

TEST_F(LoadedCopies, L17AnObjectOfAnotherSizeIsRefused) {
  const std::string name = library_named("other_size");
  publish_second(name, registering("other_size", name, 8));
  const std::string path = load_into_program(name, registering("other_size", name, 4));
  const Diagnosis refused = expect_refused(open_flavor(""));
  EXPECT_EQ(refused.value(Key::path), path);
  EXPECT_EQ(refused.value(Key::differs), "other_size");
}

TEST_F(LoadedCopies, L17AFunctionLessIsRefused) {
  const std::string name = library_named("function_less");
  publish_second(name, registering("function_less", name, 4, "int newer_function(void) { return 1; }\n"));
  load_into_program(name, registering("function_less", name));
  expect_refused(open_flavor(""));
}

// As auditwheel and delocate rename what they copy.
TEST_F(LoadedCopies, L17ARenamedCopyIsRefused) {
  const std::string name = library_named("renamed");
  publish_second(name, registering("renamed", name));
  const std::string path =
      load_into_program("librenamed-1a2b3c4d.so.1", registering("renamed", "librenamed-1a2b3c4d.so.1"));
  const Diagnosis refused = expect_refused(open_flavor(""));
  EXPECT_EQ(refused.value(Key::path), path);
  EXPECT_EQ(refused.value(Key::loaded_as), "librenamed-1a2b3c4d.so.1");
  EXPECT_EQ(refused.value(Key::shares), "renamed");
}

TEST_F(LoadedCopies, L17ACopyWithoutANameIsRefused) {
  const std::string name = library_named("nameless");
  publish_second(name, registering("nameless", name));
  load_into_program("nameless.so", registering("nameless", ""));
  expect_refused(open_flavor(""));
}

TEST_F(LoadedCopies, AnotherLibraryWithOneEqualObjectIsNoCopy) {
  const std::string name = library_named("acquaintance");
  std::string own, others;
  for (int i = 0; i < 40; ++i) {
    own += "int own_" + std::to_string(i) + "(void) { return 1; }\n";
    others += "int other_" + std::to_string(i) + "(void) { return 1; }\n";
  }
  publish_second(name, registering("acquaintance", name, 4, own + "int (*unused)(void) = own_0;\n"));
  // Counts from another place, so that it does not end the process.
  const std::string other = test::compile_library(
      "__asm__(\".data\\n.globl acquaintance\\n.type acquaintance, %gnu_unique_object\\n.size acquaintance, "
      "16\\n.balign 4\\nacquaintance: .zero 16\\n.text\\n\");\n" +
          others,
      {"-Wl,-soname,libunrelated.so.1"});
  load_into_program("libunrelated.so.1", other);
  EXPECT_EQ(open_flavor("").opened->installed.build, "second");
}

// The tables in memory are read without the library's file.
TEST_F(LoadedCopies, AreComparedBySymbolsAndVersionsInMemory) {
  const std::filesystem::path script = folder_ / "versions";
  test::write_text(script, "OLD_1 { global: first; }; NEW_2 { global: second; local: hidden; } OLD_1;");
  const std::string source =
      "int number = 1; int first(void) { return 1; } int second(void) { return number; }\n"
      "int hidden(void) { return 3; }\n";
  int number = 0;
  for (const std::string& flag : {"-Wl,--hash-style=gnu", "-Wl,--hash-style=sysv", "-Wl,--hash-style=both"})
    for (const bool versions : {false, true}) {
      const std::string name = library_named("in_memory_" + std::to_string(++number));
      std::vector<std::string> flags = {flag, "-Wl,-soname," + name};
      if (versions) flags.push_back("-Wl,--version-script=" + script.native());
      const std::string file = load_into_program(name, test::compile_library(source, flags));
      const auto symbols = binary::read_symbols(file);
      ASSERT_TRUE(symbols);
      std::filesystem::remove(file);
      const std::vector<linker::LoadedCopy> same = linker::loaded_copies(name, *symbols);
      ASSERT_EQ(same.size(), 1u) << flag;
      EXPECT_EQ(same.front().differs, "") << flag << versions;
      EXPECT_EQ(same.front().path, file);
      for (auto& symbol : symbols->exports) {
        binary::SymbolTable changed = *symbols;
        auto& one = changed.exports[static_cast<std::size_t>(&symbol - symbols->exports.data())];
        if (symbol.variable)
          one.size += 4;
        else
          one.version += "_3";
        EXPECT_EQ(linker::loaded_copies(name, changed).front().differs, symbol.name) << flag << versions;
      }
    }
}

TEST_F(LoadedCopies, PolicyForbidsToUseThem) {
  const std::string name = library_named("forbidden"), bytes = registering("forbidden", name);
  publish_second(name, bytes);
  const std::string path = load_into_program(name, bytes);
  settings::Policy policy;
  policy.file = "/etc/enginehost/config.json";
  context_ = std::make_unique<OpenContext>(settings());
  const Outcome installed = open_flavor("");
  const auto allowed = substitutes_for(installed.opened->installed, policy);
  ASSERT_TRUE(allowed);
  EXPECT_TRUE(allowed->used);
  policy.loaded_libraries = false;
  const auto forbidden = substitutes_for(installed.opened->installed, policy);
  ASSERT_FALSE(forbidden);
  EXPECT_EQ(forbidden.error().code, "EH-P01");
  EXPECT_EQ(forbidden.error().value(Key::policy), "policy.loaded_libraries = false");
  EXPECT_THAT(forbidden.error().value(Key::what), HasSubstr(path));
}

// Two builds whose plugins cannot live in one process, in both orders.
class FailsBeside : public OpenEngines {
 protected:
  // Fails in create() if the other one is in this process. A child, as the probe is, does not have it.
  static test::TestBuild one_at_a_time(const std::string& id, const std::string& mark, int priority) {
    const std::string root = test::source_path();
    const std::string create =
        "char here[24]; snprintf(here, sizeof here, \"%ld\", (long)getpid()); const char* there = getenv(\"" +
        mark +
        "\"); if (there && !strcmp(here, there)) return call->fail(call, ENGINE_UNAVAILABLE, \"\", 0, "
        "\"" +
        id + ": another one is in this process\"); setenv(\"" + mark + "\", here, 1)";
    test::TestBuild build = test::faulty_build(
        {{test::plugin_name,
          test::compile_library(
              "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n" +
                  test::read_text(root + "/tests/faults/plugin.c"),
              {"-I" + root + "/plugin-api/include", "-w", "-DAT_CREATE=" + create})}});
    build.id = build.flavor = id;
    build.priority = priority;
    return build;
  }
  void expect_only_of_this_process(const std::string& held, const std::string& refused) {
    const Outcome engine = open_flavor(held);
    ASSERT_EQ(engine.opened->installed.build, held);
    const Outcome outcome = open_flavor(refused);
    EXPECT_NE(outcome.opened->installed.build, refused);
    const Diagnosis why = why_not(outcome, refused);
    EXPECT_EQ(why.code, "EH-L36");
    // Builds of other cases are in the process, too.
    EXPECT_THAT(why.values(Key::held_by), testing::Contains(held));
    EXPECT_THAT(explain::describe(why), HasSubstr("another one is in this process"));
    const history::Record* const record = context_->history().find(refused);
    EXPECT_TRUE(record == nullptr || record->state == history::State::proven);
  }
};

TEST_F(FailsBeside, L36ABuildIsNotRememberedForAnother) {
  repository_.add(one_at_a_time("first", "EH_ONE_A", 5));
  repository_.add(one_at_a_time("second", "EH_ONE_A", 4));
  repository_.write();
  expect_only_of_this_process("first", "second");
}

TEST_F(FailsBeside, L36NorInTheOtherOrder) {
  repository_.add(one_at_a_time("first", "EH_ONE_B", 5));
  repository_.add(one_at_a_time("second", "EH_ONE_B", 4));
  repository_.write();
  expect_only_of_this_process("second", "first");
}

TEST_F(FailsBeside, L36AProvenBuildStaysProven) {
  repository_.add(one_at_a_time("first", "EH_ONE_C", 5));
  repository_.add(one_at_a_time("second", "EH_ONE_C", 4));
  repository_.write();
  prove_second();
  expect_only_of_this_process("first", "second");
  EXPECT_EQ(context_->history().find("second")->state, history::State::proven);
}

}  // namespace
}  // namespace enginehost::open
