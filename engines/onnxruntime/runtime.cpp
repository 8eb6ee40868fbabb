#include "engines/onnxruntime/runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <mutex>

#include "engines/onnxruntime/library_search.hpp"
#include "engines/onnxruntime/system.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

// Never destroyed, because the runtime's threads may still log while the process ends.
struct Hosts {
  std::mutex mutex;
  std::list<const engine_host*> all;
};
Hosts& hosts() {
  static Hosts* const kept = new Hosts;
  return *kept;
}

void log_to_hosts(void*, int severity, const char* category, const char*, const char*, const char* message) {
  constexpr int32_t levels[] = {ENGINE_LOG_DEBUG, ENGINE_LOG_INFO, ENGINE_LOG_WARNING, ENGINE_LOG_ERROR,
                                ENGINE_LOG_ERROR};
  int32_t level = severity >= 0 && severity < 5 ? levels[severity] : int32_t{ENGINE_LOG_ERROR};
  std::lock_guard lock(hosts().mutex);
  for (const engine_host* host : hosts().all) {
    if (level >= host->log_level) host->log(host, level, category, message);
  }
}

int severity_of(int32_t log_level) {
  if (log_level <= ENGINE_LOG_DEBUG) return 0;
  if (log_level <= ENGINE_LOG_INFO) return 1;
  return log_level <= ENGINE_LOG_WARNING ? 2 : 3;
}

std::string locate(const engine_host* host, const char* wanted, engine_call* call) {
  std::string root = host->root;
  if (wanted != nullptr) {
    if (leaves_the_view(wanted)) {
      call->detail(call, "option", "onnxruntime.library");
      throw Failure{ENGINE_INVALID,
                    std::string("The option onnxruntime.library names a path inside the installed "
                                "build, and \"") +
                        wanted + "\" is none."};
    }
    return root + "/" + wanted;
  }
  std::vector<std::string> found = find_libraries(root);
  if (!found.empty()) return found.front();
  call->detail(call, "missing_library", runtime_name);
  call->detail(call, "path", host->root);
  throw Failure{ENGINE_CORRUPT, std::string("There is no ") + runtime_name + " below " + root + "."};
}

std::mutex open_mutex;
std::map<std::string, std::weak_ptr<Runtime>>& open_runtimes() {
  static auto* const kept = new std::map<std::string, std::weak_ptr<Runtime>>;
  return *kept;
}

}  // namespace

void report_missing_library(const std::string& loader_text, engine_call* call) {
  const std::string name = missing_library_in(loader_text);
  if (!name.empty()) call->detail(call, "missing_library", name.c_str());
}

std::string loader_words(const std::string& message) {
  const std::string before = " with error: ";
  const size_t at = message.find(before);
  std::string words = at == std::string::npos ? message : message.substr(at + before.size());
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  return words;
}

std::shared_ptr<Runtime> Runtime::open(const engine_host* host, const char* wanted, engine_call* call) {
  std::string path = locate(host, wanted, call), identity = real_path(path);
  std::lock_guard lock(open_mutex);
  if (std::shared_ptr<Runtime> known = open_runtimes()[identity].lock()) return known;

  std::shared_ptr<Runtime> runtime(new Runtime);
  runtime->path_ = path;
  std::string why;
  runtime->handle_ = open_library(path, false, why);
  if (runtime->handle_ == nullptr) {
    report_missing_library(why, call);
    call->detail(call, "path", path.c_str());
    throw Failure{ENGINE_UNAVAILABLE, "ONNX Runtime cannot be loaded: " + why};
  }
  void* symbol = find_own_symbol(runtime->handle_, identity, "OrtGetApiBase");
  if (symbol == nullptr) {
    call->detail(call, "missing_symbol", "OrtGetApiBase");
    call->detail(call, "path", path.c_str());
    throw Failure{ENGINE_UNSUPPORTED,
                  path + " does not export OrtGetApiBase: it is not ONNX Runtime's C library."};
  }
  const OrtApiBase* base = reinterpret_cast<const OrtApiBase* (*)()>(symbol)();
  runtime->version_ = base->get_version_string();
  runtime->table_ = base->get_api(oldest_api);
  if (runtime->table_ == nullptr) {
    call->detail(call, "required", "1.17");
    call->detail(call, "found", runtime->version_);
    throw Failure{ENGINE_UNSUPPORTED, std::string("ONNX Runtime ") + runtime->version_ +
                                          " is older than 1.17, the oldest this adapter knows."};
  }
  if (const char* minor = std::strchr(runtime->version_, '.'))
    runtime->api_version_ = static_cast<uint32_t>(std::strtoul(minor + 1, nullptr, 10));
  void* const* table = runtime->table_;
  runtime->check(api::create_env_with_logger(table, log_to_hosts, nullptr, severity_of(host->log_level),
                                             "enginehost", &runtime->environment_),
                 ENGINE_UNAVAILABLE);
  constexpr int arena_allocator = 1, default_memory = 0;
  runtime->check(api::create_cpu_memory(table, arena_allocator, default_memory, &runtime->host_memory_),
                 ENGINE_NO_MEMORY);
  runtime->check(api::default_allocator(table, &runtime->allocator_), ENGINE_INTERNAL);
  open_runtimes()[identity] = runtime;
  return runtime;
}

// The library stays loaded, because its thread pools and static objects cannot be removed safely.
Runtime::~Runtime() {
  if (host_memory_ != nullptr) api::release_memory(table_, host_memory_);
  if (environment_ != nullptr) api::release_env(table_, environment_);
}

std::unique_ptr<Failure> Runtime::failure(OrtStatus* status, engine_status otherwise) const {
  if (status == nullptr) return nullptr;
  int code = api::get_error_code(table_, status);
  auto out = std::make_unique<Failure>(Failure{otherwise, api::get_error_message(table_, status), code});
  api::release_status(table_, status);
  if (code == ort_invalid_argument || code == ort_no_such_file) out->status = ENGINE_INVALID;
  if (code == ort_invalid_protobuf) out->status = ENGINE_CORRUPT;
  if (code == ort_not_implemented) out->status = ENGINE_UNSUPPORTED;
  return out;
}

void Runtime::check(OrtStatus* status, engine_status otherwise) const {
  if (std::unique_ptr<Failure> failed = failure(status, otherwise)) throw *failed;
}

std::vector<const OrtEpDevice*> Runtime::provider_devices() const {
  const OrtEpDevice* const* devices = nullptr;  // belongs to the environment
  size_t count = 0;
  check(api::provider_devices(table_, environment_, &devices, &count), ENGINE_INTERNAL);
  return {devices, devices + count};
}

const std::vector<const OrtEpDevice*>& Runtime::register_provider(const std::string& kind,
                                                                  const std::string& library,
                                                                  engine_call* call) {
  std::lock_guard lock(providers_mutex_);
  if (const auto known = providers_.find(library); known != providers_.end()) return known->second;
  const std::vector<const OrtEpDevice*> before = provider_devices();
  const PathText path = path_for_runtime(library);
  if (auto failed = failure(api::register_provider(table_, environment_, kind.c_str(), path.c_str()),
                            ENGINE_UNAVAILABLE)) {
    const std::string words = loader_words(failed->message);
    report_missing_library(words, call);
    call->detail(call, "path", library.c_str());
    throw Failure{ENGINE_UNAVAILABLE, "The execution provider " + kind + " cannot be registered: " + words,
                  failed->native};
  }
  std::vector<const OrtEpDevice*>& offered = providers_[library];
  for (const OrtEpDevice* device : provider_devices())
    if (std::find(before.begin(), before.end(), device) == before.end()) offered.push_back(device);
  return offered;
}

std::string Runtime::take(char* text) const {
  if (text == nullptr) return "";
  std::string out = text;
  if (OrtStatus* status = api::allocator_free(table_, allocator_, text)) api::release_status(table_, status);
  return out;
}

LogReceiver::LogReceiver(const engine_host* host) : host_(host) {
  std::lock_guard lock(hosts().mutex);
  hosts().all.push_back(host);
}
LogReceiver::~LogReceiver() {
  std::lock_guard lock(hosts().mutex);
  for (auto at = hosts().all.begin(); at != hosts().all.end(); ++at) {
    if (*at != host_) continue;
    hosts().all.erase(at);
    break;
  }
}

}  // namespace enginehost::engines::onnxruntime
