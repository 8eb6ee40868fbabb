// Texts that only a loader in trouble prints, taken from it while the test runs, and the classes that they
// give.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "host/explain/explain.hpp"
#include "host/explain/loader_text.hpp"
#include "host/preflight/preflight.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::load {
namespace {

using ::testing::HasSubstr;

// Runs in a child and returns its output, so that its changes end with it.
template <class Action>
std::string said_by_child(Action action) {
  std::array<int, 2> channel{};
  if (::pipe(channel.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = action();
    const ssize_t written = ::write(channel[1], text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(channel[1]);
  std::string text(4096, '\0');
  const ssize_t got = ::read(channel[0], text.data(), text.size());
  ::close(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

TEST(LoaderMessage, L18NamespacesThatAreUsedUp) {
  const faults::Workshop workshop;
  const auto file = workshop.library("libalone.so", "int x;", "-nostdlib");
  const std::string text = said_by_child([&]() -> std::string {
    for (int i = 0; i < 64; ++i)
      if (::dlmopen(LM_ID_NEWLM, file.c_str(), RTLD_NOW) == nullptr) return ::dlerror();
    return "they are never used up";
  });
  const auto hint = explain::read_loader_text(text);
  ASSERT_TRUE(hint) << text;
  EXPECT_EQ(hint->code, "EH-L18") << text;
  EXPECT_THAT(explain::describe(explain::to_diagnosis(*hint, text)), HasSubstr("processes of their own"));
}

// A program for musl, and the message of its loader about this file.
std::string said_by_musl(const faults::Workshop& workshop, const std::filesystem::path& file) {
  workshop.file(
      "host.c",
      "#include <dlfcn.h>\n#include <stdio.h>\n"
      "int main(int n,char**a){(void)n;puts(dlopen(a[1],RTLD_NOW)?\"it loads\":dlerror());return 0;}\n");
  const auto program = workshop.path("host"), output = workshop.path("said");
  if (faults::shell("musl-gcc -o " + faults::quoted(program) + " " + faults::quoted(workshop.path("host.c")) +
                    " 2>/dev/null") != 0)
    return {};
  if (faults::shell(faults::quoted(program) + " " + faults::quoted(file) + " > " + faults::quoted(output)) !=
      0)
    return {};
  std::FILE* said = std::fopen(output.c_str(), "r");
  if (said == nullptr) return {};
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), said));
  std::fclose(said);
  return text.substr(0, text.find('\n'));
}

TEST(LoaderMessage, L29ALibraryOfGlibcOnMusl) {
  const faults::Workshop workshop;
  // A function that musl does not have, and a thread-local variable of the kind that it refuses.
  const auto symbol = workshop.library(
      "libsymbol.so", "void __fprintf_chk_of_glibc(void);void f(void){__fprintf_chk_of_glibc();}");
  const std::string text = said_by_musl(workshop, symbol);
  if (text.empty()) GTEST_SKIP() << "musl-tools are not installed";
  const auto hint = explain::read_loader_text(text);
  ASSERT_TRUE(hint) << text;
  EXPECT_EQ(hint->symbol, "__fprintf_chk_of_glibc") << text;
  const auto needs = workshop.library("libneeds.so", "int errno_of(void){return 1;}",
                                      "-Wl,--no-as-needed -l:ld-linux-x86-64.so.2 -lm");
  const std::string missing = said_by_musl(workshop, needs);
  const auto named = explain::read_loader_text(missing);
  ASSERT_TRUE(named) << missing;
  EXPECT_EQ(named->subject, "ld-linux-x86-64.so.2") << missing;
  // The text alone does not show the cause; the file on such a machine does.
  preflight::Spec spec;
  spec.plugin = needs;
  spec.plugin_header = false;
  spec.machine = linker::describe_this_machine();
  spec.machine.libc = linker::Libc::musl;
  spec.machine.cache = linker::LoaderCache();
  spec.machine.default_directories = {"/lib", "/usr/local/lib", "/usr/lib"};
  const preflight::Report report = preflight::check(spec);
  ASSERT_FALSE(report.diagnoses.empty());
  EXPECT_EQ(report.diagnoses.front().code, "EH-L29") << explain::describe(report.diagnoses.front());
}

}  // namespace
}  // namespace enginehost::load
