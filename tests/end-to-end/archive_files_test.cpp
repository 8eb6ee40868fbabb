// A publisher's archive on its way through a signed repository, a client and a bundle to a machine without a
// network.
#include <gmock/gmock.h>

#include "base/paths.hpp"
#include "tests/end-to-end/publisher.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

struct Packed {
  const char* file;  // the archive's name; its ending decides the kind
  const char* kind;
  const char* top;  // the folder in the archive that holds everything
  std::vector<std::string> flags;
  std::size_t files;  // how many the manifest names
};

void PrintTo(const Packed& packed, std::ostream* out) { *out << packed.file; }

class ArchiveFiles : public Publisher, public testing::WithParamInterface<Packed> {
 protected:
  void SetUp() override {
    if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
    if (ChildRequest zstd;
        zstd.argv = {"zstd", "--version"}, !run_child(zstd) || !run_child(zstd)->succeeded())
      GTEST_SKIP() << "zstd is not installed";
    Publisher::SetUp();
  }
  std::string archive() const {
    const std::string top = GetParam().top;
    return make_archive(GetParam().kind,
                        {{top + "libengine_toy.so", reference_plugin(), 0755},
                         {top + "lib/libtoy.so.1", read_text(publisher_ / "toy/lib/libtoy.so"), 0644},
                         {.path = top + "lib/libtoy.so", .bytes = "", .link = "libtoy.so.1"},
                         {top + "share/words.txt", "toy", 0644},
                         {top + "share/unused.txt", "unused", 0644}});
  }
  // The other machine, whose administrator accepts only what a trusted key signed.
  Ended import(const fs::path& bundle) const {
    RunOptions options;
    options.launcher = with_system_file(
        other_, Json::object().set("policy", Json::object().set("require_signatures", true)));
    return other_.run("engine-cache", {"import", bundle.native(), "--json"}, options);
  }
  static constexpr const char* build = "reference-1.0.0-cpu-linux-";
  Workplace other_;
};

TEST_P(ArchiveFiles, AreKnownByNameOnMachinesWithoutANetwork) {
  const Packed& packed = GetParam();
  write_text(publisher_ / packed.file, archive());
  write_text(server_.root() / packed.file, archive());
  std::string flags;
  for (const std::string& flag : packed.flags) flags += " '" + flag + "'";
  if (std::string(packed.file).ends_with(".whl"))  // else it is expected in the package index
    flags += std::string(" --url https://engines.example/") + packed.file;
  sh("engine-manifest init repository --name Toy\n"
     "engine-manifest add repository " +
     std::string(packed.file) + " --engine reference --version 1.0.0 --flavor cpu" + flags);
  const auto manifest = parse_json(read_text(publisher_ / "repository/engines/reference.json"), "manifest");
  ASSERT_TRUE(manifest);
  const Json& component = (*manifest)["components"].as_object().front().second;
  EXPECT_EQ(component["artifacts"].as_array()[0]["files"].as_array().size(), packed.files);
  sh("engine-manifest lint repository");
  EXPECT_THAT(said_, HasSubstr("0 errors"));
  EXPECT_THAT(said_, Not(HasSubstr("tree")));
  sh("minisign -G -W -p key.pub -s key.key\n"
     "engine-manifest sign repository --key key.key\n"
     "engine-manifest publish repository /srv/www/engines\n"
     "engine-cache trust add key.pub");
  configure();
  const Ended fetched = user_.run("engine-cache", {"fetch", "reference", "--json"});
  ASSERT_EQ(fetched.status, 0) << fetched.said();
  const fs::path bundle = publisher_ / "good.bundle", altered = publisher_ / "altered.bundle";
  const Ended exported = user_.run(
      "engine-cache",
      {"export", bundle.native(), build + std::string(architecture), "--redistribute", "unknown", "--json"});
  ASSERT_EQ(exported.status, 0) << exported.said();
  ASSERT_EQ(other_.run("engine-cache", {"trust", "add", (publisher_ / "key.pub").native()}).status, 0);

  ChildRequest alter;
  alter.argv = {"python3", source_path("/tests/end-to-end/alter_bundle.py"), bundle.native(),
                "share/words.txt", altered.native()};
  const auto made = run_child(alter);
  ASSERT_TRUE(made && made->succeeded()) << (made ? made->error : "");
  const Ended refused = import(altered);
  EXPECT_EQ(refused.code(), "EH-F40") << refused.said();
  EXPECT_THAT(refused.said(), HasSubstr("are not those that its manifest names"));
  EXPECT_TRUE(other_.run("engine-cache", {"list", "--json"}).document["builds"].as_array().empty());

  const Ended imported = import(bundle);
  ASSERT_EQ(imported.status, 0) << imported.said();
  const Json& one = imported.document["builds"].as_array()[0];
  EXPECT_EQ(one["files_named_by"].as_string(), "manifest");
  EXPECT_EQ(one["signed_by"].as_array().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Each, ArchiveFiles,
    testing::Values(Packed{"engine.zip", "zip", "", {}, 5}, Packed{"engine.tar.gz", "tar.gz", "", {}, 5},
                    Packed{"engine.tar.xz", "tar.xz", "", {}, 5},
                    Packed{"engine.tar.zst", "tar.zst", "", {}, 5},
                    Packed{"toy-1.0.0-py3-none-any.whl", "zip", "", {}, 5},
                    Packed{"part.tar.gz",
                           "tar.gz",
                           "toy-1.0/",
                           {"--strip", "1", "--select", "lib*", "--select", "lib/*", "--select", "share/w*"},
                           4}));

}  // namespace
}  // namespace enginehost::test
