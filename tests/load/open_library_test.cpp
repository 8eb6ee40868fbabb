// The two openings of a library: which paths and names they take, and that the loader's texts are kept.
#include "host/load/in_process/open_library.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/child_process.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/explain/explain.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::load {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string said(const Diagnosis& diagnosis) { return std::string(diagnosis.value(Key::os_said)); }

std::string said_by_dlopen(const std::string& file) {
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return ::dlerror();
  ::dlclose(handle);
  return "it loads";
}

bool is_loaded(const fs::path& file) {
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

class OpeningALibrary : public ::testing::Test {
 protected:
  ~OpeningALibrary() override { fs::current_path(before_); }
  // A library that leaves a file behind when its code runs.
  fs::path marking(const std::string& name) const {
    return workshop_.library(name,
                             "#include <stdio.h>\n__attribute__((constructor)) static void mark(void) {"
                             "FILE* f = fopen(\"" +
                                 ran_.native() +
                                 "\", \"w\"); if (f) fclose(f); }\n"
                                 "int cuInit(unsigned x) { return (int)x; }\n");
  }
  static void expect_refused(const Result<OpenLibrary>& opened, const std::string& sentence) {
    ASSERT_FALSE(opened) << sentence;
    EXPECT_EQ(opened.error().code, "EH-F11");
    EXPECT_EQ(explain::one_line(opened.error()), "EH-F11 " + sentence);
  }
  static void expect_is_the_program(const Result<OpenLibrary>& opened, const fs::path& file) {
    ASSERT_FALSE(opened) << file;
    EXPECT_EQ(explain::one_line(opened.error()),
              "EH-F10 " + file.native() + " is a running program, which cannot be loaded as a library");
  }

  const fs::path before_ = fs::current_path();
  const faults::Workshop workshop_;
  const fs::path ran_ = workshop_.path("ran");
};

TEST_F(OpeningALibrary, KeepsEveryTextOfTheLoader) {
  const auto whole = workshop_.library("libwhole.so", "int f(void){return 1;}", "-Wl,-soname,libwhole.so");
  const auto foreign = workshop_.library("libforeign.so", "int f(void){return 1;}");
  workshop_.make_foreign(foreign);
  const auto needing =
      workshop_.library("libneeding.so", "int g(void){return 1;}",
                        "-Wl,--no-as-needed -L" + faults::quoted(workshop_.folder()) + " -l:libwhole.so");
  const auto versioned =
      workshop_.library("libversioned.so", "int v(void){return 1;}", "-Wl,-soname,libv.so");
  fs::create_directory(workshop_.path("libfolder.so"));
  fs::create_symlink("loop.so", workshop_.path("loop.so"));
  const fs::path files[] = {
      workshop_.path("libmissing.so"),
      needing,
      workshop_.library("libundefined.so", "int gone(void); int f(void){return gone();}"),
      workshop_.library("libvariable.so", "extern int gone; int* f(void){return &gone;}"),
      workshop_.cxx_library("libcxx.so", "struct Gone { Gone(int); }; Gone* f() { return new Gone(1); }"),
      workshop_.library("libnodlopen.so", "int f(void){return 1;}", "-Wl,-z,nodlopen"),
      workshop_.library("libcreated.so", "int f(void){return 1;}",
                        "-Wl,--no-as-needed -Wl,-rpath," + faults::quoted(workshop_.path("nowhere")) + " " +
                            faults::quoted(versioned)),
      foreign,
      workshop_.file("libempty.so", ""),
      workshop_.file("libpage.so", "<html>" + std::string(200, ' ')),
      workshop_.cut(whole, "libshort.so", 40),
      workshop_.cut(whole, "libhead.so", 200),
      workshop_.path("libfolder.so"),
      workshop_.path("loop.so"),
      workshop_.path("libwhole.so/below.so"),
      workshop_.path(std::string(300, 'n') + ".so"),
      "/usr/bin/env",
      "/dev/null",
  };
  std::size_t refused = 0;
  for (const fs::path& file : files) {
    const std::string text = said_by_dlopen(file);
    const auto opened = OpenLibrary::at(file);
    // A file that this machine's loader takes has no text.
    ASSERT_EQ(opened.has_value(), text == "it loads") << file << ": " << text;
    if (opened) continue;
    ++refused;
    EXPECT_EQ(said(opened.error()), text);
    EXPECT_FALSE(opened.error().value(Key::file).empty()) << text;
  }
  EXPECT_GE(refused, 15u);
  const auto no_such_name = OpenLibrary::of_the_system("libno-such-library.so.1");
  ASSERT_FALSE(no_such_name);
  EXPECT_EQ(said(no_such_name.error()), said_by_dlopen("libno-such-library.so.1"));
}

TEST_F(OpeningALibrary, AtTakesAnAbsolutePathOnly) {
  marking("libhere.so");
  fs::create_directory(workshop_.path("below"));
  marking("below/libhere.so");
  fs::current_path(workshop_.folder());
  expect_refused(OpenLibrary::at(""), "\"\" is an empty path, not an absolute path");
  expect_refused(OpenLibrary::at("libhere.so"), "libhere.so is a bare name, not an absolute path");
  for (const char* path : {"./libhere.so", "below/libhere.so", "below/../libhere.so", "below/"})
    expect_refused(OpenLibrary::at(path), std::string(path) + " is a relative path, not an absolute path");
  const std::string file = workshop_.path("libhere.so").native();
  for (const std::string& rest : {std::string(1, '\0'), std::string("\0.txt", 5)})
    expect_refused(OpenLibrary::at(file + rest),
                   file + "\\0" + rest.substr(1) + " is a path with a NUL character, not an absolute path");
  EXPECT_FALSE(fs::exists(ran_));
  EXPECT_TRUE(OpenLibrary::at(file));
  EXPECT_TRUE(fs::exists(ran_));
}

TEST_F(OpeningALibrary, OfTheSystemTakesABareNameOnly) {
  fs::create_directory(workshop_.path("below"));
  const fs::path file = marking("below/libhere.so");
  fs::current_path(workshop_.folder());
  expect_refused(OpenLibrary::of_the_system(""), "\"\" is an empty name, not the name of a library");
  for (const std::string& path : {file.native(), std::string("below/libhere.so"), std::string("./libhere.so"),
                                  std::string("libhere.so/"), std::string("/")})
    expect_refused(OpenLibrary::of_the_system(path), path + " is a path, not the name of a library");
  expect_refused(OpenLibrary::of_the_system(std::string("libm.so.6\0", 10)),
                 "libm.so.6\\0 is a name with a NUL character, not the name of a library");
  EXPECT_FALSE(fs::exists(ran_));
}

TEST_F(OpeningALibrary, AtRefusesTheRunningProgramByEveryPath) {
  const fs::path program = executable_path();
  const fs::path link = workshop_.path("liblink.so"), upwards = program.parent_path() / "." / ".." /
                                                                program.parent_path().filename() /
                                                                program.filename();
  fs::create_symlink(program, link);
  for (const fs::path& file : {program, link, upwards}) expect_is_the_program(OpenLibrary::at(file), file);
  const fs::path hard = program.parent_path() / ("libhard-" + std::to_string(::getpid()) + ".so");
  fs::create_hard_link(program, hard);
  expect_is_the_program(OpenLibrary::at(hard), hard);
  fs::remove(hard);
}

// Boost.DLL compares a name that was not found with the program, from the current folder.
TEST_F(OpeningALibrary, ANameThatIsTheProgramInTheCurrentFolderIsRefused) {
  fs::create_symlink(executable_path(), workshop_.path("libno-such-library.so.1"));
  fs::current_path(workshop_.folder());
  expect_is_the_program(OpenLibrary::of_the_system("libno-such-library.so.1"),
                        fs::current_path() / "libno-such-library.so.1");
}

TEST_F(OpeningALibrary, OfTheSystemOpensWhatTheLoaderFinds) {
  marking("libm.so.6");
  fs::current_path(workshop_.folder());
  const auto opened = OpenLibrary::of_the_system("libm.so.6");
  ASSERT_TRUE(opened) << said(opened.error());
  const auto cosine = opened->function<double(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1.0);
  EXPECT_EQ(opened->symbol("no_such_function"), nullptr);
  EXPECT_TRUE(fs::path(opened->file()).is_absolute());
  EXPECT_EQ(opened->file(), fs::canonical(opened->file()).native());
  EXPECT_FALSE(fs::exists(ran_));
}

TEST_F(OpeningALibrary, NoDriverIsRunFromTheCurrentFolder) {
  const char* const names[] = {"libcuda.so.1", "libnvidia-ml.so.1"};
  for (const char* name : names) marking(name);
  fs::current_path(workshop_.folder());
  for (const char* name : names) {
    const auto opened = OpenLibrary::of_the_system(name);
    EXPECT_EQ(opened.has_value(), said_by_dlopen(name) == "it loads") << name;
    EXPECT_FALSE(fs::exists(ran_)) << name;
  }
}

// Runs the query of the driver in that folder and returns what it says about both libraries.
std::vector<Json> answers_in(const fs::path& folder, const std::vector<std::string>& options) {
  ChildRequest child;
  child.argv = {ENGINEHOST_PROBE, "drivers", "--nonce", "n"};
  child.argv.insert(child.argv.end(), options.begin(), options.end());
  child.folder = folder.native();
  child.private_channel = true;
  const auto outcome = run_child(child);
  EXPECT_TRUE(outcome && outcome->exit_code == 0);
  std::vector<Json> answers(2);
  for (const std::string& line : split(outcome ? outcome->channel : "", '\n')) {
    const auto answer = parse_json(line, "the channel");
    if (line.empty() || !answer) continue;
    if ((*answer)["cuda"]["library"].is_object()) answers[0] = (*answer)["cuda"]["library"];
    if ((*answer)["nvml"]["library"].is_object()) answers[1] = (*answer)["nvml"]["library"];
  }
  return answers;
}

TEST_F(OpeningALibrary, TheDriverQueryRunsNoDriverOfTheCallersFolder) {
  for (const char* name : {"libcuda.so.1", "libnvidia-ml.so.1"}) marking(name);
  const std::vector<Json> answers = answers_in(workshop_.folder(), {});
  EXPECT_FALSE(fs::exists(ran_));
  EXPECT_EQ(answers[0]["error"].as_string(),
            said_by_dlopen("libcuda.so.1") == "it loads" ? "" : said_by_dlopen("libcuda.so.1"));
  EXPECT_EQ(answers[1]["error"].as_string(),
            said_by_dlopen("libnvidia-ml.so.1") == "it loads" ? "" : said_by_dlopen("libnvidia-ml.so.1"));
}

TEST_F(OpeningALibrary, TheDriverQueryTakesAbsolutePathsAndNames) {
  const fs::path file = marking("libcuda.so.1"), missing = workshop_.path("libnothing.so.1");
  const fs::path link = workshop_.path("link.so");
  fs::create_symlink("libcuda.so.1", link);
  std::vector<Json> answers =
      answers_in(workshop_.folder(), {"--libcuda", "./libcuda.so.1", "--nvml", missing.native()});
  EXPECT_EQ(answers[0]["error"].as_string(), "./libcuda.so.1 is a relative path, not an absolute path");
  EXPECT_EQ(answers[1]["error"].as_string(), said_by_dlopen(missing));
  EXPECT_FALSE(fs::exists(ran_));
  answers = answers_in(workshop_.folder(), {"--libcuda", link.native(), "--nvml", ENGINEHOST_PROBE});
  EXPECT_EQ(answers[0]["path"].as_string(), fs::canonical(file).native());
  EXPECT_EQ(answers[1]["error"].as_string(), ENGINEHOST_PROBE " is this program itself");
  EXPECT_TRUE(fs::exists(ran_));
}

TEST_F(OpeningALibrary, StaysOnlyIfStayWasCalled) {
  const auto stays = workshop_.library("libstays.so", "int f(void){return 7;}");
  const auto goes = workshop_.library("libgoes.so", "int f(void){return 8;}");
  {
    auto opened = OpenLibrary::at(stays);
    ASSERT_TRUE(opened);
    opened->stay();
    opened->stay();
    OpenLibrary moved = std::move(*opened);
    ASSERT_TRUE(moved.is_open());
    EXPECT_EQ(moved.function<int()>("f")(), 7);
    ASSERT_TRUE(OpenLibrary::at(goes));
  }
  EXPECT_TRUE(is_loaded(stays));
  EXPECT_FALSE(is_loaded(goes));
  auto opened = OpenLibrary::at(goes);
  ASSERT_TRUE(opened);
  OpenLibrary other = std::move(*opened);
  EXPECT_TRUE(is_loaded(goes));
  other.unload();
  EXPECT_FALSE(other.is_open());
  EXPECT_EQ(other.symbol("f"), nullptr);
  EXPECT_FALSE(is_loaded(goes));
}

}  // namespace
}  // namespace enginehost::load
