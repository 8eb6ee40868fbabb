// An installed build that was damaged: reported with the file, and repaired by the next open or by the
// command that the report names.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <functional>

#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Damage {
  const char* name;
  std::function<void(const fs::path&)> apply;
  const char* code;
};

void replace(const fs::path& file, const std::string& bytes) {
  // As another program would: another file under the same name.
  const fs::path other = file.native() + ".other";
  write_text(other, bytes);
  fs::rename(other, file);
}

void overwrite(const fs::path& file, const std::function<void(std::string&)>& change) {
  std::string bytes = read_text(file);
  change(bytes);
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  write_text(file, bytes);
}

const std::vector<Damage> damages = {
    {"deleted", [](const fs::path& file) { fs::remove(file); }, "EH-F01"},
    {"emptied", [](const fs::path& file) { overwrite(file, [](std::string& bytes) { bytes.clear(); }); },
     "EH-F02"},
    {"truncated",
     [](const fs::path& file) { overwrite(file, [](std::string& bytes) { bytes.resize(4096); }); }, "EH-F04"},
    {"flipped",
     [](const fs::path& file) { overwrite(file, [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; }); },
     "EH-F08"},
    {"zeroed",
     [](const fs::path& file) {
       overwrite(file, [](std::string& bytes) { std::fill(bytes.begin(), bytes.end(), '\0'); });
     },
     "EH-F08"},
    {"replaced", [](const fs::path& file) { replace(file, noise(reference_plugin().size())); }, "EH-F08"}};

class Installed {
 public:
  Installed() : repository(workplace.folder() / "repository") {
    repository.add(good_build());
    repository.write();
    const Ended run = open();
    EXPECT_EQ(run.status, 0) << run.said();
    library = run.outcome()["library"].as_string();
  }
  Ended open() const {
    return workplace.info({"reference", "--repository", repository.root().native(), "--json"});
  }

  Workplace workplace;
  TestRepository repository;
  fs::path library;
};

class DamagedBuild : public testing::TestWithParam<Damage> {};

TEST_P(DamagedBuild, Case29IsRepairedByTheNextOpen) {
  const Installed installed;
  GetParam().apply(installed.library);
  const Ended run = installed.open();
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["state"].as_string(), "opened");
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("libengine_reference.so"));
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr(GetParam().code));
  EXPECT_EQ(read_text(installed.library), reference_plugin());
  const Ended next = installed.open();
  EXPECT_EQ(next.status, 0);
  EXPECT_TRUE(next.document["warnings"].as_array().empty()) << next.document["warnings"].dump(2);
}

TEST_P(DamagedBuild, IsReportedWithTheFileAndTheCommandWithoutASource) {
  const Installed installed;
  GetParam().apply(installed.library);
  fs::remove_all(installed.repository.root() / "files");
  const Ended run = installed.open();
  if (run.status == 0) {
    // Only the view has another file; the store still has the right one and needs no source.
    EXPECT_EQ(read_text(installed.library), reference_plugin());
  } else {
    EXPECT_TRUE(run.status == 5 || run.status == 6) << run.said();
    EXPECT_EQ(run.code(), GetParam().code) << run.said();
    EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("libengine_reference.so"));
    EXPECT_THAT(run.diagnosis()["remedy"].dump(),
                testing::ContainsRegex("engine-cache verify( --repository [^ ]+)? (--deep )?--repair"));
  }
  // With the source back, the next open succeeds.
  TestRepository whole(installed.repository.root());
  whole.add(good_build());
  whole.write();
  EXPECT_EQ(installed.open().status, 0);
}

TEST_P(DamagedBuild, Case29IsFoundAndRepairedByVerify) {
  const Installed installed;
  GetParam().apply(installed.library);
  const std::string repository = installed.repository.root().native();
  const Ended found =
      installed.workplace.run("engine-cache", {"verify", "--deep", "--json", "--repository", repository});
  EXPECT_TRUE(found.status == 5 || found.status == 6) << found.said();
  EXPECT_THAT(found.output, HasSubstr(GetParam().code));
  EXPECT_THAT(found.output, HasSubstr("libengine_reference.so"));
  const Ended repaired = installed.workplace.run(
      "engine-cache", {"verify", "--deep", "--repair", "--json", "--repository", repository});
  EXPECT_EQ(repaired.status, 0) << repaired.said();
  EXPECT_EQ(read_text(installed.library), reference_plugin());
  const Ended clean =
      installed.workplace.run("engine-cache", {"verify", "--deep", "--json", "--repository", repository});
  EXPECT_EQ(clean.status, 0) << clean.said();
  EXPECT_EQ(installed.open().status, 0);
}

INSTANTIATE_TEST_SUITE_P(OfTheInstalledPlugin, DamagedBuild, testing::ValuesIn(damages),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace enginehost::test
