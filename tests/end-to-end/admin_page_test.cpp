// Runs the commands of docs/admin.md word for word, as the users and on the machines that the page names, and
// compares their output with the page. The page fetches ONNX Runtime from the package index. Here a small
// plugin has that engine's name and the ids of its builds.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <regex>
#include <sstream>

#include "base/text.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

struct Step {
  std::string place;  // the heading above
  bool root = false;
  std::string command, printed;
};

std::vector<Step> steps_of(const fs::path& page) {
  std::vector<Step> steps;
  std::istringstream lines(read_text(page));
  std::string place;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (!inside) {
      if (line.starts_with("### ")) place = line.substr(4);
    } else if (line.starts_with("$ ") || line.starts_with("# ")) {
      steps.push_back({place, line[0] == '#', line.substr(2), ""});
    } else if (!steps.empty()) {
      steps.back().printed += line + "\n";
    }
  }
  return steps;
}

// "…" in the page matches any text.
bool prints(const std::string& shown, const std::string& said) {
  const std::string any = "…";
  std::size_t at = 0, from = 0;
  for (;;) {
    const std::size_t gap = shown.find(any, from);
    const std::string piece = shown.substr(from, gap == std::string::npos ? gap : gap - from);
    if (gap == std::string::npos)
      return said.size() >= at + piece.size() && (from == 0 ? said == piece : said.ends_with(piece));
    const std::size_t found = said.find(piece, at);
    if (found == std::string::npos || (from == 0 && found != 0)) return false;
    at = found + piece.size();
    from = gap + any.size();
  }
}

// Standard error without the lines of progress, which the page does not show.
std::string without_progress(const std::string& error) {
  static const std::regex progress(
      "((fetching|checking|ready)  [^\n]*| *[a-z]+ [0-9.]+ cpu  [^\n]* in [0-9]+ files?)\n");
  return std::regex_replace(error, progress, "");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

const char* const nobody = "65534";

// Two builds have the runtime's bytes in common, so that the answer to a request can leave them out.
TestBuild build_of_page(const std::string& version, const std::string& arch) {
  static const std::string plugin =
      compile_library(read_text(source_path("/tests/faults/plugin.c")),
                      {"-w", "-I" + source_path("/plugin-api/include"), "-DENGINE=\"onnxruntime\""});
  TestBuild build;
  build.id = "onnxruntime-" + version + "-cpu-linux-" + arch;
  build.plugin = "libengine_onnxruntime.so";
  build.version = version;
  build.arch = arch;
  build.files = {{build.plugin, plugin},
                 {"share/runtime", std::string(1u << 17, 'r')},
                 {"share/version", version + arch}};
  return build;
}

// A connected machine, and an isolated one with its own mounts and without any network device. On the
// isolated one, commands of ordinary users run as another user to whom /var/lib is read-only.
class AdminPage : public testing::Test {
 protected:
  AdminPage()
      : repository(folder / "repository", "onnxruntime"),
        of_board(folder / "stick/board-repository", "onnxruntime") {
    fs::permissions(folder.path(), fs::perms(0755));
    for (const char* made :
         {"you/.config/enginehost", "them/.config/enginehost", "root/.config/enginehost", "stick", "var-lib"})
      fs::create_directories(folder / made);
    fs::permissions(folder / "stick", fs::perms(01777));
    for (const char* user : {"them", "root"})
      write_text(folder / user / ".config/enginehost/config.json", R"({"repositories_default": false})");
    write_text(folder / "you/.config/enginehost/config.json",
               Json::object()
                   .set("repositories_default", false)
                   .set("repositories",
                        Json::array().push(
                            Json::object().set("location", repository.root().native()).set("unsigned", true)))
                   .dump());
    // Each installation's repository has the plugins of its own kind of machine.
    for (const char* version : {"1.24.4", "1.27.0"}) {
      repository.add(build_of_page(version, "x86_64"));
      of_board.add(build_of_page(version, "aarch64"));
    }
    repository.write();
    of_board.write();
  }

  void SetUp() override {
    // The connected machine's facts, with the processor of an ARM board.
    const Ended self = run({"engine-info", "--platform-json"}, true);
    ASSERT_EQ(self.status, 0) << self.said();
    if (self.output.find("\"x86_64\"") == std::string::npos) GTEST_SKIP() << "written for x86_64";
    write_text(folder / "stick/board.json", replaced(self.output, "\"x86_64\"", "\"aarch64\""));
    if (::geteuid() != 0) GTEST_SKIP() << "becoming another user needs root";
    if (run({"sh", "-c", "true"}, false, true).status != 0)
      GTEST_SKIP() << "namespaces of mounts and networks cannot be made here";
    ASSERT_EQ(::chown((folder / "them").c_str(), 65534, 65534), 0);
    if (run({"sh", "-c", "command -v engine-info && engine-info --version"}, false).status != 0)
      GTEST_SKIP() << "another user cannot reach the build at " << build_path();
  }

  std::string mapped(const std::string& text) const {
    return replaced(replaced(text, "/home/you", (folder / "you").native()), "/media/stick",
                    (folder / "stick").native());
  }
  std::string shown(const std::string& text) const {
    return replaced(replaced(text, (folder / "you").native(), "/home/you"), (folder / "stick").native(),
                    "/media/stick");
  }

  // Runs a command on the connected machine, or on the isolated one as root or as an ordinary user.
  Ended run(const std::vector<std::string>& command, bool connected, bool root = false) const {
    ChildRequest request;
    const std::string home = (folder / (connected || root ? "you" : "them")).native();
    if (!connected) {
      request.argv = {
          "unshare",
          "-m",
          "-n",
          "sh",
          "-c",
          root ? R"(mount --bind "$1" /var/lib && shift && exec "$@")"
               : R"(mount --bind "$1" /var/lib && mount -o remount,ro,bind /var/lib && shift && exec "$@")",
          "sh",
          (folder / "var-lib").native()};
      if (!root)
        for (const char* word : {"setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups"})
          request.argv.emplace_back(word);
    }
    // The isolated machine's root has no configuration that names a repository.
    const std::string settings = connected ? home : (folder / (root ? "root" : "them")).native();
    for (const std::string& word : std::vector<std::string>{
             "env", "-i", "LC_ALL=C", "HOME=" + home, "XDG_CONFIG_HOME=" + settings + "/.config",
             "PATH=" + build_path("/bin:/usr/sbin:/usr/bin:/sbin:/bin")})
      request.argv.push_back(word);
    request.argv.insert(request.argv.end(), command.begin(), command.end());
    request.deadline = std::chrono::seconds(120);
    request.keep_bytes = 1u << 20;
    const auto child = run_child(request);
    Ended ended;
    if (!child) return ended;
    ended.status = child->signal != 0 ? 128 + child->signal : child->exit_code;
    ended.output = child->output;
    ended.error = child->error;
    return ended;
  }

  TemporaryFolder folder;
  TestRepository repository, of_board;
};

TEST_F(AdminPage, CommandsPrintWhatThePageShows) {
  const auto steps = steps_of(fs::path(source_path()) / "docs/admin.md");
  ASSERT_GE(steps.size(), 12u);
  int by_root = 0, by_anybody = 0;
  for (const Step& step : steps) {
    const bool connected = step.place == "On the connected machine";
    ASSERT_TRUE(connected || step.place == "In the laboratory") << step.place << ": " << step.command;
    (step.root ? by_root : by_anybody) += 1;
    const Ended ended = run({"sh", "-c", mapped(step.command)}, connected, step.root);
    EXPECT_EQ(ended.status, 0) << step.command << "\n" << ended.said();
    EXPECT_TRUE(prints(step.printed, shown(ended.output))) << step.command << "\nshows\n"
                                                           << step.printed << "and prints\n"
                                                           << shown(ended.output);
    EXPECT_EQ(without_progress(ended.error), "") << step.command;
  }
  EXPECT_GE(by_root, 3);
  EXPECT_GE(by_anybody, 8);
}

TEST(AdminPageBuilds, UseTheIdsThatEngineHostShips) {
  const std::string page = read_text(source_path("/docs/admin.md")),
                    shipped = read_text(source_path("/manifests/templates/onnxruntime.json"));
  for (const char* id : {"onnxruntime-1.24.4-cpu-linux-x86_64", "onnxruntime-1.24.4-cpu-linux-aarch64",
                         "onnxruntime-1.27.0-cpu-linux-x86_64"}) {
    EXPECT_THAT(page, HasSubstr(std::string(id) + "\n"));
    EXPECT_THAT(shipped, HasSubstr("\"" + std::string(id) + "\""));
  }
}

}  // namespace
}  // namespace enginehost::test
