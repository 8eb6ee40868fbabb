// Ctrl-C while something is fetched.
#include "tests/end-to-end/interrupted.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "base/paths.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Interrupted : public testing::Test {
 protected:
  Interrupted() { served.publish(); }
  // The bytes of the archive that have arrived.
  std::uintmax_t arrived() const {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(workplace.cache() / "partial" / served.digest, error);
    return error ? 0 : size;
  }
  void wait_for_some() const {
    for (int looks = 0; looks < 10'000 && arrived() == 0; ++looks) std::this_thread::sleep_for(2ms);
    ASSERT_GT(arrived(), 0u);
  }
  std::vector<std::string> fetch() const {
    return {"fetch", "reference", "--allow-unsigned", "--repository", served.location(), "--json"};
  }

  Served served{"limit_rate 400k;"};
  Workplace workplace;
};

TEST_F(Interrupted, FetchEndsWith130AndTheNextOneResumes) {
  const fs::path said = workplace.folder() / "said.json";
  Running running(workplace.request("engine-cache", fetch()), said);
  wait_for_some();
  running.interrupt();
  const auto status = running.ended_within(10s);
  ASSERT_TRUE(status) << "it goes on all the same";
  EXPECT_EQ(*status, 130);
  const auto document = parse_json(read_text(said), "stdout");
  ASSERT_TRUE(document) << read_text(said);
  EXPECT_EQ((*document)["diagnosis"]["code"].as_string(), "EH-P10");
  const std::uintmax_t kept = arrived();
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, served.archive.size());

  const Ended next = workplace.run("engine-cache", fetch());
  EXPECT_EQ(next.status, 0) << next.said();
  EXPECT_THAT(served.server.log(), testing::HasSubstr(" 206 " + std::to_string(served.archive.size() - kept) +
                                                      " bytes=" + std::to_string(kept) + "-"));
}

#ifndef _WIN32
TEST_F(Interrupted, PrintsOneLineAboutWhatIsKept) {
  const fs::path said = workplace.folder() / "said.txt";
  for (const auto& [command, words] :
       {std::pair<std::string, std::vector<std::string>>{"engine-info", {"reference"}},
        {"engine-cache", {"fetch", "reference"}}}) {
    fs::remove_all(workplace.cache() / "partial");
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"--allow-unsigned", "--repository", served.location(), "--quiet"});
    ChildRequest request = workplace.request(command, arguments);
    request.argv.insert(request.argv.begin(), {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"});
    Running running(request, said);
    wait_for_some();
    std::this_thread::sleep_for(500ms);  // until the progress was reported
    running.interrupt();
    const auto status = running.ended_within(10s);
    ASSERT_TRUE(status) << "it goes on all the same";
    EXPECT_EQ(*status, 130);
    EXPECT_THAT(read_text(said),
                testing::MatchesRegex("stopped; [0-9.]+ [KM]iB of [0-9.]+ [KM]iB are kept\n"));
  }
}

TEST_F(Interrupted, FetchEndsInOrderWhenTheTerminalCloses) {
  const fs::path said = workplace.folder() / "said.json";
  Running running(workplace.request("engine-cache", fetch()), said);
  wait_for_some();
  running.hang_up();
  running.hang_up();
  const auto status = running.ended_within(10s);
  ASSERT_TRUE(status) << "it goes on all the same";
  EXPECT_EQ(*status, 130);
  const auto document = parse_json(read_text(said), "stdout");
  ASSERT_TRUE(document) << read_text(said);
  EXPECT_EQ((*document)["diagnosis"]["code"].as_string(), "EH-P10");
  EXPECT_GT(arrived(), 0u);
  EXPECT_TRUE(!fs::exists(workplace.cache() / "stage") || fs::is_empty(workplace.cache() / "stage") ||
              fs::is_empty(*fs::directory_iterator(workplace.cache() / "stage")));
}

TEST_F(Interrupted, FetchUnderNohupOutlivesItsTerminal) {
  const fs::path said = workplace.folder() / "said.json";
  ChildRequest request = workplace.request("engine-cache", fetch());
  request.argv.insert(request.argv.begin(), {"/bin/sh", "-c", "trap '' HUP && exec \"$@\"", "sh"});
  Running running(request, said);
  wait_for_some();
  running.hang_up();
  const auto status = running.ended_within(60s);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 0) << read_text(said);
}
#endif

// An earlier failure is not the reason why the command ended.
TEST_F(Interrupted, FallbackEndsWith130) {
  TestBuild better = good_build("reference-better");
  better.version = "2.0.0";
  better.files.push_back({"share/more.bin", "more"});
  served.repository.add(better);
  served.repository.write();
  write_text(served.repository.root() / "files" / served.repository.store("more"), "evil");
  std::vector<std::string> open = served.arguments();
  for (const auto& [command, arguments] :
       {std::pair{"engine-cache", fetch()}, std::pair{"engine-info", open}}) {
    const fs::path said = workplace.folder() / "said.json";
    fs::remove_all(workplace.cache() / "partial");
    Running running(workplace.request(command, arguments), said);
    wait_for_some();
    running.interrupt();
    const auto status = running.ended_within(10s);
    ASSERT_TRUE(status) << "it goes on all the same";
    EXPECT_EQ(*status, 130) << command;
    const auto document = parse_json(read_text(said), "stdout");
    ASSERT_TRUE(document) << read_text(said);
    EXPECT_EQ((*document)["diagnosis"]["code"].as_string(), "EH-P10") << command;
  }
}

TEST_F(Interrupted, OpenEndsWith130) {
  const fs::path said = workplace.folder() / "said.json";
  Running running(workplace.request("engine-info", served.arguments()), said);
  wait_for_some();
  running.interrupt();
  const auto status = running.ended_within(10s);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 130);
  const auto document = parse_json(read_text(said), "stdout");
  ASSERT_TRUE(document) << read_text(said);
  EXPECT_EQ((*document)["diagnosis"]["code"].as_string(), "EH-P10");
}

}  // namespace
}  // namespace enginehost::test
