// The stand-ins for libraries of NVIDIA's (engines/pytorch/stand_ins): what their files say, and what each
// function answers.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "host/binary/binary.hpp"
#include "tests/support/paths.hpp"

#if defined(__x86_64__)
constexpr const char* processor = "x86_64";
#else
constexpr const char* processor = "aarch64";
#endif

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

// Results of CUDA's runtime and of CUPTI. Both have the same number for a parameter that may not be NULL.
constexpr int success = 0, invalid_parameter = 1, no_device = 100, not_initialized = 15, no_more = 12;

using Function = void (*)();
template <class... Arguments>
int result_of(Function function, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

void* const handle = nullptr;
constexpr unsigned number = 1;

// The last argument is a pointer to a T, which the function fills with `filled` whatever it was before.
template <class T, class... Arguments>
void fills(Function function, int result, T filled, Arguments... arguments) {
  T value;
  std::memset(&value, 0x5a, sizeof value);
  EXPECT_EQ(result_of(function, arguments..., &value), result);
  EXPECT_EQ(value, filled);
  EXPECT_EQ(result_of(function, arguments..., static_cast<T*>(nullptr)), invalid_parameter);
}

// The same of a size that precedes a buffer.
template <class... Arguments>
void writes_nothing(Function function, Arguments... arguments) {
  std::size_t size = 8;
  std::uint64_t value = 7;
  void* const buffer = &value;
  EXPECT_EQ(result_of(function, arguments..., &size, buffer), not_initialized);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(result_of(function, arguments..., static_cast<std::size_t*>(nullptr), buffer), invalid_parameter);
}

template <class... Arguments>
std::function<void(Function)> takes(Arguments... arguments) {
  return [=](Function function) { EXPECT_EQ(result_of(function, arguments...), not_initialized); };
}

const char* error_string(Function function, int error) {
  return reinterpret_cast<const char* (*)(int)>(function)(error);
}

void expect_result_string(Function function, int code, int result, const std::string& begin) {
  const char* text = nullptr;
  EXPECT_EQ(result_of(function, code, &text), result);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(std::string(text).substr(0, begin.size()), begin);
}

// How each function is called, and what it answers. Another function in table.json fails the test until it is
// here.
const std::map<std::string, std::function<void(Function)>> calls = {
    {"cudaDeviceSynchronize", [](Function f) { EXPECT_EQ(result_of(f), no_device); }},
    {"cudaDriverGetVersion", [](Function f) { fills(f, success, 0); }},
    {"cudaRuntimeGetVersion", [](Function f) { fills(f, success, 0); }},
    {"cudaGetDeviceCount", [](Function f) { fills(f, no_device, 0); }},
    {"cudaGetDeviceProperties",
     [](Function f) {
       // struct cudaDeviceProp has 728 bytes in CUDA 11 and 1008 in CUDA 13.
       std::string properties(2048, 'Z');
       EXPECT_EQ(result_of(f, static_cast<void*>(properties.data()), 0), no_device);
       const std::size_t filled = properties.find_first_not_of('\0');
       EXPECT_TRUE(filled == 728 || filled == 1008) << filled;
       EXPECT_EQ(properties.find_first_not_of('Z', filled), std::string::npos) << "and nothing behind it";
       EXPECT_EQ(result_of(f, handle, 0), invalid_parameter);
     }},
    {"cudaGetErrorString",
     [](Function f) {
       EXPECT_STREQ(error_string(f, success), "no error");
       EXPECT_THAT(error_string(f, no_device), testing::StartsWith("no CUDA-capable device is detected"));
       for (int error = -1; error < 1000; ++error)
         EXPECT_GT(std::strlen(error_string(f, error)), 0u) << error;
     }},
    {"cuptiGetVersion", [](Function f) { fills(f, success, std::uint32_t{0}); }},
    {"cuptiGetResultString",
     [](Function f) {
       expect_result_string(f, success, success, "CUPTI_SUCCESS");
       expect_result_string(f, invalid_parameter, success, "CUPTI_ERROR_INVALID_PARAMETER");
       expect_result_string(f, no_more, success, "CUPTI_ERROR_MAX_LIMIT_REACHED");
       expect_result_string(f, not_initialized, success, "CUPTI_ERROR_NOT_INITIALIZED");
       expect_result_string(f, 7777, invalid_parameter, "<unknown>");
       EXPECT_EQ(result_of(f, success, static_cast<const char**>(nullptr)), invalid_parameter);
     }},
    {"cuptiGetCallbackName",
     [](Function f) {
       const char* name = nullptr;
       EXPECT_EQ(result_of(f, 2, number, &name), invalid_parameter) << "no callback is known";
       EXPECT_STREQ(name, "<unknown>");
       EXPECT_EQ(result_of(f, 2, number, static_cast<const char**>(nullptr)), invalid_parameter);
     }},
    {"cuptiGetDeviceId", [](Function f) { fills(f, not_initialized, ~std::uint32_t{0}, handle); }},
    {"cuptiFinalize", takes()},
    {"cuptiActivityRegisterCallbacks", takes(handle, handle)},
    {"cuptiActivityRegisterTimestampCallback", takes(handle)},
    {"cuptiActivityEnable", takes(3)},
    {"cuptiActivityDisable", takes(3)},
    {"cuptiActivityEnableDriverApi", takes(number, number)},
    {"cuptiActivityEnableRuntimeApi", takes(number, number)},
    {"cuptiActivityEnableCudaEventDeviceTimestamps", takes(number)},
    {"cuptiActivityFlushAll", takes(number)},
    {"cuptiActivityPushExternalCorrelationId", takes(1, std::uint64_t{5})},
    {"cuptiActivityPopExternalCorrelationId",
     [](Function f) {
       std::uint64_t last = 7;
       EXPECT_EQ(result_of(f, 1, &last), not_initialized);
       EXPECT_EQ(last, 0u);
       EXPECT_EQ(result_of(f, 1, handle), not_initialized) << "the caller may not want it";
     }},
    {"cuptiActivitySetAttribute",
     [](Function f) {
       std::size_t size = 8;
       std::uint64_t value = 7;
       EXPECT_EQ(result_of(f, 0, &size, &value), not_initialized);
       EXPECT_EQ(size, 8u) << "both are the caller's";
       EXPECT_EQ(value, 7u);
     }},
    {"cuptiActivityGetNextRecord",
     [](Function f) { fills<void*>(f, no_more, nullptr, handle, std::size_t{0}); }},
    {"cuptiActivityGetNumDroppedRecords",
     [](Function f) { fills(f, success, std::size_t{0}, handle, number); }},
    {"cuptiSubscribe",
     [](Function f) {
       void* subscriber = &subscriber;
       EXPECT_EQ(result_of(f, &subscriber, handle, handle), not_initialized);
       EXPECT_EQ(subscriber, nullptr);
       EXPECT_EQ(result_of(f, handle, handle, handle), invalid_parameter);
     }},
    {"cuptiUnsubscribe", takes(handle)},
    {"cuptiEnableCallback", takes(number, handle, 2, number)},
    {"cuptiEnableDomain", takes(number, handle, 2)},
    {"cuptiEventGetIdFromName", [](Function f) { fills(f, not_initialized, std::uint32_t{0}, 0, "inst"); }},
    {"cuptiEventGetAttribute", [](Function f) { writes_nothing(f, number, 0); }},
    {"cuptiEventGroupGetAttribute", [](Function f) { writes_nothing(f, handle, 0); }},
    {"cuptiEventGroupSetAttribute", takes(handle, 0, std::size_t{0}, handle)},
    {"cuptiEventGroupReadEvent", [](Function f) { writes_nothing(f, handle, 0, number); }},
    {"cuptiEventGroupSetEnable", takes(handle)},
    {"cuptiEventGroupSetDisable", takes(handle)},
    {"cuptiEventGroupSetsCreate",
     [](Function f) { fills<void*>(f, not_initialized, nullptr, handle, std::size_t{0}, handle); }},
    {"cuptiEventGroupSetsDestroy", takes(handle)},
    {"cuptiSetEventCollectionMode", takes(handle, 0)},
    {"cuptiMetricGetIdFromName", [](Function f) { fills(f, not_initialized, std::uint32_t{0}, 0, "ipc"); }},
    {"cuptiMetricGetAttribute", [](Function f) { writes_nothing(f, number, 0); }},
    {"cuptiMetricGetNumEvents", [](Function f) { fills(f, not_initialized, std::uint32_t{0}, number); }},
    {"cuptiMetricEnumEvents", [](Function f) { writes_nothing(f, number); }},
    {"cuptiMetricGetValue",
     [](Function f) {
       fills(f, not_initialized, std::uint64_t{0}, 0, number, std::size_t{0}, handle, std::size_t{0}, handle,
             std::uint64_t{1});
     }},
};

// The functions of each stand-in for this processor.
std::map<std::string, std::vector<std::string>> table() {
  const auto text = read_file(test::source_path("/engines/pytorch/stand_ins/table.json"));
  const auto document = parse_json(text.value_or(""), "table.json");
  std::map<std::string, std::vector<std::string>> functions;
  if (document)
    for (const auto& [name, processors] : document->as_object())
      for (const Json& function : processors[processor]["functions"].as_array())
        functions[name].push_back(function.as_string());
  return functions;
}

std::string file_of(const std::string& name) {
  return test::build_path("/engines/pytorch/stand_ins/") + name;
}

TEST(StandIns, HaveTheFunctionsOfTheTableAndNoMore) {
  ASSERT_EQ(table().size(), 4u);
  for (const auto& [name, functions] : table()) {
    const auto symbols = binary::read_symbols(file_of(name));
    ASSERT_TRUE(symbols) << name;
    std::vector<std::string> exported;
    for (const binary::Symbol& symbol : symbols->exports) {
      EXPECT_EQ(symbol.version, name) << symbol.name;
      if (symbol.function) exported.push_back(symbol.name);
    }
    EXPECT_THAT(exported, UnorderedElementsAreArray(functions)) << name;
    EXPECT_THAT(symbols->imports, IsEmpty()) << name;
  }
}

TEST(StandIns, NeedNoOtherLibraryAndCarryTheirMark) {
  for (const auto& [name, functions] : table()) {
    const auto info = binary::read_binary(file_of(name));
    ASSERT_TRUE(info) << name;
    EXPECT_THAT(info->problems, IsEmpty());
    EXPECT_TRUE(info->stand_in);
    EXPECT_EQ(info->soname, name);
    EXPECT_THAT(info->needed, IsEmpty());
    EXPECT_THAT(info->version_needs, IsEmpty());
    EXPECT_THAT(info->version_definitions, ElementsAre(name));
    EXPECT_FALSE(info->executable_stack);
    EXPECT_FALSE(info->has_rpath || info->has_runpath);
    EXPECT_LT(info->file_size, 16u * 1024) << name;
  }
}

TEST(StandIns, EveryFunctionAnswersAndFillsWhatItsCallerReads) {
  std::size_t called = 0;
  for (const auto& [name, functions] : table()) {
    void* const library = dlopen(file_of(name).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    for (const std::string& function : functions) {
      SCOPED_TRACE(name + ": " + function);
      const auto address = reinterpret_cast<Function>(dlvsym(library, function.c_str(), name.c_str()));
      ASSERT_NE(address, nullptr);
      const auto call = calls.find(function);
      ASSERT_NE(call, calls.end()) << "nobody says how it is called";
      call->second(address);
      ++called;
    }
    dlclose(library);
  }
  EXPECT_EQ(called, 6u + 21 + 5 + 31);
}

// The plugin's own library is no stand-in, nor is NVIDIA's where it is installed.
TEST(StandIns, NothingElseCarriesTheMark) {
  for (const char* other : {"/proc/self/exe", "/usr/local/cuda/lib64/libcudart.so.13",
                            "/usr/local/cuda-13.0/lib/libcudart.so.13"})
    if (const auto info = binary::read_binary(other)) EXPECT_FALSE(info->stand_in) << other;
}

}  // namespace
}  // namespace enginehost::engines::tests
