#include "host/load/helper/subcommands.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/paths.hpp"
#include "host/load/helper/answer_channel.hpp"
#include "host/load/helper/this_process.hpp"
#include "host/load/in_process/open_library.hpp"

namespace enginehost::helper {
namespace {

// The few driver calls that are used, declared by hand: the driver API's functions and numbers are stable
// since CUDA 4 (cuda.h), so building needs no NVIDIA header. Names without _v2, where both exist, take the
// older, shorter arguments.
constexpr int attribute_integrated = 18;                // CU_DEVICE_ATTRIBUTE_INTEGRATED
constexpr int attribute_compute_capability_major = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int attribute_compute_capability_minor = 76;

using NvmlDevice = struct nvmlDevice_st*;
struct NvmlMemory {
  unsigned long long total, free, used;
};

// Formats the UUID as NVIDIA's tools do: 8-4-4-4-12 digits.
std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

std::string capability_text(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// Sends each fact to the parent as soon as it is known, because the next call may never return.
class AnswerWriter {
 public:
  AnswerWriter(AnswerChannel& channel, std::string_view library) : channel_(channel), library_(library) {}
  void report(std::string_view what, Json value) {
    reported_ &= channel_.write(Json::object().set(library_, Json::object().set(what, std::move(value))));
  }
  bool reported() const { return reported_; }  // all of it was written

 private:
  AnswerChannel& channel_;
  std::string_view library_;
  bool reported_ = true;
};

// Returns the loader's text, on Windows with its number, or why EngineHost did not call the loader.
std::string text_of(const Diagnosis& why) {
  const std::string file(why.value(Key::file)), said(why.value(Key::os_said)),
      number(why.value(Key::error_number));
  if (!number.empty()) return file + ": " + said + " (error " + number + ")";
  if (!said.empty()) return said;
  const std::string problem(why.value(Key::problem));
  return file + " is " +
         (problem.empty() ? "this program itself" : problem + ", not " + std::string(why.value(Key::wanted)));
}

// Opens a library of the driver, given by its path or by the name that the driver installs, and reports the
// file that was mapped or the loader's text. It stays loaded, because a driver must not be unloaded.
load::OpenLibrary open_of_driver(const std::string& name_or_path, AnswerWriter& writer) {
  const std::filesystem::path file = path_of(name_or_path);
  auto opened =
      file.has_parent_path() ? load::OpenLibrary::at(file) : load::OpenLibrary::of_the_system(name_or_path);
  if (const std::string older = nvml_of_older_drivers();
      !opened && name_or_path == nvml_library && !older.empty())
    if (auto found = load::OpenLibrary::at(path_of(older))) opened = std::move(found);
  writer.report("library", opened ? Json::object().set("path", opened->file())
                                  : Json::object().set("error", text_of(opened.error())));
  if (!opened) return {};
  opened->stay();
  return std::move(*opened);
}

constexpr int not_offered = -1;  // no code of these libraries

// Calls the function with exactly these types and returns its code; not_offered if the library lacks it.
template <class... Arguments>
int call(const load::OpenLibrary& library, const char* function, Arguments... arguments) {
  auto* const called = library.function<int(Arguments...)>(function);
  return called != nullptr ? called(arguments...) : not_offered;
}

Json cuda_device(const load::OpenLibrary& cuda, int index) {
  Json answer = Json::object().set("index", index);
  int device = 0;
  if (call(cuda, "cuDeviceGet", &device, index) != 0) return answer;
  char name[256] = "";
  if (call(cuda, "cuDeviceGetName", &name[0], static_cast<int>(sizeof name), device) == 0)
    answer.set("name", name);
  // _v2 returns a MIG instance's own UUID, the older function its GPU's.
  std::array<unsigned char, 16> uuid{};
  int code = call(cuda, "cuDeviceGetUuid_v2", uuid.data(), device);
  if (code == not_offered) code = call(cuda, "cuDeviceGetUuid", uuid.data(), device);
  if (code == 0) answer.set("uuid", uuid_text(uuid));
  int major = 0, minor = 0, integrated = 0;
  if (call(cuda, "cuDeviceGetAttribute", &major, attribute_compute_capability_major, device) == 0 &&
      call(cuda, "cuDeviceGetAttribute", &minor, attribute_compute_capability_minor, device) == 0)
    answer.set("compute_capability", capability_text(major, minor));
  if (call(cuda, "cuDeviceGetAttribute", &integrated, attribute_integrated, device) == 0)
    answer.set("integrated", integrated != 0);
  std::size_t memory = 0;
  if (call(cuda, "cuDeviceTotalMem_v2", &memory, device) == 0)
    answer.set("memory", static_cast<std::uint64_t>(memory));
  return answer;
}

// Queries first what needs no device, so that it is known when the device hangs.
void ask_cuda_version(const load::OpenLibrary& cuda, AnswerWriter& writer) {
  int version = 0;
  if (const int code = call(cuda, "cuDriverGetVersion", &version); code != not_offered)
    writer.report("driver_version", Json::object().set("code", code).set("value", version));
}

void ask_cuda(const load::OpenLibrary& cuda, AnswerWriter& writer) {
  const int code = call(cuda, "cuInit", 0U);
  if (code == not_offered) return;
  Json init = Json::object().set("code", code);
  const char* text = nullptr;
  if (call(cuda, "cuGetErrorName", code, &text) == 0 && text != nullptr) init.set("name", text);
  text = nullptr;
  if (call(cuda, "cuGetErrorString", code, &text) == 0 && text != nullptr) init.set("text", text);
  writer.report("init", std::move(init));
  if (code != 0) return;

  int count = 0;
  const int count_code = call(cuda, "cuDeviceGetCount", &count);
  writer.report("count", Json::object().set("code", count_code));
  for (int index = 0; count_code == 0 && index < count; ++index)
    writer.report("devices", Json::array().push(cuda_device(cuda, index)));
}

Json nvml_device(const load::OpenLibrary& nvml, unsigned index) {
  Json answer = Json::object().set("index", index);
  NvmlDevice device = nullptr;
  if (call(nvml, "nvmlDeviceGetHandleByIndex_v2", index, &device) != 0) return answer;
  char text[256] = "";
  constexpr unsigned room = sizeof text;
  if (call(nvml, "nvmlDeviceGetName", device, &text[0], room) == 0) answer.set("name", text);
  if (call(nvml, "nvmlDeviceGetUUID", device, &text[0], room) == 0) answer.set("uuid", text);
  int major = 0, minor = 0;
  if (call(nvml, "nvmlDeviceGetCudaComputeCapability", device, &major, &minor) == 0)
    answer.set("compute_capability", capability_text(major, minor));
  NvmlMemory memory{};
  if (call(nvml, "nvmlDeviceGetMemoryInfo", device, &memory) == 0)
    answer.set("memory", static_cast<std::uint64_t>(memory.total));
  return answer;
}

void ask_nvml(const std::string& name_or_path, AnswerWriter& writer) {
  const load::OpenLibrary nvml = open_of_driver(name_or_path, writer);
  const int code = call(nvml, "nvmlInit_v2");
  if (code == not_offered) return;
  Json init = Json::object().set("code", code);
  if (const auto get_text = nvml.function<const char*(int)>("nvmlErrorString"); get_text != nullptr)
    if (const char* text = get_text(code); text != nullptr) init.set("text", text);
  writer.report("init", std::move(init));
  if (code != 0) return;

  char driver[96] = "";
  if (call(nvml, "nvmlSystemGetDriverVersion", &driver[0], static_cast<unsigned>(sizeof driver)) == 0)
    writer.report("driver_version", driver);
  int version = 0;
  if (call(nvml, "nvmlSystemGetCudaDriverVersion_v2", &version) == 0) writer.report("cuda_version", version);
  unsigned count = 0;
  if (call(nvml, "nvmlDeviceGetCount_v2", &count) == 0)
    for (unsigned index = 0; index < count; ++index)
      writer.report("devices", Json::array().push(nvml_device(nvml, index)));
}

}  // namespace

int ask_nvidia(int argc, char** argv) {
  std::string nonce, libcuda = cuda_driver_library, nvml = nvml_library;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    std::string* target = option == "--nonce"     ? &nonce
                          : option == "--libcuda" ? &libcuda
                          : option == "--nvml"    ? &nvml
                                                  : nullptr;
    if (target == nullptr || i + 1 >= argc) {
      std::fprintf(stderr, "usage: enginehost-probe drivers [--nonce TEXT] [--libcuda PATH] [--nvml PATH]\n");
      return 2;
    }
    *target = argv[i + 1];
  }
  AnswerChannel channel(std::move(nonce));
  AnswerWriter of_cuda(channel, "cuda"), of_nvml(channel, "nvml");
  const load::OpenLibrary cuda = open_of_driver(libcuda, of_cuda);
  ask_cuda_version(cuda, of_cuda);
  ask_nvml(nvml, of_nvml);
  ask_cuda(cuda, of_cuda);
  const bool written =
      channel.write(Json::object().set("done", true)) && of_cuda.reported() && of_nvml.reported();
  leave_at_once(written ? 0 : 1);
}

}  // namespace enginehost::helper
