// Commands on a machine with an administrator's policy.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {

inline const char* const system_file = "/etc/enginehost/config.json";

inline const Json& setting(const Ended& run, const std::string& key) {
  static const Json none;
  for (const Json& entry : run.document["config"].as_array())
    if (entry["key"].as_string() == key) return entry;
  return none;
}

class Policies : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  }
  Ended run(const Json& policy, std::vector<std::string> arguments,
            std::vector<std::string> environment = {}) const {
    return run_command("engine-info", Json::object().set("policy", policy), std::move(arguments),
                       std::move(environment));
  }
  // Runs the command with that system configuration file.
  Ended run_command(const std::string& command, const Json& configuration, std::vector<std::string> arguments,
                    std::vector<std::string> environment = {}) const {
    RunOptions options;
    options.launcher = with_system_file(workplace, configuration);
    options.environment = std::move(environment);
    return workplace.run(command, std::move(arguments), options);
  }
  void expect_refusal(const Ended& run, const std::string& key, const std::string& rule) const {
    EXPECT_EQ(run.status, 8) << run.said();
    EXPECT_EQ(run.code(), "EH-P01");
    EXPECT_EQ(evidence(run.diagnosis(), "file"), system_file);
    EXPECT_EQ(evidence(run.diagnosis(), "key"), key);
    EXPECT_EQ(evidence(run.diagnosis(), "policy"), rule);
    EXPECT_FALSE(evidence(run.diagnosis(), "what").empty());
  }
  static Json one(const char* key, Json value) { return Json::object().set(key, std::move(value)); }
  Workplace workplace;
};

}  // namespace enginehost::test
