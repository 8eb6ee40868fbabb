#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/explain/explain.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/reported_text.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::load {
namespace {

class EngineOf : public ::testing::Test {
 protected:
  std::shared_ptr<LoadedPlugin> loaded(const std::string& flags = {}) {
    static int number = 0;
    auto plugin = load_plugin({workshop_.plugin("libengine_" + std::to_string(++number) + ".so", flags),
                               workshop_.folder(),
                               {},
                               {}});
    EXPECT_TRUE(plugin);
    return std::move(*plugin);
  }
  faults::Workshop workshop_;
};

TEST_F(EngineOf, ReportsFactsDevicesAndCapabilities) {
  std::vector<std::string> lines;
  EngineOptions options;
  options.log_level = ENGINE_LOG_DEBUG;
  options.log = [&](std::int32_t, std::string_view topic, std::string_view text) {
    lines.push_back(std::string(topic) + " " + std::string(text));
  };
  auto engine = Engine::create(loaded(), std::move(options));
  ASSERT_TRUE(engine);
  EXPECT_EQ((*engine)->facts().at(0).second, "1.2.3");
  EXPECT_THAT((*engine)->capabilities(), ::testing::ElementsAre("device.cpu"));
  auto devices = (*engine)->devices();
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_EQ(devices->at(0).name, "fixture processor");
  EXPECT_TRUE((*engine)->self_test(ENGINE_SELFTEST_GRAPH, devices->at(0).id));
  EXPECT_EQ((*engine)->model_table(), nullptr);
  EXPECT_THAT(lines, ::testing::ElementsAre("fixture created"));
}

// A message of a megabyte, which a program would write to its log unchanged.
TEST_F(EngineOf, AMessageForTheLogIsCut) {
  std::size_t length = 0;
  EngineOptions options;
  options.log = [&](std::int32_t, std::string_view, std::string_view text) {
    length = std::max(length, text.size());
  };
  const auto plugin = loaded(
      "-DAT_CREATE='size_t n=1<<20;char*p=malloc(n);memset(p,65,n);p[n-1]=0;host->log(host,40,0,p);free(p)'");
  ASSERT_TRUE(Engine::create(plugin, std::move(options)));
  EXPECT_EQ(length, longest_message + std::string_view(" [cut]").size());
}

TEST_F(EngineOf, AFailedCreateCarriesThePluginsMessage) {
  auto engine =
      Engine::create(loaded("-DAT_CREATE='call->fail(call,ENGINE_NO_MEMORY,\"\",0,\"first\");return "
                            "call->fail(call,ENGINE_NO_MEMORY,"
                            "\"\",0,\"second\")'"));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, "EH-E01");
  EXPECT_EQ(engine.error().value(Key::message), "first");
  EXPECT_EQ(engine.error().value(Key::then), "second");
}

TEST_F(EngineOf, AnErrorReportedBeforeOkIsAWarning) {
  const auto engine =
      Engine::create(loaded("-DAT_CREATE='call->detail(call,\"missing_library\",\"libfast.so.1\");"
                            "call->fail(call,ENGINE_UNAVAILABLE,\"fast\",7,\"no fast code\")'"));
  ASSERT_TRUE(engine);
  ASSERT_EQ((*engine)->warnings().size(), 1u);
  const Diagnosis& warning = (*engine)->warnings().front();
  EXPECT_EQ(warning.code, "EH-E01");
  EXPECT_EQ(warning.value(Key::status), "ENGINE_OK");
  EXPECT_EQ(warning.value(Key::missing_library), "libfast.so.1");
  EXPECT_THAT(explain::describe(warning), ::testing::HasSubstr("create() succeeded but reported a problem: "
                                                               "no fast code (fast 7)"));
}

TEST_F(EngineOf, SuccessWithoutAnEngineIsThePluginsBug) {
  auto engine = Engine::create(loaded("-DAT_CREATE='return ENGINE_OK'"));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().value(Key::status), "ENGINE_INTERNAL");
}

// Calling it would be a jump to address 0 in the application.
TEST_F(EngineOf, R12AMissingFunctionIsReportedWithItsTable) {
  const auto offering = [&](const std::string& table) {
    return Engine::create(loaded("-DAT_QUERY='static const engine_" + table +
                                 ";if(id&&!strcmp(id,offered_id))return &offered'"));
  };
  struct {
    const char *table, *id, *member;
  } const cases[] = {
      {"device_v1 offered={device_count,0};const char*offered_id=ENGINE_DEVICE_V1", "engine.device/1",
       "info"},
      {"selftest_v1 offered={0};const char*offered_id=ENGINE_SELFTEST_V1", "engine.selftest/1", "run"},
      {"tensor_v1 offered={0};const char*offered_id=ENGINE_TENSOR_V1", "engine.tensor/1", "create"},
      {"op_v1 offered={0};const char*offered_id=ENGINE_OP_V1", "engine.op/1", "run"},
      {"model_v1 offered={0};const char*offered_id=ENGINE_MODEL_V1", "engine.model/1", "load"},
  };
  for (const auto& one : cases) {
    const auto engine = offering(one.table);
    ASSERT_FALSE(engine) << one.table;
    EXPECT_EQ(engine.error().code, "EH-R12");
    EXPECT_EQ(engine.error().value(Key::missing_table), one.id);
    EXPECT_EQ(engine.error().value(Key::missing_function), one.member);
    EXPECT_THAT(
        explain::describe(engine.error()),
        ::testing::HasSubstr(std::string(" offers ") + one.id + ", but its " + one.member + " is NULL"));
  }
}

TEST_F(EngineOf, DevicesAreReadAndWrittenAsText) {
  engine_device device{};
  EXPECT_TRUE(parse_device("cuda:1", device));
  EXPECT_EQ(device.type, ENGINE_CUDA);
  EXPECT_EQ(device.index, 1);
  EXPECT_TRUE(parse_device("CPU", device));
  EXPECT_EQ(device.type, ENGINE_CPU);
  EXPECT_TRUE(parse_device("mps", device));
  EXPECT_EQ(device.type, ENGINE_METAL);
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999999"})
    EXPECT_FALSE(parse_device(wrong, device)) << wrong;
}

}  // namespace
}  // namespace enginehost::load
