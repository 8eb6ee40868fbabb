// Rows that a user's machine derives for itself.
#include "tools/follow/from_index.hpp"

#include "base/paths.hpp"
#include "host/acquire/description.hpp"
#include "host/manifest/repository.hpp"
#include "tests/follow/wheels.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::follow {
namespace {

class FromIndexTest : public DeriveTest {
 protected:
  FromIndexTest() {
    publish("toy", "1.0", wheel_of(toy()));
    publish("toy", "1.1", wheel_of(toy("1.1")));
    request.os = "linux";
    request.arch = test::architecture;
    request.plan = folder / "plans/toy.json";
    request.own = folder / "own";
    request.folder = folder / "derived";
    request.now = now;
    write_plan(test::architecture);
    write_own(Json::array().push(
        Json::object()
            .set("sha256", sha256_hex("plugin"))
            .set("size", 6)
            .set("archive", "none")
            .set("path", "libengine_toy.so")
            .set("sources", Json::array().push(Json::object().set("file", "files/plugin")))));
  }
  void write_plan(const std::string& arch, const std::string& engine = "toy") {
    Json given =
        Json::object().set("layout", "main").set("os", "linux").set("arch", arch).set("build", row.build);
    const Layout& main = plan.layouts.front().second;
    test::write_text(
        request.plan,
        Json::object()
            .set("format", 1)
            .set("engine", engine)
            .set("manifest", "toy-manifest.json")
            .set("facts", "facts")
            .set("hold_back_days", 0)
            .set("licenses", plan.licenses)
            .set("layouts", Json::object().set("main", Json::object()
                                                           .set("project", main.project)
                                                           .set("wheel", main.wheel)
                                                           .set("component", main.component)
                                                           .set("license", main.license)
                                                           .set("select", Json::strings(main.select))
                                                           .set("libraries", Json::array().push("libtoy.so"))
                                                           .set("optional", Json::array())
                                                           .set("ignored", Json::array())))
            .set("tracks", Json::array().push(Json::object()
                                                  .set("name", "toy")
                                                  .set("project", "toy")
                                                  .set("versions", ">=1.0,<2")
                                                  .set("newest", 3)
                                                  .set("keep", Json::array())
                                                  .set("cuda_majors", Json::array())
                                                  .set("rows", Json::array().push(std::move(given)))))
            .dump());
  }
  void write_own(Json artifacts, const std::string& engine = "toy", const Json& builds = Json::array()) {
    auto own = publish::Workspace::open(request.own);
    if (!own) own = publish::Workspace::create(request.own, "own");
    ASSERT_TRUE(own);
    ASSERT_TRUE(own->write_json(
        own->engine_file(engine),
        Json::object()
            .set("format", 1)
            .set("engine", engine)
            .set("serial", 1)
            .set("licenses", Json::object().set("enginehost", Json::object().set("id", "Apache-2.0")))
            .set("components", Json::object().set("toy-plugin", Json::object()
                                                                    .set("version", "1")
                                                                    .set("license", "enginehost")
                                                                    .set("artifacts", std::move(artifacts))))
            .set("builds", builds)));
    ASSERT_TRUE(own->prepare(now));
  }
  Result<FromIndex> run(const std::string& version = "1.0") {
    PackageIndex index(options, {});
    TRY_ASSIGN(const auto derived, DerivedRepository::open(request, index, options));
    return derived->derive(version);
  }
  std::shared_ptr<const manifest::Manifest> made() const {
    const fs::path file = request.folder / "engines/toy.json";
    const auto document = parse_json(test::read_text(file), "toy.json");
    const auto read = manifest::read_manifest(*document, path_text(request.folder), "toy.json");
    EXPECT_TRUE(read) << (read ? "" : read.error().value(Key::problem));
    return read ? *read : nullptr;
  }

  const std::int64_t now = 1'796'083'200;
  FromIndexRequest request;
};

TEST_F(FromIndexTest, MakesARepositoryThatSaysWhereItCameFrom) {
  const auto first = run();
  ASSERT_TRUE(first) << first.error().code << first.error().value(Key::problem);
  EXPECT_EQ(first->builds, std::vector<std::string>{"toy-1.0-cpu"});
  ASSERT_TRUE(run("1.1"));
  const auto manifest = made();
  ASSERT_TRUE(manifest);
  ASSERT_EQ(manifest->builds.size(), 2u) << "those of earlier runs stay";
  EXPECT_EQ(manifest->builds.front()->priority, -1000);
  EXPECT_EQ(manifest->components.at("toy-plugin").artifacts.front().sources.front().location,
            path_text(folder / "own/files/plugin"));
  const auto index = parse_json(test::read_text(request.folder / "index.json"), "index.json");
  ASSERT_TRUE(index);
  EXPECT_EQ((*index)["name"].as_string(), acquire::derived_here);
}

TEST_F(FromIndexTest, ReportsAVersionThatThePlanDoesNotServe) {
  const auto refused = run("2.5");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-S37");
  EXPECT_EQ(refused.error().value(Key::served), ">=1.0,<2");
  EXPECT_FALSE(fs::exists(request.folder / "index.json"));
}

TEST_F(FromIndexTest, ReportsASystemWithoutRows) {
  write_plan("riscv64");
  const auto refused = run();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-S37");
  EXPECT_EQ(refused.error().value(Key::no_row_for), "linux " + std::string(test::architecture));
}

// Another process may have derived it between the reading and the writing.
TEST_F(FromIndexTest, LosesNoRowOfAnotherRequest) {
  PackageIndex index(options, {});
  const auto one = DerivedRepository::open(request, index, options);
  ASSERT_TRUE(one);
  ASSERT_TRUE(run("1.1"));
  ASSERT_TRUE((*one)->derive("1.0"));
  EXPECT_EQ(made()->builds.size(), 2u);
}

TEST_F(FromIndexTest, ChangesNothingIfNothingIsNew) {
  ASSERT_TRUE(run());
  const std::string before = test::read_text(request.folder / "engines/toy.json");
  const auto again = run();
  ASSERT_TRUE(again);
  EXPECT_EQ(test::read_text(request.folder / "engines/toy.json"), before);
  EXPECT_FALSE(fs::exists(request.folder / "scratch"));
}

TEST_F(FromIndexTest, KnowsWhatWasDerivedBefore) {
  ASSERT_TRUE(run());
  ASSERT_TRUE(run("1.1"));
  PackageIndex index(options, {});
  const auto derived = DerivedRepository::open(request, index, options);
  ASSERT_TRUE(derived);
  EXPECT_EQ((*derived)->derived_before(""), (std::vector<std::string>{"1.1", "1.0"}));
  EXPECT_EQ((*derived)->derived_before("1.0"), std::vector<std::string>{"1.0"});
}

TEST_F(FromIndexTest, ReportsAPluginThatWasNotCompiledBeforeItFetches) {
  write_own(Json::array());
  const auto refused = run();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().value(Key::component), "toy-plugin");
  EXPECT_EQ(server.requests("GET /"), 0);
}

TEST_F(FromIndexTest, NamesWhatCompilesAnAdapterOfPyTorch) {
  write_plan(test::architecture, "pytorch");
  const Json listed =
      Json::object()
          .set("id", "pytorch-1.0.7-cpu")
          .set("version", "1.0.7")
          .set("flavor", "cpu")
          .set("os", "linux")
          .set("arch", test::architecture)
          .set("requires", Json::object())
          .set("plugin", Json::object().set("component", "toy-plugin").set("path", "libengine_toy.so"))
          .set("components", Json::array());
  write_own(Json::array(), "pytorch", Json::array().push(listed));
  const auto refused = run();
  ASSERT_FALSE(refused);
  const std::string remedy(refused.error().value(Key::remedy));
  EXPECT_THAT(remedy, testing::HasSubstr("fetch_headers.py --release 1.0.7 build/torch"));
  EXPECT_THAT(remedy, testing::HasSubstr("-DENGINEHOST_TORCH_ROOT="));
  const auto without = run("1.1");
  EXPECT_THAT(std::string(without.error().value(Key::remedy)),
              testing::HasSubstr("the folder torch of its wheel"));
  EXPECT_EQ(run("2.5").error().value(Key::adapter), "2.5");
}

}  // namespace
}  // namespace enginehost::follow
