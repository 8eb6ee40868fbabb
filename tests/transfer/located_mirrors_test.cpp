// Mirrors whose place is asked for: files of a package index or a registry.
#include "tests/transfer/download_fixture.hpp"

namespace enginehost::transfer {
namespace {

class LocatedMirrorsTest : public DownloadTest {};

TEST_F(LocatedMirrorsTest, AMirrorIsLocatedOnceAndSharesTheWorkWithAUrl) {
  test::NginxServer url("limit_rate 2m;"), index("limit_rate 2m;");
  test::write_text(url.root() / "file", payload);
  test::write_text(index.root() / "moved", payload);
  options.rate_window = 150ms;
  std::atomic<int> asked = 0;
  const auto locate = [&](const TransferOptions& given, const CancelToken&) -> Result<Place> {
    ++asked;
    TransferOptions own = given;
    own.user_agent = "its-own-options";
    return Place{index.url("moved"), {}, {}, own};
  };
  for (const bool located_first : {true, false}) {
    ASSERT_TRUE(sink.restart());
    asked = 0;
    const Mirror at_url{url.url("file"), {}}, located{"the index", locate};
    const auto report = get(located_first ? std::vector{located, at_url} : std::vector{at_url, located});
    ASSERT_TRUE(report) << report.error().code;
    EXPECT_TRUE(sink.bytes == payload);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(report->contributors, (std::vector<std::size_t>{0, 1}));
  }
}

TEST_F(LocatedMirrorsTest, AMirrorThatCannotBeLocatedIsReported) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  const auto lost = [](const TransferOptions&, const CancelToken&) -> Result<Place> {
    return fail(diagnose(Code::no_package_index).with(Key::index, "https://lab/simple"));
  };
  const auto report = get({Mirror{"the index", lost}, Mirror{server.url("file"), {}}});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].diagnosis.code, "EH-N12");
  EXPECT_TRUE(failures[0].given_up);
}

TEST_F(LocatedMirrorsTest, AMirrorThatIsSlowToLocateIsLeftForAnother) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  const auto slow = [](const TransferOptions&, const CancelToken& canceled) -> Result<Place> {
    while (!canceled.canceled()) std::this_thread::sleep_for(5ms);
    return fail(diagnose(Code::canceled));
  };
  const auto report = get({Mirror{"the index", slow}, Mirror{server.url("file"), {}}});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].diagnosis.code, "EH-N03");
}

TEST_F(LocatedMirrorsTest, ALocatedFileOfThisMachineIsReadFromWhereTheSinkStands) {
  test::TemporaryFolder folder;
  test::write_text(folder / "file", payload);
  sink.hold(0, std::string_view(payload).substr(0, 5u << 20));
  const auto here = [&](const TransferOptions&, const CancelToken&) -> Result<Place> {
    return Place{"", folder / "file", {}, {}};
  };
  const auto report = get({Mirror{"the index", here}});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_EQ(report->received, payload.size() - (5u << 20));
}

TEST_F(LocatedMirrorsTest, AnExpiredTokenIsReplacedForAllConnections) {
  std::atomic<int> tokens = 0;
  FaultServer registry([&](const Request& request, Connection& connection) {
    if (request.header("Authorization") != "Bearer " + std::to_string(tokens.load()) || tokens == 1)
      connection.answer("401 Unauthorized", "{}");
    else
      serve(request, connection);
  });
  const auto locate = [&](const TransferOptions&, const CancelToken&) -> Result<Place> {
    Authorization token;
    token.bearer = std::to_string(++tokens);
    return Place{registry.url("file"), {}, token, {}};
  };
  const auto report = get({Mirror{"the registry", locate}});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_EQ(tokens, 2);
}

TEST_F(LocatedMirrorsTest, ThreeUselessTokensEndIt) {
  int tokens = 0;
  FaultServer registry(
      [&](const Request&, Connection& connection) { connection.answer("401 Unauthorized", "{}"); });
  const auto locate = [&](const TransferOptions&, const CancelToken&) -> Result<Place> {
    ++tokens;
    return Place{registry.url("file"), {}, {}, {}};
  };
  const auto report = get({Mirror{"the registry", locate}});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().value(Key::status), "401");
  EXPECT_EQ(tokens, 3);
  EXPECT_EQ(get({registry.url("file")}).error().value(Key::status), "401");
  EXPECT_EQ(registry.requests(), 4) << "a URL is not asked again";
}

}  // namespace
}  // namespace enginehost::transfer
