// A publisher with engine-manifest and minisign, a web server, and a user who trusts the key.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/nginx_server.hpp"

namespace enginehost::test {

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

inline bool has_minisign() {
  ChildRequest request;
  request.argv = {"minisign", "-v"};
  const auto outcome = run_child(request);
  return outcome && outcome->exit_code == 0;
}

// A publisher, a server, and users with their own caches.
class Publisher : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_minisign()) GTEST_SKIP() << "minisign is not installed";
    write_text(publisher_ / "libengine_toy.so", reference_plugin());
    write_text(publisher_ / "toy/share/words.txt", "toy");
    write_text(publisher_ / "toy/lib/libtoy.so", reference_plugin());
    // A library that is no plugin; a copy of the plugin under another name would be a second plugin.
    ChildRequest compile;
    compile.argv = {"gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", publisher_ / "toy/lib/libtoy.so"};
    compile.input = "int toy_answer(void) { return 42; }";
    ASSERT_EQ(run_child(compile)->exit_code, 0);
  }

  // Runs lines of the page in the publisher's folder.
  void sh(const std::string& lines, int status = 0) {
    RunOptions options;
    const ChildRequest tools = user_.request("engine-info", {});
    ChildRequest request;
    request.argv = {"bash", "-ec", "cd '" + publisher_.path().native() + "'\n" + mapped(lines)};
    request.environment = tools.environment;
    request.environment.push_back("PATH=" + std::filesystem::path(tools.argv.front()).parent_path().native() +
                                  ":/usr/bin:/bin");
    request.deadline = std::chrono::minutes(3);
    const auto outcome = run_child(request);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->exit_code, status) << lines << "\n" << outcome->output << outcome->error;
    said_ = outcome->output + outcome->error;
  }
  std::string mapped(const std::string& text) const {
    return replaced(
        replaced(text, "https://engines.example", "http://127.0.0.1:" + std::to_string(server_.port())),
        "/srv/www", server_.root().native());
  }
  std::string location() const { return server_.url("engines"); }

  // Publishes a signed repository on the server; `key` signs everything and user_ trusts it.
  void publish_signed() {
    sh("engine-manifest init repository --name Toy\n"
       "engine-manifest add repository toy --engine reference --version 1.0.0 --flavor cpu --plugin "
       "libengine_toy.so\n"
       "minisign -G -W -p key.pub -s key.key\n"
       "engine-manifest sign repository --key key.key\n"
       "engine-manifest publish repository /srv/www/engines\n"
       "engine-cache trust add key.pub");
    configure();
  }
  void configure() {
    user_.configure(Json::object()
                        .set("repositories_default", false)
                        .set("repositories", Json::array().push(location())));
  }
  Ended open() { return user_.info({"reference", "--json"}); }
  // The next open asks the server, because cached copies count for an hour.
  void an_hour_passes() { std::filesystem::remove_all(user_.cache() / "repositories"); }

  TemporaryFolder publisher_;
  NginxServer server_;
  Workplace user_;
  std::string said_;
};

}  // namespace enginehost::test
