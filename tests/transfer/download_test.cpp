#if defined(__linux__)
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "tests/support/temporary_folder.hpp"
#include "tests/support/three_tries.hpp"
#include "tests/transfer/download_fixture.hpp"

namespace enginehost::transfer {
namespace {

TEST_F(DownloadTest, OneConnectionServesWhereItIsFast) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  const auto report = get({server.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_EQ(report->connections, 1);
  EXPECT_EQ(report->received, payload.size());
  EXPECT_EQ(report->url, server.url("file"));
  EXPECT_EQ(server.requests("GET"), 1);
}

TEST_F(DownloadTest, MoreConnectionsServeWhereOneIsCapped) {
  test::NginxServer server("limit_rate 2m;");
  test::write_text(server.root() / "file", payload);
  options.rate_window = 150ms;
  std::vector<std::uint64_t> done;
  progress = [&](const Progress& now) { done.push_back(now.done); };
  const auto report = get({server.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_GE(report->connections, 2);
  EXPECT_LT(report->seconds, 5) << "one connection takes 6 s";
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), payload.size());
}

#if defined(__linux__)
// In a child of another user, because the threads of root are not limited. The user differs for each run,
// because another run's threads would count.
TEST_F(DownloadTest, ContinuesWithTheAvailableThreads) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become a user of whom nothing else runs";
  test::NginxServer server("limit_rate 3m;");
  test::write_text(server.root() / "file", payload);
  const uid_t nobody_else = 20'000 + static_cast<uid_t>(::getpid() % 40'000);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit two_threads{2, 2};
    if (::setrlimit(RLIMIT_NPROC, &two_threads) != 0 || ::setuid(nobody_else) != 0) ::_exit(2);
    const auto report = get({server.url("file")});
    ::_exit(report && sink.bytes == payload && report->connections == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no other user can be had here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

// If a second connection gets no memory from the system, the first one continues; an application's process
// survives both.
TEST_F(DownloadTest, AConnectionThatFindsNoMemoryLeavesTheRestToTheOthers) {
  test::NginxServer server("limit_rate 2m;");
  test::write_text(server.root() / "file", payload);
  options.rate_window = 150ms;
  sink.throws_from = payload.size() / 2;  // a second connection gets half of the file
  const auto report = get({server.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_GE(report->connections, 2);
  EXPECT_TRUE(failures.empty());
}

TEST_F(DownloadTest, WithoutMemoryForTheOnlyConnectionItFailsCleanly) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  sink.throws_from = 0;
  const auto report = get({server.url("file")});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-P51");
}

TEST_F(DownloadTest, UselessConnectionsAreClosed) {
  // All connections together get 8 MB/s.
  std::mutex wire;
  std::atomic<int> open = 0, most = 0;
  FaultServer server([&](const Request& request, Connection& connection) {
    most = std::max(most.load(), ++open);
    const std::uint64_t from = request.range_start.value_or(0);
    connection.send("HTTP/1.1 " + std::string(from > 0 ? "206 Partial" : "200 OK") +
                    "\r\nContent-Length: " + std::to_string(payload.size() - from) +
                    "\r\nContent-Range: bytes " + std::to_string(from) + "-12582911/12582912\r\n\r\n");
    for (std::uint64_t at = from; at < payload.size(); at += 32768) {
      const std::lock_guard lock(wire);
      if (!connection.send(std::string_view(payload).substr(at, 32768))) break;
      std::this_thread::sleep_for(4ms);
    }
    --open;
  });
  int connections = 0;
  // If the machine delays one of two compared measurements, more connections seem to help, so one undisturbed
  // download of three is enough.
  for (int i = 0; i < 3 && (connections != 2 || most > 3); ++i) {
    ASSERT_TRUE(sink.restart());
    most = 0;
    const auto report = get({server.url("file")});
    ASSERT_TRUE(report) << report.error().code;
    EXPECT_TRUE(sink.bytes == payload);
    connections = report->connections;
  }
  EXPECT_EQ(connections, 2) << "tried once and left";
  EXPECT_LE(most, 3) << "one may still be ending while the next begins";
}

TEST_F(DownloadTest, SmallFilesAreNotSplit) {
  test::NginxServer server("limit_rate 20m;");
  test::write_text(server.root() / "file", payload);
  options.smallest_part = 16u << 20;
  options.patience = 5s;
  const auto report = get({server.url("file")});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->connections, 1);
}

TEST_F(DownloadTest, ADeadMirrorIsSkippedAndReported) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  // The time that this machine, which may be busy, needs without the dead one.
  test::MemoryParts other{12u << 20};
  const auto alone = get({server.url("file")}, other);
  ASSERT_TRUE(alone) << alone.error().code;
  const auto report = get({dead(), server.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_EQ(report->contributors, std::vector<std::size_t>{1});
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].mirror, 0u);
  EXPECT_EQ(failures[0].diagnosis.code, "EH-N02");
  EXPECT_LT(report->seconds, alone->seconds + 1.0);
}

TEST_F(DownloadTest, AMirrorThatFallsSilentIsLeftForAnother) {
  FaultServer silent([&](const Request&, Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(payload.size()) + "\r\n\r\n");
    connection.send(std::string_view(payload).substr(0, 100'000));
    connection.stall(30s);
  });
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  options.stall_limit = 20s;
  const auto report = get({silent.url("file"), server.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_LT(report->seconds, 10) << "its patience is 300 ms, the stall limit 20 s";
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].diagnosis.code, "EH-N03");
  EXPECT_FALSE(failures[0].given_up);
}

TEST_F(DownloadTest, ASlowMirrorLeavesTheWorkToAFastOne) {
  test::NginxServer slow("limit_rate 500k;"), fast;
  test::write_text(slow.root() / "file", payload);
  test::write_text(fast.root() / "file", payload);
  const auto report = get({slow.url("file"), fast.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_LT(report->seconds, 12) << "the slow one alone takes 24 s";
  EXPECT_EQ(report->url, fast.url("file"));
}

TEST_F(DownloadTest, AMirrorTooFastToMeasureCountsAsTheFastOne) {
  test::NginxServer slow("limit_rate 20k;"), fast;
  test::write_text(slow.root() / "file", payload);
  test::write_text(fast.root() / "file", payload);
  options.rate_window = 250ms;  // the time within which the fast mirror's connections end
  const auto report = get({slow.url("file"), fast.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_LT(report->seconds, 10) << "the last MiB alone takes the slow one 50 s";
}

TEST_F(DownloadTest, ASlowMirrorWithoutAnotherIsWaitedFor) {
  test::NginxServer slow("limit_rate 6m;");
  test::write_text(slow.root() / "file", payload);
  options.most_connections = 1;
  const auto report = get({slow.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(failures.empty());
}

TEST_F(DownloadTest, ALoginPageDropsItsMirror) {
  FaultServer portal([](const Request&, Connection& connection) {
    connection.answer("200 OK", "<html><title>Sign in</title></html>", "Content-Type: text/html");
  });
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  ASSERT_TRUE(get({portal.url("file"), server.url("file")}));
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_EQ(failures.at(0).diagnosis.code, "EH-N06");
  EXPECT_TRUE(failures.at(0).given_up);
  EXPECT_EQ(portal.requests(), 1);
}

TEST_F(DownloadTest, AMirrorThatSendsTooMuchIsDropped) {
  for (const bool at_once : {true, false}) {
    FaultServer longer([&](const Request& request, Connection& connection) {
      const std::string rest = payload.substr(request.range_start.value_or(0));
      connection.send("HTTP/1.1 206 Partial\r\nContent-Range: bytes " +
                      std::to_string(payload.size() - rest.size()) + "-" +
                      std::to_string(payload.size() - 1) + "/" + std::to_string(payload.size()) + "\r\n\r\n");
      connection.send(at_once ? rest + "x" : rest);
      std::this_thread::sleep_for(50ms);
      if (!at_once) connection.send("x");
    });
    const auto begun = [&] {
      ASSERT_TRUE(sink.restart());
      sink.hold(0, payload.substr(0, 11u << 20));
    };
    begun();
    const auto alone = get({longer.url("file")});
    EXPECT_EQ(alone ? "" : std::string(alone.error().code_text()), "EH-N07");
    EXPECT_FALSE(sink.missing().empty()) << "or the next run takes it for whole";
    test::NginxServer right;
    test::write_text(right.root() / "file", payload);
    begun();
    ASSERT_TRUE(get({longer.url("file"), right.url("file")}));
    EXPECT_TRUE(sink.bytes == payload);
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(failures[0].diagnosis.code, "EH-N07");
    EXPECT_TRUE(failures[0].given_up);
  }
}

TEST_F(DownloadTest, AServerOfWholeFilesIsNotAskedForParts) {
  test::NginxServer server("max_ranges 0; limit_rate 6m;");
  test::write_text(server.root() / "file", payload);
  const auto report = get({server.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_EQ(sink.restarts, 0);
  EXPECT_LE(report->received, payload.size() + (1u << 20));
  EXPECT_LE(server.requests("GET"), 3);
}

TEST_F(DownloadTest, AServerOfWholeFilesRestartsAHeldFile) {
  test::NginxServer server("max_ranges 0;");
  test::write_text(server.root() / "file", payload);
  sink.hold(0, std::string(500'000, 'x'));
  ASSERT_TRUE(get({server.url("file")}));
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_EQ(sink.restarts, 1);
}

TEST_F(DownloadTest, OnlyWhatIsMissingIsSent) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  sink.hold(0, std::string_view(payload).substr(0, 3'000'000));
  sink.hold(5'000'000, std::string_view(payload).substr(5'000'000, 4'000'000));
  const auto report = get({server.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_EQ(report->received, payload.size() - 7'000'000);
}

TEST_F(DownloadTest, AServerThatWantsFewerConnectionsGetsFewer) {
  std::atomic<int> open = 0;
  FaultServer server([&](const Request& request, Connection& connection) {
    if (++open > 1) {
      connection.answer("503 Busy", "one at a time");
    } else {
      const std::uint64_t from = request.range_start.value_or(0);
      connection.send("HTTP/1.1 " + std::string(from > 0 ? "206 Partial" : "200 OK") +
                      "\r\nContent-Length: " + std::to_string(payload.size() - from) +
                      "\r\nContent-Range: bytes " + std::to_string(from) + "-12582911/12582912\r\n\r\n");
      for (std::uint64_t at = from; at < payload.size(); at += 65536) {
        if (!connection.send(std::string_view(payload).substr(at, 65536))) break;
        std::this_thread::sleep_for(6ms);
      }
    }
    --open;
  });
  options.retries = 0;
  const auto report = get({server.url("file")});
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == payload);
  EXPECT_TRUE(failures.empty()) << failures[0].diagnosis.code;
}

TEST_F(DownloadTest, FailsWithEveryMirrorsReason) {
  test::NginxServer server;
  const auto report = get({dead(), server.url("missing")});
  ASSERT_FALSE(report);
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_TRUE(failures[0].given_up && failures[1].given_up);
  EXPECT_EQ(server.requests("GET"), 1) << "404 is not asked for again";
}

TEST_F(DownloadTest, TheSinksErrorEndsIt) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  sink.full = true;
  const auto report = get({server.url("file")});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-F15");
}

TEST_F(DownloadTest, IsCanceledWithinATenthOfASecond) {
  test::NginxServer server("limit_rate 1m;");
  test::write_text(server.root() / "file", payload);
  const auto ends_after = [&] {
    EXPECT_TRUE(sink.restart());
    cancel = CancelToken();
    std::chrono::steady_clock::time_point asked;
    std::thread later([&] {
      std::this_thread::sleep_for(700ms);  // several connections are open by then
      asked = std::chrono::steady_clock::now();
      cancel->cancel();
    });
    const auto report = get({server.url("file")});
    const auto ended = std::chrono::steady_clock::now();
    later.join();
    EXPECT_EQ(report ? "ok" : std::string(report.error().code_text()), "EH-P10");
    return ended - asked;
  };
  EXPECT_LT(test::shortest_of_three(150ms, ends_after), 150ms) << "100 ms and what a busy machine adds";
}

TEST_F(DownloadTest, OpensNoConnectionOffline) {
  options.offline = true;
  FaultServer server([&](const Request& request, Connection& connection) { serve(request, connection); });
  EXPECT_EQ(get({server.url("file")}).error().code, "EH-N10");
  EXPECT_EQ(server.requests(), 0);
}

// Cuts, silences and refusals at random places, from two mirrors: the bytes are right or the download fails.
TEST_F(DownloadTest, RandomFaultsNeverMixUpBytes) {
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    std::atomic<unsigned> random = seed * 2654435761u;
    const auto faulty = [&](const Request& request, Connection& connection) {
      random = random * 1103515245u + 12345u;
      const unsigned roll = random >> 16;
      const std::uint64_t from = request.range_start.value_or(0);
      if (roll % 7 == 0) return connection.reset();
      if (roll % 7 == 1) {
        connection.answer("503 Busy", "busy");
        return;
      }
      connection.send("HTTP/1.1 " + std::string(from > 0 ? "206 Partial" : "200 OK") +
                      "\r\nContent-Length: " + std::to_string(payload.size() - from) +
                      "\r\nContent-Range: bytes " + std::to_string(from) + "-12582911/12582912\r\n\r\n");
      connection.send(std::string_view(payload).substr(from, 1'000'000 + roll * 100ull));
      if (roll % 2 == 0) connection.reset();
    };
    FaultServer first(faulty), second(faulty);
    sink.restart();
    options.retries = 6;
    const auto report = get({first.url("file"), second.url("file")});
    if (report)
      EXPECT_EQ(sink.bytes, payload) << "seed " << seed;
    else
      EXPECT_TRUE(std::string(report.error().code_text()).starts_with("EH-N"))
          << std::string(report.error().code_text());
  }
}

}  // namespace
}  // namespace enginehost::transfer
