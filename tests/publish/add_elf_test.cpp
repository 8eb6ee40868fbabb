// Facts that are read from Linux libraries, compiled while the test runs, and from wheels.
#include "host/acquire/acquire.hpp"
#include "tests/publish/fixture.hpp"
#include "tests/support/stand_in.hpp"

namespace enginehost::publish {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(PublisherTest, RequirementsAreReadFromTheFiles) {
  library("toy/lib/libwords.so",
          "#include <string>\nstd::string words(const char* text) { return std::string(text) + text; }\n", {},
          {"g++", "-xc++"});
  const auto added = publish::add(workspace(), request());
  ASSERT_TRUE(added) << added.error().value(Key::problem);
  EXPECT_EQ(added->build, "toy-1.0.0-cpu-linux-x86_64");
  const Json& needs = added->requirements;
  EXPECT_THAT(needs["glibc"].as_string(), testing::StartsWith(">=2."));
  EXPECT_THAT(needs["glibcxx"].as_string(), testing::StartsWith(">=3.4"));
  // The plugin of a build with a sanitizer really needs the sanitizer's library.
  if (const Json* libraries = needs.find("libraries")) {
    for (const Json& library : libraries->as_array())
      EXPECT_THAT(library.as_string(), testing::MatchesRegex("lib(a|t|ub)san\\.so\\.[0-9]+"));
  }
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PublisherTest, ReadsThePluginsRuntimeLinkFromItsFile) {
  const auto adapter_with = [&](const std::string& abi) -> Json {
    fs::remove(folder() / "libengine_toy.so");
    library("libengine_toy.so",
            "#include <string>\nnamespace c10 { void warn(const std::string&); }\n"
            "extern \"C\" { extern const char engine_plugin_v1[64]; const char engine_plugin_v1[64] = "
            "\"ENGPLUG\"; }\n"
            "void use() { c10::warn(\"\"); }\n",
            {"-x", "none", "-Wl,--no-as-needed", (folder() / "toy/lib/libtoy.so").native(),
             "-D_GLIBCXX_USE_CXX11_ABI=" + abi},
            {"g++", "-xc++"});
    const auto added = publish::add(workspace(), request("1." + abi + ".0"));
    EXPECT_TRUE(added) << (added ? "" : std::string(added.error().value(Key::problem)));
    const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
    const Json& components = (*document)["components"];
    EXPECT_EQ(components["toy-1." + abi + ".0-cpu-linux-x86_64"].find("adapter"), nullptr);
    return components["toy-plugin-1." + abi + ".0-cpu-linux-x86_64"]["adapter"];
  };
  EXPECT_EQ(adapter_with("1").dump(), R"({"needs":["libtoy.so"],"cxx11_abi":"1"})");
  EXPECT_EQ(adapter_with("0").dump(), R"({"needs":["libtoy.so"],"cxx11_abi":"0"})");
}

TEST_F(PublisherTest, ALibraryOfNoComponentIsRequiredOfTheSystem) {
  library("elsewhere/libfar.so.3", "int far_away(void) { return 1; }", {"-Wl,-soname,libfar.so.3"});
  library("toy/lib/libmore.so", "int far_away(void); int more(void) { return far_away(); }",
          {(folder() / "elsewhere/libfar.so.3").native()});
  const auto added = publish::add(workspace(), request());
  ASSERT_TRUE(added);
  EXPECT_EQ(added->requirements["libraries"].as_array()[0].as_string(), "libfar.so.3");
  EXPECT_THAT(problems(), IsEmpty());
  edit("\"libfar.so.3\"", "\"libnear.so.3\"");
  EXPECT_THAT(problems(), HasSubstr("lib/libmore.so needs libfar.so.3, which is in none of its components"));
}

TEST_F(PublisherTest, TheManifestListsTheInstalledFiles) {
  const auto install = [&](const std::string& build) {
    const cache::Store store = cache::Store::open(folder() / ("cache-" + build));
    manifest::FolderReader files;
    const auto content = manifest::load_repository(repository().native(), files, in_2026, nullptr);
    for (const auto& manifest : content->manifests)
      for (const auto& one : manifest->builds) {
        if (one->id != build) continue;
        for (const manifest::Component* component : one->all_components())
          EXPECT_EQ(component->artifacts.front().tree.size(), 64u) << component->id;
        const auto acquired = acquire::acquire(*one, store, {});
        ASSERT_TRUE(acquired) << acquired.error().code << " " << acquired.error().value(Key::problem);
        EXPECT_EQ(acquired->installed.digest, one->digest);
      }
  };
  // Only a wheel's directory has its modes and links.
  run({"python3", "-c",
       "import sys,zipfile\n"
       "with zipfile.ZipFile(sys.argv[2],'w') as z:\n"
       "  z.write(sys.argv[1],'toy/lib/libtoy.so')\n"
       "  tool=zipfile.ZipInfo('toy/tool'); tool.external_attr=0o100755<<16; tool.create_system=3\n"
       "  z.writestr(tool,'#!/bin/sh')\n"
       "  link=zipfile.ZipInfo('toy/lib/libtoy.so.1'); link.external_attr=0o120777<<16; "
       "link.create_system=3\n"
       "  z.writestr(link,'libtoy.so')\n",
       (folder() / "toy/lib/libtoy.so").native(), (folder() / "toy-2.0-py3-none-any.whl").native()});
  AddRequest wheel = request("2.0.0");
  wheel.file = folder() / "toy-2.0-py3-none-any.whl";
  add_toy();
  ASSERT_TRUE(publish::add(workspace(), wheel));
  // The wheel from its folder instead of a package index.
  fs::copy_file(wheel.file, repository() / "files" / "toy.whl");
  edit("\"package_index\": {", "\"file\": \"files/toy.whl\"}, {\"package_index\": {");
  ASSERT_TRUE(workspace().prepare(in_2026));
  install("toy-1.0.0-cpu-linux-x86_64");
  install("toy-2.0.0-cpu-linux-x86_64");
}

TEST_F(PublisherTest, AWheelIsLeftToThePackageIndexAndAUrlIsUsedAsGiven) {
  run({"python3", "-c",
       "import sys,zipfile; z=zipfile.ZipFile(sys.argv[2],'w'); z.write(sys.argv[1],'toy/lib/libtoy.so')",
       (folder() / "toy/lib/libtoy.so").native(), (folder() / "Toy_Engine-1.0-py3-none-any.whl").native()});
  AddRequest wheel = request();
  wheel.file = folder() / "Toy_Engine-1.0-py3-none-any.whl";
  ASSERT_TRUE(publish::add(workspace(), wheel));
  EXPECT_THAT(bytes_of(workspace().engine_file("toy")), HasSubstr("\"project\": \"toy-engine\""));
  wheel.version = "1.1.0";
  wheel.urls = {"https://files.example/toy.whl"};
  ASSERT_TRUE(publish::add(workspace(), wheel));
  EXPECT_THAT(bytes_of(workspace().engine_file("toy")), HasSubstr("\"https://files.example/toy.whl\""));
}

TEST_F(PublisherTest, LintFindsAWheelUnderTheNameOfAnotherOne) {
  const auto problems_of = [&](const std::string& name, const std::string& within) {
    run({"python3", "-c",
         "import sys,zipfile\n"
         "with zipfile.ZipFile(sys.argv[2],'w') as z:\n"
         "  z.write(sys.argv[1],'toy/lib/libtoy.so')\n"
         "  z.writestr(sys.argv[3]+'.dist-info/METADATA','Name: toy')\n",
         (folder() / "toy/lib/libtoy.so").native(), (folder() / name).native(), within});
    AddRequest wheel = request("1.0");
    wheel.file = folder() / name;
    const auto added = publish::add(workspace(), wheel);
    EXPECT_TRUE(added) << added.error().value(Key::problem);
    return problems();
  };
  EXPECT_THAT(problems_of("Toy_Engine-1.0-py3-none-any.whl", "toy_engine-1.0"), IsEmpty());
  EXPECT_THAT(
      problems_of("toy_engine-1.0-py3-none-any.whl", "toy_engine-1.1"),
      HasSubstr(
          "toy_engine-1.0-py3-none-any.whl is toy-engine 1.1 by what it holds: the package index has other "
          "bytes under that name"));
  EXPECT_THAT(problems_of("toy_engine-1.0-py3-none-any.whl", "toy_motor-1.0"),
              HasSubstr("is toy-motor 1.0 by what"));
}

TEST_F(PublisherTest, LintFindsAGlibcThatIsTooOldForTheFiles) {
  add_toy();
  edit("\"glibc\": \">=2.", "\"glibc\": \">=1.");
  EXPECT_THAT(problems(), HasSubstr("its files need >=2."));
}

TEST_F(PublisherTest, LintReadsBoundsAsUsersMachinesDo) {
  add_toy();
  const std::string good = bytes_of(workspace().engine_file("toy"));
  const Json manifest = *parse_json(good, "toy");
  const std::string needed = manifest["builds"].as_array()[0]["requires"]["glibc"].as_string();
  const std::string least = needed.substr(2);
  const auto with = [&](const std::string& bound) {
    write("repository/engines/toy.json", good);
    edit("\"glibc\": \"" + needed + "\"", "\"glibc\": \"" + bound + "\"");
    return problems();
  };
  const std::vector<std::string> enough = {">= " + least, ">" + least, "==" + least,
                                           least,         ">=8",       "<9, >=" + least};
  for (const std::string& bound : enough) EXPECT_THAT(with(bound), IsEmpty()) << bound;
  const std::vector<std::string> too_low = {"2.1", "==2.1", "<" + least, "<=" + least, "<9,>2.1"};
  for (const std::string& bound : too_low)
    EXPECT_THAT(with(bound), HasSubstr("its files need >=" + least + ", it says " + bound)) << bound;
}

TEST_F(PublisherTest, LintComparesProcessorAndToolkitWithTheFiles) {
  if (std::string(test::architecture) != "x86_64") GTEST_SKIP() << "levels are of x86-64";
  library("toy/lib/libtoy.so", "int toy_answer(void) { return 42; }",
          {"-march=x86-64-v3", "-Wl,-z,x86-64-v3", "-Wl,-soname,libtoy.so"});
  AddRequest gpu = request();
  gpu.flavor = "cu118";
  const auto added = publish::add(workspace(), gpu);
  ASSERT_TRUE(added);
  if (added->requirements["cpu"].is_null()) GTEST_SKIP() << "this linker notes no level";
  EXPECT_THAT(problems(), IsEmpty());
  edit("x86-64-v3", "x86-64-v2");
  edit("\"toolkit\": \"11.8\"", "\"toolkit\": \"11.7\"");
  EXPECT_THAT(problems(), AllOf(HasSubstr("requires.cpu: its files need x86-64-v3, it says x86-64-v2"),
                                HasSubstr("requires.cuda: its files need the toolkit 11.8, it says 11.7")));
}

TEST_F(PublisherTest, StandInsAreReadFromTheFilesAndCheckedByLint) {
  library("toy/stand-ins/libaccelerate.so.13", "int count(void) { return 0; }",
          test::stand_in_named("libaccelerate.so.13"));
  const auto added = publish::add(workspace(), request());
  ASSERT_TRUE(added) << added.error().value(Key::problem);
  const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  const Json& components = (*document)["components"];
  const Json& names = components["toy-1.0.0-cpu-" + platform()]["stands_in_for"];
  EXPECT_EQ(names.dump(), R"(["libaccelerate.so.13"])");
  EXPECT_EQ(components["toy-plugin-1.0.0-cpu-" + platform()].find("stands_in_for"), nullptr);
  EXPECT_THAT(problems(), IsEmpty());
  const std::string toy_file = toy_library().filename().native();
  edit("\"libaccelerate.so.13\"\n", "\"" + toy_file + "\"\n");
  EXPECT_THAT(problems(),
              AllOf(HasSubstr("libaccelerate.so.13 is a stand-in, and the component does not name it"),
                    HasSubstr(toy_file + " is no stand-in of its files")));
}

TEST_F(PublisherTest, LintChecksTheFilesOfABuildWithoutPluginToo) {
  library("toy/lib/libtoy.so", "#include <stdio.h>\nint toy_answer(void) { return puts(\"42\"); }",
          {"-Wl,-soname,libtoy.so"});
  add_toy();
  edit("\"priority\"", "\"not_built\": \"Compile the plugin.\", \"priority\"");
  EXPECT_THAT(problems(), IsEmpty());
  edit("\"glibc\": \">=2.", "\"glibc\": \">=1.");
  EXPECT_THAT(problems(), HasSubstr("its files need >=2."));
}

}  // namespace
}  // namespace enginehost::publish
