// The C API called wrongly: a status and a text that names the argument, never a crash.
#include <cstring>
#include <functional>

#include "tests/sdk/fixture.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

TEST(Version, IsTheProjects) { EXPECT_STREQ(enginehost_version(), PROJECT_VERSION); }

TEST(FreeFunctions, AcceptNull) {
  enginehost_error_free(nullptr);
  enginehost_cancel_free(nullptr);
  enginehost_cancel_now(nullptr);
  enginehost_engine_free(nullptr);
  enginehost_model_free(nullptr);
  enginehost_outputs_free(nullptr);
  enginehost_text_free(nullptr);
}

TEST(QueryFunctions, ReturnEmptyValuesForNullHandles) {
  EXPECT_STREQ(enginehost_error_code(nullptr), "");
  EXPECT_STREQ(enginehost_error_title(nullptr), "");
  EXPECT_STREQ(enginehost_error_cause(nullptr), "");
  EXPECT_STREQ(enginehost_error_text(nullptr), "");
  EXPECT_STREQ(enginehost_error_json(nullptr), "{}");
  EXPECT_STREQ(enginehost_engine_build(nullptr), "");
  EXPECT_STREQ(enginehost_engine_flavor(nullptr), "");
  EXPECT_STREQ(enginehost_engine_report(nullptr), "{}");
  EXPECT_EQ(enginehost_engine_is_fallback(nullptr), 0);
  EXPECT_EQ(enginehost_engine_device_count(nullptr), 0u);
  EXPECT_EQ(enginehost_model_input_count(nullptr), 0u);
  EXPECT_EQ(enginehost_model_output_count(nullptr), 0u);
  EXPECT_EQ(enginehost_outputs_count(nullptr), 0u);
  EXPECT_STREQ(enginehost_outputs_name(nullptr, 0), "");
  EXPECT_EQ(enginehost_outputs_tensor(nullptr, 0), nullptr);
  EXPECT_EQ(enginehost_outputs_take(nullptr, 0), nullptr);
}

struct WrongCall {
  const char* name;
  std::function<enginehost_status(enginehost_error** error)> call;
  const char* argument;  // that the text names
};

enginehost_request request_without(const std::function<void(enginehost_request&)>& change) {
  enginehost_request request = ENGINEHOST_REQUEST_INIT;
  request.engine = "reference";
  change(request);
  return request;
}

enginehost_status open_with(const std::function<void(enginehost_request&)>& change,
                            enginehost_error** error) {
  const enginehost_request request = request_without(change);
  enginehost_engine* engine = nullptr;
  const enginehost_status status = enginehost_open(&request, &engine, error);
  EXPECT_EQ(engine, nullptr);
  return status;
}

const std::vector<WrongCall> wrong_calls = {
    {"OpenWithoutRequest",
     [](enginehost_error** error) {
       enginehost_engine* engine = nullptr;
       return enginehost_open(nullptr, &engine, error);
     },
     "request"},
    {"OpenWithoutOut",
     [](enginehost_error** error) {
       const enginehost_request request = request_without([](auto&) {});
       return enginehost_open(&request, nullptr, error);
     },
     "out"},
    {"SizeNotSet",
     [](enginehost_error** error) { return open_with([](auto& request) { request.size = 0; }, error); },
     "request.size"},
    {"VersionThatIsNone",
     [](enginehost_error** error) {
       return open_with([](auto& request) { request.version = "=>1.0"; }, error);
     },
     "request.version"},
    {"NoEngine",
     [](enginehost_error** error) {
       return open_with([](auto& request) { request.engine = nullptr; }, error);
     },
     "request.engine"},
    {"EmptyEngine",
     [](enginehost_error** error) { return open_with([](auto& request) { request.engine = ""; }, error); },
     "request.engine"},
    {"RequireWithoutFlavor",
     [](enginehost_error** error) { return open_with([](auto& request) { request.require = 1; }, error); },
     "request.require"},
    {"RequireWithAnEmptyFlavor",
     [](enginehost_error** error) {
       return open_with(
           [](auto& request) {
             request.require = 1;
             request.flavor = "";
           },
           error);
     },
     "request.require"},
    {"RepositoriesCountedButNull",
     [](enginehost_error** error) {
       return open_with([](auto& request) { request.repository_count = 2; }, error);
     },
     "request.repositories"},
    {"LicensesCountedButNull",
     [](enginehost_error** error) {
       return open_with([](auto& request) { request.accepted_license_count = 1; }, error);
     },
     "request.accepted_licenses"},
    {"ARepositoryIsNull",
     [](enginehost_error** error) {
       const char* const list[] = {"folder", nullptr};
       return open_with(
           [&](auto& request) {
             request.repositories = list;
             request.repository_count = 2;
           },
           error);
     },
     "request.repositories[1]"},
    {"ALicenseIsNull",
     [](enginehost_error** error) {
       const char* const list[] = {nullptr};
       return open_with(
           [&](auto& request) {
             request.accepted_licenses = list;
             request.accepted_license_count = 1;
           },
           error);
     },
     "request.accepted_licenses[0]"},
    {"AnInstallationIsNull",
     [](enginehost_error** error) {
       const char* const list[] = {nullptr};
       return open_with(
           [&](auto& request) {
             request.installations = list;
             request.installation_count = 1;
           },
           error);
     },
     "request.installations[0]"},
    {"APackageIndexIsNoLocation",
     [](enginehost_error** error) {
       return open_with([](auto& request) { request.package_index = "mirror.example/simple"; }, error);
     },
     "request.package_index"},
    {"PlanWithoutJson",
     [](enginehost_error** error) {
       const enginehost_request request = request_without([](auto&) {});
       return enginehost_plan(&request, nullptr, error);
     },
     "json"},
    {"PlatformWithoutJson", [](enginehost_error** error) { return enginehost_platform(nullptr, error); },
     "json"},
    {"DeviceOfNothing",
     [](enginehost_error** error) {
       enginehost_device device{};
       device.size = sizeof device;
       return enginehost_engine_device(nullptr, 0, &device, error);
     },
     "engine"},
    {"SelfTestOfNothing",
     [](enginehost_error** error) { return enginehost_engine_self_test(nullptr, 0, nullptr, error); },
     "engine"},
    {"ModelOfNothing",
     [](enginehost_error** error) {
       enginehost_model* model = nullptr;
       return enginehost_model_load(nullptr, "x", nullptr, nullptr, nullptr, &model, error);
     },
     "engine"},
    {"PortOfNothing",
     [](enginehost_error** error) {
       enginehost_port port{};
       port.size = sizeof port;
       return enginehost_model_input(nullptr, 0, &port, error);
     },
     "model"},
    {"RunOfNothing",
     [](enginehost_error** error) {
       enginehost_outputs* outputs = nullptr;
       return enginehost_model_run(nullptr, nullptr, 0, nullptr, &outputs, error);
     },
     "model"},
};

class WrongArgument : public testing::TestWithParam<WrongCall> {};

TEST_P(WrongArgument, IsInvalidAndNamed) {
  enginehost_error* raw = nullptr;
  EXPECT_EQ(GetParam().call(&raw), ENGINEHOST_INVALID);
  const Handle<enginehost_error> error(raw);
  ASSERT_NE(error, nullptr);
  EXPECT_STREQ(enginehost_error_code(error.get()), "EH-P45");
  EXPECT_NE(std::strlen(enginehost_error_title(error.get())), 0u);
  EXPECT_THAT(enginehost_error_cause(error.get()), HasSubstr(GetParam().argument));
  EXPECT_THAT(enginehost_error_text(error.get()), HasSubstr("EH-P45"));
  EXPECT_THAT(enginehost_error_json(error.get()), HasSubstr("\"code\":\"EH-P45\""));
  EXPECT_EQ(GetParam().call(nullptr), ENGINEHOST_INVALID);
}

INSTANTIATE_TEST_SUITE_P(OfTheApi, WrongArgument, testing::ValuesIn(wrong_calls),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace enginehost::test
