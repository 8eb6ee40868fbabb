// Opening through the C API: inputs, queries and reports.
#include <chrono>
#include <thread>

#include "base/json.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/sdk/fixture.hpp"
#include "tests/support/played_plugin.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

Json parsed(const char* text) {
  auto document = parse_json(text, "api");
  EXPECT_TRUE(document) << text;
  return document ? std::move(*document) : Json();
}

TEST_F(Sdk, TheBuildsOwnRepositoryNeedsNoConfiguration) {
  enginehost_request request = ENGINEHOST_REQUEST_INIT;
  request.engine = "reference";
  const auto engine = open(request);
  ASSERT_NE(engine, nullptr) << said();
  EXPECT_EQ(status_, ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_engine_flavor(engine.get()), "cpu");
}

TEST_F(Sdk, AnOpenEngineDescribesItself) {
  publish();
  const auto engine = open(request());
  ASSERT_NE(engine, nullptr) << said();
  EXPECT_STREQ(enginehost_engine_build(engine.get()), "reference-good");
  EXPECT_EQ(enginehost_engine_is_fallback(engine.get()), 0);
  const Json report = parsed(enginehost_engine_report(engine.get()));
  EXPECT_EQ(report["outcome"]["state"].as_string(), "opened");
  EXPECT_TRUE(report["outcome"]["proven"].as_bool()) << "the probe program was not found";
  EXPECT_EQ(report["outcome"]["build"].as_string(), "reference-good");
}

// The build works; its manifest asks for more memory than any machine has.
TEST_F(Sdk, ForceOpensABuildThatDoesNotFit) {
  TestBuild large = good_build("reference-large");
  large.requirements = Json::object().set("memory", std::int64_t{1} << 50);
  repository_.add(large);
  publish();
  enginehost_request request = this->request();
  const auto plain = open(request);
  ASSERT_NE(plain, nullptr) << said();
  EXPECT_STREQ(enginehost_engine_build(plain.get()), "reference-good");
  request.force = "reference-large";
  const auto forced = open(request);
  ASSERT_NE(forced, nullptr) << said();
  EXPECT_STREQ(enginehost_engine_build(forced.get()), "reference-large") << "it is another request";
  EXPECT_EQ(enginehost_engine_is_fallback(forced.get()), 0);
  const Json report = parsed(enginehost_engine_report(forced.get()));
  EXPECT_TRUE(report["outcome"]["forced"].as_bool());
  EXPECT_THAT(report["warnings"].dump(), HasSubstr("EH-S25"));
}

TEST_F(Sdk, DevicesAreListedAndANumberBeyondThemIsRefused) {
  publish();
  const auto engine = open(request());
  ASSERT_NE(engine, nullptr) << said();
  ASSERT_GE(enginehost_engine_device_count(engine.get()), 1u);
  enginehost_device device{};
  device.size = sizeof device;
  ASSERT_EQ(enginehost_engine_device(engine.get(), 0, &device, nullptr), ENGINEHOST_OK);
  EXPECT_STREQ(device.name, "cpu:0");
  EXPECT_EQ(device.type, 1);
  EXPECT_EQ(device.index, 0);
  enginehost_error* error = nullptr;
  EXPECT_EQ(enginehost_engine_device(engine.get(), 99, &device, &error), ENGINEHOST_INVALID);
  EXPECT_STREQ(enginehost_error_code(error), "EH-P46");
  enginehost_error_free(error);
  device.size = 0;
  EXPECT_EQ(enginehost_engine_device(engine.get(), 0, &device, nullptr), ENGINEHOST_INVALID);
}

TEST_F(Sdk, TheSelfTestRunsOnADeviceAndRefusesAMissingOne) {
  publish();
  const auto engine = open(request());
  ASSERT_NE(engine, nullptr) << said();
  for (const int level : {0, 1, 2})
    EXPECT_EQ(enginehost_engine_self_test(engine.get(), level, nullptr, nullptr), ENGINEHOST_OK);
  enginehost_error* error = nullptr;
  for (const std::int32_t level : {-2, 3}) {
    EXPECT_EQ(enginehost_engine_self_test(engine.get(), level, nullptr, &error), ENGINEHOST_INVALID);
    error_.reset(error);
    EXPECT_EQ(code(), "EH-P45");
  }
  EXPECT_NE(enginehost_engine_self_test(engine.get(), 2, "cuda:7", &error), ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_error_code(error), "EH-S09");
  EXPECT_THAT(enginehost_error_text(error), HasSubstr("cuda:7"));
  enginehost_error_free(error);
}

TEST_F(Sdk, AMalformedDeviceListIsRefusedWhateverIsOpen) {
  publish();
  enginehost_request wanted = request();
  const auto before = open(wanted);
  ASSERT_NE(before, nullptr) << said();
  for (const char* device : {",,", "cpu:x", "cpu,"}) {
    wanted.device = device;
    EXPECT_EQ(open(wanted), nullptr) << device;
    EXPECT_EQ(status_, ENGINEHOST_INVALID);
    EXPECT_EQ(code(), "EH-P45");
    EXPECT_THAT(said(), HasSubstr(std::string("request.device: \"") + device + "\""));
  }
  wanted.device = "cpu";
  EXPECT_NE(open(wanted), nullptr) << said();
}

TEST_F(Sdk, AnOpenEngineIsSharedByAnotherHandle) {
  publish();
  auto first = open(request());
  ASSERT_NE(first, nullptr) << said();
  auto second = open(request());
  ASSERT_NE(second, nullptr) << said();
  // Both handles have the engine's report.
  const auto are_one = [&] {
    return enginehost_engine_report(second.get()) == enginehost_engine_report(first.get());
  };
  // An open engine is checked again if the installation took longer than a check counts. A cached decision
  // leads to the open engine as soon as the files have been at rest for a while.
  for (int tries = 0; tries < 50 && !are_one(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    first = std::move(second);
    second = open(request());
    ASSERT_NE(second, nullptr) << said();
  }
  EXPECT_TRUE(are_one());
  EXPECT_NE(first, second);
  const char* const report = enginehost_engine_report(first.get());
  enginehost_request other = request();
  other.device = "cpu:0";
  EXPECT_NE(enginehost_engine_report(open(other).get()), report);
  // Closing one handle does not affect the other.
  second.reset();
  EXPECT_EQ(enginehost_engine_self_test(first.get(), 2, nullptr, nullptr), ENGINEHOST_OK);
}

TEST_F(Sdk, PlanningDecidesAndInstallsNothing) {
  publish();
  const enginehost_request planned = request();
  char* text = nullptr;
  ASSERT_EQ(enginehost_plan(&planned, &text, nullptr), ENGINEHOST_OK);
  const Handle<char> owned(text);
  const Json plan = parsed(text);
  EXPECT_EQ(plan["outcome"]["state"].as_string(), "planned");
  EXPECT_EQ(plan["outcome"]["build"].as_string(), "reference-good");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cache" / "refs" / "reference-good.ref"));
}

TEST_F(Sdk, AFailedPlanIsReturned) {
  publish();
  enginehost_request wanted = request();
  wanted.flavor = "cu130";
  wanted.require = 1;
  char* text = nullptr;
  enginehost_error* error = nullptr;
  EXPECT_EQ(enginehost_plan(&wanted, &text, &error), ENGINEHOST_NOTHING_FITS);
  const Handle<enginehost_error> owned_error(error);
  const Handle<char> owned(text);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(parsed(text)["outcome"]["state"].as_string(), "failed");
  EXPECT_NE(error, nullptr);
}

TEST_F(Sdk, ASettingOfTheApplicationIsReportedAsItsOwn) {
  publish();
  const Handle<enginehost_engine> engine = open(request());
  ASSERT_TRUE(engine) << said();
  const auto report = parse_json(enginehost_engine_report(engine.get()), "the report");
  ASSERT_TRUE(report);
  std::string cache;
  for (const Json& setting : (*report)["config"].as_array()) {
    EXPECT_THAT(setting["source"].as_string(), Not(HasSubstr("--"))) << setting["key"].as_string();
    if (setting["key"].as_string() == "cache") cache = setting["source"].as_string();
  }
  EXPECT_EQ(cache, "the application (request.cache)");
  enginehost_request nowhere = request();
  nowhere.cache = "";
  EXPECT_EQ(open(nowhere), nullptr);
  EXPECT_EQ(status_, ENGINEHOST_INVALID);
  EXPECT_THAT(said(), HasSubstr("request.cache: the folder is empty"));
}

TEST_F(Sdk, NamesTheEngineNearestToAnUnknownOne) {
  publish();
  enginehost_request wrong = request();
  wrong.engine = "refrence";
  EXPECT_EQ(open(wrong), nullptr);
  EXPECT_EQ(status_, ENGINEHOST_NOTHING_FITS);
  EXPECT_EQ(code(), "EH-S02");
  EXPECT_THAT(said(), HasSubstr("reference"));
}

TEST_F(Sdk, ReportsAnInvalidInstallationForAnUnknownEngine) {
  publish();
  const std::string nowhere = path_text(folder_ / "nowhere");
  const char* const installation = nowhere.c_str();
  enginehost_request asked = request();
  asked.engine = "mxnet";
  asked.installations = &installation;
  asked.installation_count = 1;
  EXPECT_EQ(open(asked), nullptr);
  EXPECT_EQ(code(), "EH-S30");
  EXPECT_THAT(said(), HasSubstr(nowhere + " cannot be used: it does not exist"));
  asked.installations = nullptr;
  EXPECT_EQ(open(asked), nullptr);
  EXPECT_EQ(code(), "EH-P45");
}

TEST_F(Sdk, ReadsARequestOfAnOlderCallerUpToItsSize) {
  publish();
  // Everything beyond `repository_count` did not exist for this caller and must not be read.
  enginehost_request older = request();
  older.on_consent = [](const enginehost_question*, void*) -> std::int32_t {
    ADD_FAILURE() << "read beyond the caller's struct";
    return 0;
  };
  older.size = offsetof(enginehost_request, accepted_licenses);
  EXPECT_NE(open(older), nullptr) << said();
}

TEST_F(Sdk, AsksForConsentOnceBeforeTheFirstByte) {
  publish();
  struct Asked {
    int times = 0, progress = 0;
    std::uint64_t bytes = 0;
    std::string build;
    std::int32_t answer = 0;
  } asked;
  enginehost_request careful = request();
  careful.user_data = &asked;
  careful.on_consent = [](const enginehost_question* question, void* data) -> std::int32_t {
    auto* seen = static_cast<Asked*>(data);
    ++seen->times;
    seen->bytes = question->download_bytes;
    seen->build = question->build;
    EXPECT_EQ(seen->progress, 0);
    EXPECT_EQ(question->size, sizeof *question);
    return seen->answer;
  };
  careful.on_progress = [](const enginehost_progress* progress, void* data) {
    ++static_cast<Asked*>(data)->progress;
    EXPECT_EQ(progress->size, sizeof *progress);
    EXPECT_NE(progress->phase, nullptr);
    EXPECT_NE(progress->source, nullptr);
  };
  EXPECT_EQ(open(careful), nullptr);
  EXPECT_EQ(status_, ENGINEHOST_FORBIDDEN) << said();
  EXPECT_EQ(code(), "EH-P03");
  EXPECT_EQ(asked.times, 1);
  EXPECT_EQ(asked.progress, 0);
  EXPECT_EQ(asked.build, "reference-good");
  EXPECT_EQ(asked.bytes, reference_plugin().size());

  asked.answer = 1;
  EXPECT_NE(open(careful), nullptr) << said();
  EXPECT_EQ(asked.times, 2);
  EXPECT_GT(asked.progress, 0);
  // The build is installed, so no consent is asked.
  EXPECT_NE(open(careful), nullptr);
  EXPECT_EQ(asked.times, 2);
}

// Several builds come under one license, or under more; what was declined is not asked again for the next
// one.
TEST_F(Sdk, AsksAboutADeclinedLicenseOnce) {
  const std::pair<const char*, const char*> builds[] = {
      {"3.0.0", "vendor"}, {"2.0.0", "vendor"}, {"1.5.0", "other"}, {"1.4.0", "vendor"}, {"1.3.0", "other"}};
  for (const auto& [version, license] : builds) {
    TestBuild build = good_build(std::string("reference-") + version);
    build.version = version;
    build.license = license;
    repository_.add(build);
  }
  TestBuild last = good_build("reference-last");
  last.license = "vendor";
  publish(last);
  std::vector<std::string> asked;
  enginehost_request declining = request();
  declining.user_data = &asked;
  declining.on_consent = [](const enginehost_question* question, void* data) -> std::int32_t {
    auto& seen = *static_cast<std::vector<std::string>*>(data);
    seen.push_back(std::string(question->build) + " " + question->license_ids[0]);
    return 0;
  };
  EXPECT_EQ(open(declining), nullptr);
  EXPECT_EQ(code(), "EH-P03");
  EXPECT_THAT(said(), HasSubstr("LicenseRef-vendor"));
  EXPECT_THAT(asked,
              testing::ElementsAre("reference-3.0.0 LicenseRef-vendor", "reference-1.5.0 LicenseRef-other"));
  // Another call may get another answer.
  EXPECT_EQ(open(declining), nullptr);
  EXPECT_EQ(asked.size(), 4u);
  declining.on_consent = [](const enginehost_question* question, void*) -> std::int32_t {
    return std::string(question->license_ids[0]) == "LicenseRef-other" ? 1 : 0;
  };
  const auto engine = open(declining);
  ASSERT_NE(engine, nullptr) << said();
  EXPECT_STREQ(enginehost_engine_build(engine.get()), "reference-1.5.0");
}

TEST_F(Sdk, TakesAnUpdateOnlyOnRequest) {
  publish();
  const auto build_with = [&](const char* update) {
    enginehost_request asked = request();
    asked.update = update;
    const auto engine = open(asked);
    return engine != nullptr ? std::string(enginehost_engine_build(engine.get())) : code();
  };
  ASSERT_EQ(build_with(nullptr), "reference-good");
  TestBuild newer = good_build("reference-newer");
  newer.version = "2.0.0";
  repository_.add(newer);
  repository_.write();
  EXPECT_EQ(build_with(nullptr), "reference-good");
  EXPECT_EQ(build_with("never"), "reference-good");
  const enginehost_request asked = request();
  const auto engine = open(asked);
  ASSERT_NE(engine, nullptr) << said();
  EXPECT_THAT(enginehost_engine_report(engine.get()), HasSubstr("\"build\": \"reference-newer\""));
  EXPECT_EQ(build_with("always"), "EH-P45");
  EXPECT_THAT(said(), HasSubstr("\"always\" is none of report, open, never"));
  EXPECT_EQ(build_with("open"), "reference-newer");
  EXPECT_EQ(build_with("report"), "reference-newer") << "it is installed now";
}

TEST_F(Sdk, NeverAcceptsALicenseByDefault) {
  TestBuild build = good_build();
  build.license = "vendor";
  publish(build);
  EXPECT_EQ(open(request()), nullptr);
  EXPECT_EQ(status_, ENGINEHOST_FORBIDDEN);
  EXPECT_EQ(code(), "EH-P03");
  EXPECT_THAT(said(), HasSubstr("https://licenses.example/vendor"));
  EXPECT_THAT(said(), HasSubstr("LicenseRef-vendor in request.accepted_licenses"));
  EXPECT_THAT(said(), Not(HasSubstr("--accept-license")));
  enginehost_request accepting = request();
  const char* licenses[] = {"LicenseRef-vendor"};
  accepting.accepted_licenses = licenses;
  accepting.accepted_license_count = 1;
  EXPECT_NE(open(accepting), nullptr) << said();
}

TEST_F(Sdk, ACancelBeforeTheOpenInterruptsIt) {
  publish();
  const Handle<enginehost_cancel> cancel(enginehost_cancel_new());
  enginehost_cancel_now(cancel.get());
  enginehost_request stopped = request();
  stopped.cancel = cancel.get();
  EXPECT_EQ(open(stopped), nullptr);
  EXPECT_EQ(status_, ENGINEHOST_INTERRUPTED) << said();
  EXPECT_EQ(code(), "EH-P10");
}

TEST_F(Sdk, ACancelDuringADownloadInterruptsItSoon) {
  publish();
  Served served("limit_rate 300k;");
  served.publish();
  const std::string location = served.location();
  const char* const locations[] = {location.c_str()};
  enginehost_request slow = request();
  slow.repositories = locations;
  slow.allow_unsigned = 1;
  const Handle<enginehost_cancel> cancel(enginehost_cancel_new());
  slow.cancel = cancel.get();
  // Cancels after the first bytes, from the thread that reports progress.
  slow.user_data = cancel.get();
  slow.on_progress = [](const enginehost_progress* progress, void* data) {
    if (progress->done > 0) enginehost_cancel_now(static_cast<enginehost_cancel*>(data));
  };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(open(slow), nullptr);
  EXPECT_EQ(status_, ENGINEHOST_INTERRUPTED) << said();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(Sdk, ThePlatformReportIdentifiesNoPerson) {
  char* text = nullptr;
  ASSERT_EQ(enginehost_platform(&text, nullptr), ENGINEHOST_OK);
  const Handle<char> owned(text);
  const Json document = parsed(text);
  EXPECT_EQ(document["format"].as_integer(), 1);
  EXPECT_TRUE(document["platform"]["os"].is_object());
  EXPECT_TRUE(document["platform"]["cpu"].is_object());
}

// A plugin whose library never finishes loading.
TestBuild hanging_build() {
  TestBuild build = good_build();
  build.files = {{build.plugin, hanging_plugin()}};
  return build;
}

TEST_F(Sdk, TheProbeTimeoutIsTheRequestsWithItsSource) {
  publish(hanging_build());
  enginehost_request asked = request();
  asked.probe_seconds = 1;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(open(asked));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15)) << "two tries";
  EXPECT_EQ(code(), "EH-R05") << said();
  EXPECT_THAT(said(), HasSubstr("did not answer within 1 s at stage load"));
  EXPECT_THAT(enginehost_error_json(error_.get()), HasSubstr("the request"));
  EXPECT_FALSE(open(asked));
  EXPECT_EQ(code(), "EH-R05") << "that one gave it too little time is not held against it: " << said();
}

TEST_F(Sdk, TheProbeTimeoutIsTheManifestsWhereItIsLonger) {
  TestBuild build = hanging_build();
  build.probe_seconds = 2;
  publish(build);
  write_text(configuration_, "{\"repositories_default\": false, \"probe_deadline_seconds\": 1}");
  EXPECT_FALSE(open(request()));
  EXPECT_THAT(said(), HasSubstr("did not answer within 2 s at stage load"));
  EXPECT_THAT(enginehost_error_json(error_.get()), HasSubstr("probe_seconds of the manifest"));
  EXPECT_FALSE(open(request()));
  EXPECT_EQ(code(), "EH-S14") << said();
  enginehost_request asked = request();
  asked.probe_seconds = 3;
  EXPECT_FALSE(open(asked));
  EXPECT_THAT(said(), HasSubstr("did not answer within 3 s"))
      << "more than it was given before: it is tried again";
}

TEST_F(Sdk, AProbeTimeoutBeyondTheLimitIsReportedWithBoth) {
  publish();
  enginehost_request asked = request();
  asked.probe_seconds = 5000;
  EXPECT_FALSE(open(asked));
  EXPECT_EQ(status_, ENGINEHOST_INVALID);
  EXPECT_EQ(code(), "EH-P45");
  EXPECT_THAT(said(), testing::HasSubstr("5000"));
  EXPECT_THAT(said(), testing::HasSubstr("3600"));
}

}  // namespace
}  // namespace enginehost::test
