// A pip that fails, and an index that cannot be asked: each by the class of its cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/certificates.hpp"
#include "tests/transfer/package_index_fixture.hpp"

namespace enginehost::transfer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// The kernel keeps no status of children if SIGCHLD is ignored.
TEST_F(PackageIndexTest, TakesPipsAnswerWithoutItsExitStatus) {
  make_pip(server.url("simple"));
  serve_json(digest);
  set("TEST_IGNORES_CHILDREN", "yes");
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
  make_program("python3", "echo broken >&2; exit 3");
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N18\n"), HasSubstr("status_lost="), HasSubstr("said=broken")));
}

TEST_F(PackageIndexTest, KeepsWhatAPipThatFailsSaid) {
  make_program("python3",
               "echo 'first' >&2; echo >&2; echo 'python: version 3.9 is not installed' >&2; exit 1");
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N18\n"), HasSubstr("program=python3 -m pip"),
                           HasSubstr("exit_code=1 "), HasSubstr("said=first | python: version 3.9 is not")));
  make_program("python3", "kill -9 $$");
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N18\n"), HasSubstr("signal=SIGKILL")));
  make_program("python3", "echo no help");
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N18\n"), HasSubstr("problem=its help names no default index")));
  test::write_text(folder / "bin/python3", "#!/no/such/interpreter\n");
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N18\n"), HasSubstr("os_said=No such file or directory")));
  // A Python without pip is another matter, and another pip may work.
  const std::string missing = "echo " + (folder / "prefix").native() +
                              "; echo \"ModuleNotFoundError: No module named 'pip'\" >&2; exit 1";
  make_program("python3", missing);
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N12\n"), HasSubstr("problem=there is no pip")));
  make_program("pip3", "echo 'cannot import name x' >&2; exit 2");
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N18\n"), HasSubstr("program=pip3 "), HasSubstr("exit_code=2")));
  serve_json(digest);
  make_program("pip", "echo '  -i, --index-url <url>  Base URL (default " + server.url("simple") + "). x'");
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
}

TEST_F(PackageIndexTest, ReportsAnIndexByTheClassOfItsFailure) {
  for (const char* status : {"401", "403", "500"}) {
    const test::NginxServer refusing(
        std::string("location /simple { default_type application/json; return ") + status +
        " '{\"errors\":[{\"message\":\"too young\"}]}'; }");
    set("PIP_INDEX_URL", refusing.url("simple"));
    EXPECT_THAT(ask(), AllOf(StartsWith("EH-N04\n"), HasSubstr(std::string("status=") + status),
                             HasSubstr("server_said=too young"), HasSubstr("project=Sample_Engine"),
                             HasSubstr("index=" + refusing.url("simple") + " [PIP_INDEX_URL]")));
  }
  const test::Certificates certificates;
  const int port = test::free_port();
  const test::NginxServer secure(certificates.directives(port));
  set("PIP_INDEX_URL", "https://localhost:" + std::to_string(port) + "/simple");
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N05\n"), HasSubstr("certificate=unknown authority")));
  for (const auto& [name, value] : {std::pair{"PIP_CERT", certificates.authority()},
                                    std::pair{"PIP_TRUSTED_HOST", std::string("localhost")}}) {
    set(name, value);
    EXPECT_THAT(ask(), StartsWith("EH-N13\n")) << name;
    variables.erase(name);
  }
  set("PIP_PROXY", "http://127.0.0.1:" + std::to_string(test::free_port()));
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N19\n"), HasSubstr("proxy_set_by=PIP_PROXY")));
}

TEST_F(PackageIndexTest, ReportsAnUnreachableIndex) {
  make_pip("http://127.0.0.1:" + std::to_string(test::free_port()) + "/simple");
  const std::string answer = ask();
  EXPECT_THAT(answer, StartsWith("EH-N02\n"));
  EXPECT_THAT(answer, HasSubstr("project=Sample_Engine"));
  EXPECT_THAT(answer, HasSubstr("index=http://127.0.0.1:"));
}

}  // namespace
}  // namespace enginehost::transfer
