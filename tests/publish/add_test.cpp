#include "host/acquire/acquire.hpp"
#include "host/publish/requirements.hpp"
#include "host/publish/wheel_name.hpp"
#include "host/transfer/chunk_list.hpp"
#include "tests/publish/fixture.hpp"

namespace enginehost::publish {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(PublisherTest, requirements_are_read_from_the_files) {
  library("toy/lib/libwords.so",
          "#include <string>\nstd::string words(const char* text) { return std::string(text) + text; }\n", {},
          {"g++", "-xc++"});
  const auto added = publish::add(workspace(), request());
  ASSERT_TRUE(added) << added.error().value("problem");
  EXPECT_EQ(added->build, "toy-1.0.0-cpu-linux-x86_64");
  const Json& needs = added->requirements;
  EXPECT_THAT(needs["glibc"].as_string(), testing::StartsWith(">=2."));
  EXPECT_THAT(needs["glibcxx"].as_string(), testing::StartsWith(">=3.4"));
  // The plugin of a sanitizer's build truly needs the sanitizer's library.
  if (const Json* libraries = needs.find("libraries")) {
    for (const Json& library : libraries->as_array())
      EXPECT_THAT(library.as_string(), testing::MatchesRegex("lib(a|t|ub)san\\.so\\.[0-9]+"));
  }
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PublisherTest, what_ties_a_plugin_to_its_runtime_is_read_from_its_file) {
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
    EXPECT_TRUE(added) << (added ? "" : std::string(added.error().value("problem")));
    const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
    const Json& components = (*document)["components"];
    EXPECT_EQ(components["toy-1." + abi + ".0-cpu-linux-x86_64"].find("adapter"), nullptr);
    return components["toy-plugin-1." + abi + ".0-cpu-linux-x86_64"]["adapter"];
  };
  EXPECT_EQ(adapter_with("1").dump(), R"({"needs":["libtoy.so"],"cxx11_abi":"1"})");
  EXPECT_EQ(adapter_with("0").dump(), R"({"needs":["libtoy.so"],"cxx11_abi":"0"})");
}

TEST_F(PublisherTest, a_plugin_that_opens_its_runtime_by_name_is_tied_to_none) {
  add_toy();
  const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  const Json& plugin = (*document)["components"]["toy-plugin-1.0.0-cpu-linux-x86_64"];
  ASSERT_NE(plugin.find("artifacts"), nullptr);
#ifndef ENGINEHOST_SANITIZED  // such a plugin truly needs the sanitizer's library
  EXPECT_EQ(plugin.find("adapter"), nullptr);
#endif
}

TEST_F(PublisherTest, the_same_folder_gives_the_same_archive) {
  add_toy();
  const auto digest_of = [&] {
    const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
    return (*document)["components"]["toy-1.0.0-cpu-linux-x86_64"]["artifacts"]
        .as_array()[0]["sha256"]
        .as_string();
  };
  const std::string first = digest_of();
  fs::last_write_time(folder() / "toy/lib/libtoy.so",
                      fs::file_time_type::clock::now() + std::chrono::hours(1));
  add_toy();
  EXPECT_EQ(digest_of(), first);
}

TEST_F(PublisherTest, a_library_that_no_component_brings_is_required_of_the_system) {
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

TEST_F(PublisherTest, the_manifest_names_the_files_that_an_installation_gets) {
  const auto install = [&](const std::string& build) {
    const cache::Store store = cache::Store::open(folder() / ("cache-" + build));
    manifest::FolderReader files;
    const auto content = manifest::load_repository(repository().native(), files, in_2026, nullptr, nullptr);
    for (const auto& manifest : content->manifests)
      for (const auto& one : manifest->builds) {
        if (one->id != build) continue;
        for (const manifest::Component* component : one->all_components())
          EXPECT_EQ(component->artifacts.front().tree.size(), 64u) << component->id;
        const auto acquired = acquire::acquire(*one, store, {});
        ASSERT_TRUE(acquired) << acquired.error().code << " " << acquired.error().value("problem");
        EXPECT_EQ(acquired->installed.digest, one->digest);
      }
  };
  // A wheel's modes and links stand in its directory only.
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
  // The wheel from its folder in the place of a package index.
  fs::copy_file(wheel.file, repository() / "files" / "toy.whl");
  edit("\"package_index\": {", "\"file\": \"files/toy.whl\"}, {\"package_index\": {");
  ASSERT_TRUE(workspace().prepare(in_2026));
  install("toy-1.0.0-cpu-linux-x86_64");
  install("toy-2.0.0-cpu-linux-x86_64");
}

TEST_F(PublisherTest, a_large_archive_gets_a_list_of_its_pieces_and_a_small_one_does_not) {
  AddRequest large = request();
  add_toy();
  EXPECT_THAT(bytes_of(workspace().engine_file("toy")), testing::Not(HasSubstr("\"chunks\"")));
  large.chunks_from = 1000;
  const auto added = publish::add(workspace(), large);
  ASSERT_TRUE(added);
  const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  const Json& artifact =
      (*document)["components"]["toy-plugin-1.0.0-cpu-linux-x86_64"]["artifacts"].as_array()[0];
  const std::string place = artifact["chunks"]["sources"].as_array()[0]["file"].as_string();
  const auto list = transfer::read_chunk_list(bytes_of(repository() / place), place);
  ASSERT_TRUE(list) << list.error().value("problem");
  EXPECT_EQ(list->size, static_cast<std::uint64_t>(artifact["size"].as_integer()));
  EXPECT_THAT(list->sha256, ElementsAre(artifact["sha256"].as_string()));  // one piece: the whole
  EXPECT_THAT(problems(), IsEmpty());
  ASSERT_TRUE(publish::publish(workspace(), out(), in_2026));
  EXPECT_EQ(bytes_of(out() / place), bytes_of(repository() / place));
  write("repository/" + place, "enginehost-chunks 1\n");
  EXPECT_THAT(problems(), HasSubstr("has other bytes than its sha256 says"));
}

TEST_F(PublisherTest, without_a_plugin_nothing_is_added) {
  AddRequest without = request();
  without.plugin.clear();
  const auto added = publish::add(workspace(), without);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, "EH-M17");
  EXPECT_THAT(std::string(added.error().value("problem")), HasSubstr("engine_plugin_v1"));
  EXPECT_THAT(workspace().engine_files(), IsEmpty());
}

TEST_F(PublisherTest, a_wheel_is_left_to_the_package_index_and_a_url_is_taken_as_it_is) {
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

TEST_F(PublisherTest, lint_tells_what_would_fail_on_users_machines) {
  add_toy();
  ASSERT_THAT(problems(), IsEmpty());
  const std::string good = bytes_of(workspace().engine_file("toy"));
  const struct {
    std::string from, to, said;
  } mistakes[] = {
      {"\"priority\"", "\"prioritty\"", "prioritty"},
      {"\"glibc\": \">=2.", "\"glibc\": \">=1.", "its files need >=2."},
      {"\"libengine_toy.so\"\n", "\"libother.so\"\n", "libother.so is not in"},
      {"\"lazy\": []", "\"lazy\": [\"liblazy.so\"]", "liblazy.so is in none of the search folders"},
      {"\"os\": \"linux\"", "\"os\": \"windows\"", "its libraries are for linux"},
      {"\"archive\": \"tar.zst\"", "\"archive\": \"tar.gz\"", "is a tar.zst file"},
      {"\"file\": \"files/", "\"file\": \"files/gone-", "is not in the repository"},
      {"\"tree\": \"", "\"strip\": 1,\n     \"tree\": \"", "unpacks to other files than those of \"tree\""},
      {"\"digest\": \"", "\"digest\": \"" + std::string(64, '0') + "\", \"unused\": \"",
       "it is not that of the files"},
  };
  for (const auto& mistake : mistakes) {
    SCOPED_TRACE(mistake.said);
    write("repository/engines/toy.json", good);
    edit(mistake.from, mistake.to);
    EXPECT_THAT(problems(), HasSubstr(mistake.said));
  }
}

TEST_F(PublisherTest, lint_holds_the_files_of_a_build_without_plugin_to_the_same) {
  library("toy/lib/libtoy.so", "#include <stdio.h>\nint toy_answer(void) { return puts(\"42\"); }",
          {"-Wl,-soname,libtoy.so"});
  add_toy();
  edit("\"priority\"", "\"not_built\": \"Compile the plugin.\", \"priority\"");
  EXPECT_THAT(problems(), IsEmpty());
  edit("\"glibc\": \">=2.", "\"glibc\": \">=1.");
  EXPECT_THAT(problems(), HasSubstr("its files need >=2."));
}

TEST_F(PublisherTest, lint_wants_a_text_for_what_is_to_be_accepted) {
  add_toy();
  edit("\"id\": \"LicenseRef-unknown\"", "\"id\": \"LicenseRef-unknown\", \"accept\": \"explicit\"");
  EXPECT_THAT(problems(), AllOf(HasSubstr("no sha256 says of which text"), HasSubstr("nobody can read it")));
}

TEST_F(PublisherTest, lint_looks_for_the_text_of_a_licence_where_the_manifest_says_it_is) {
  add_toy();
  const auto manifest = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  ASSERT_TRUE(manifest);
  const std::string component = (*manifest)["builds"].as_array()[0]["plugin"]["component"].as_string();
  edit("\"id\": \"LicenseRef-unknown\"", "\"id\": \"LicenseRef-unknown\", \"text\": {\"component\": \"" +
                                             component + "\", \"path\": \"LICENSE\"}");
  EXPECT_THAT(problems(), HasSubstr("LICENSE is not in " + component));
}

TEST(WheelName, says_project_version_and_platform) {
  const auto name = read_wheel_name("Toy_Engine.gpu-1.0+cu118-2-cp311-cp311-manylinux_2_28_x86_64.whl");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->project, "toy-engine-gpu");
  EXPECT_EQ(name->version, "1.0+cu118");
  EXPECT_TRUE(wheel_is_for(*name, "linux", "x86_64"));
  EXPECT_FALSE(wheel_is_for(*name, "linux", "aarch64"));
  EXPECT_FALSE(wheel_is_for(*name, "windows", "x86_64"));
  EXPECT_TRUE(wheel_is_for(*read_wheel_name("a-1-py3-none-macosx_11_0_universal2.whl"), "macos", "arm64"));
  EXPECT_TRUE(wheel_is_for(*read_wheel_name("a-1-py3-none-win_amd64.whl"), "windows", "x86_64"));
  EXPECT_TRUE(wheel_is_for(*read_wheel_name("a-1-py3-none-any.whl"), "macos", "x86_64"));
  for (const char* wrong : {"a.whl", "a-1.whl", "a-1-py3-none-any.zip", "-1-py3-none-any.whl"})
    EXPECT_FALSE(read_wheel_name(wrong)) << wrong;
}

TEST_F(PublisherTest, lint_sees_a_published_file_with_other_bytes) {
  add_toy();
  for (const auto& file : fs::directory_iterator(repository() / "files"))
    std::ofstream(file.path(), std::ios::app) << "more";
  EXPECT_THAT(problems(), HasSubstr("has the sha256"));
}

TEST(Requirements, of_a_gpu_flavor_hold_toolkit_and_architectures_and_not_the_drivers_libraries) {
  ArtifactFacts part;
  part.files = {"lib/libgpu.so"};
  LibraryFacts library;
  library.path = "lib/libgpu.so";
  library.kind = "elf";
  library.machine = "x86_64";
  library.needed = {"libcuda.so.1", "libc.so.6", "libcudart.so.11.0"};
  library.sass = {"8.6", "7.0", "10.0"};
  library.ptx = {"9.0"};
  library.isa = 3;
  part.libraries = {library};
  const Json needs = requirements_of({part}, "cu118");
  EXPECT_EQ(needs["cuda"].dump(), R"({"toolkit":"11.8","sass":["7.0","8.6","10.0"],"ptx":["9.0"]})");
  EXPECT_EQ(needs["cpu"].dump(), R"(["x86-64-v3"])");
  EXPECT_EQ(needs["libraries"].dump(), R"(["libcudart.so.11.0"])");
}

TEST(Requirements, of_macos_and_windows_libraries) {
  ArtifactFacts mac;
  mac.files = {"lib/libmac.dylib"};
  LibraryFacts library;
  library.path = "lib/libmac.dylib";
  library.kind = "macho";
  library.machine = "aarch64";
  library.minimum_os = "14.0";
  library.needed = {"/usr/lib/libSystem.B.dylib", "@rpath/libmac.dylib", "@rpath/libgone.dylib"};
  mac.libraries = {library};
  EXPECT_EQ(requirements_of({mac}, "mps")["os_version"].as_string(), ">=14.0");
  ASSERT_EQ(outside({mac}, "mps").size(), 1u);
  EXPECT_EQ(outside({mac}, "mps")[0].name, "libgone.dylib");
  EXPECT_EQ(system_of({mac}).arch, "arm64");

  library.kind = "pe";
  library.machine = "x86_64";
  library.needed = {"KERNEL32.dll", "api-ms-win-crt-heap-l1-1-0.dll", "VCRUNTIME140.dll", "Far.dll"};
  ArtifactFacts windows;
  windows.files = {"lib/engine.dll"};
  windows.libraries = {library};
  EXPECT_EQ(requirements_of({windows}, "cpu")["vcruntime"].as_string(), ">=14.0");
  EXPECT_EQ(outside({windows}, "cpu")[0].name, "far.dll");
  EXPECT_EQ(system_of({windows}).os, "windows");
}

}  // namespace
}  // namespace enginehost::publish
