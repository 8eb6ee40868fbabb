#include "host/platform/machine_key.hpp"

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/platform/device_signs.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/root.hpp"
#include "host/platform/windows/registry.hpp"
#include "host/platform/windows/system.hpp"

namespace enginehost::platform {
namespace {

// Change this when detect() reads something else, so that facts remembered by an older version are not used.
constexpr std::string_view version = "machine key of Windows 1";

// Gathers the text that the key digests.
class MachineKeyBuilder {
 public:
  explicit MachineKeyBuilder(const Root& root) : root_(root) { text_.reserve(8192); }

  void add(std::string_view value) { text_.append(value).push_back('\n'); }
  void add(std::string_view name, std::string_view value) {
    text_.append(name).push_back('=');
    add(value);
  }
  void add(std::string_view name, std::uint64_t value) { add(name, std::to_string(value)); }

  void stamp(const std::string& path) { stamp_file(path, root_.on_disk(path)); }
  // Adds a file of this machine, even when another root is examined.
  void stamp_here(const std::filesystem::path& file) { stamp_file(path_text(file), file); }
  const std::string& text() const { return text_; }

 private:
  void stamp_file(const std::string& name, const std::filesystem::path& file) {
    calls::Status status;
    text_.append(name).push_back('=');
    if (calls::stat(file, &status) != 0) return add(errno == EACCES ? "closed" : "absent");
    for (const std::uint64_t number :
         {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          static_cast<std::uint64_t>(calls::modified_ns(status))})
      text_.append(std::to_string(number)).push_back(' ');
    text_.push_back('\n');
  }

  const Root& root_;
  std::string text_;
};

void add_environment(MachineKeyBuilder& key, Reach reach) {
  // PATH affects only libraries that are reported and CUDA's toolkits. HIP_ is one of the loader's variables.
  for (const auto& [name, value] : process_variables())
    if (is_loader_variable(name) ||
        (reach == Reach::everything && (name == "PATH" || name == "CONDA_DEFAULT_ENV")))
      key.add(name, value);
}

// A loaded library satisfies every need of its name, wherever the files lie.
void add_loaded_libraries(MachineKeyBuilder& key) {
  for (const wchar_t* name : {L"nvcuda.dll", L"nvml.dll", L"vcruntime140.dll", L"msvcp140.dll"}) {
    const HMODULE module = ::GetModuleHandleW(name);
    wchar_t path[1024];
    const DWORD length = module != nullptr ? ::GetModuleFileNameW(module, path, 1024) : 0;
    if (length > 0) key.stamp_here(std::wstring_view(path, length));
  }
}

// A folder's time changes when a library is added or removed; a replaced library has another stamp.
void add_loader(MachineKeyBuilder& key) {
  wchar_t text[MAX_PATH];
  const UINT length = ::GetSystemDirectoryW(text, MAX_PATH);
  const std::string system = windows::utf8({text, length < MAX_PATH ? length : 0});
  key.stamp(system);
  for (const char* name : {"\\nvcuda.dll", "\\nvml.dll", "\\vcruntime140.dll", "\\msvcp140.dll"})
    key.stamp(system + name);
  for (const char* name : {"vcruntime140.dll", "msvcp140.dll", "nvcuda.dll"})
    key.stamp_here(executable_folder() / name);
}

// Inputs of facts that are only reported.
void add_reported(MachineKeyBuilder& key) {
  key.add("processors", ::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
  for (const std::string& toolkit :
       registry::keys_below("SOFTWARE\\NVIDIA Corporation\\GPU Computing Toolkit\\CUDA"))
    key.add("toolkit", toolkit);
  for (const auto& [name, value] : process_variables())
    if (name == "PATH")
      for (const std::string& folder : split(value, ';'))
        if (!folder.empty()) key.stamp(folder);
}

}  // namespace

std::string machine_text(const DetectRequest& request, Reach reach) {
  const Root root(request.root);
  MachineKeyBuilder key(root);
  key.add(version);
  key.add(reach == Reach::everything ? "everything" : "decisive");
  key.add("boot", boot_id());
  // Created when Windows is installed; another system on the same machine has another value.
  key.add("machine", registry::text("SOFTWARE\\Microsoft\\Cryptography", "MachineGuid").value_or(""));
  if (const auto system = windows_version()) key.add("Windows", system->text());
  key.add("updates", registry::number("SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion", "UBR").value_or(0));
  key.add("pointer", sizeof(void*));  // a 32-bit program on the same system
  key.add("user", effective_user());
  key.add("helper", path_text(request.helper));
  if (!request.helper.empty()) key.stamp_here(request.helper);
  for (const std::string& word : request.helper_launcher) key.add("launcher", word);
  key.add("root", path_text(request.root));
  key.add("cache", path_text(request.cache_folder));
  if (!request.cache_folder.empty())
    key.add("noexec", forbids_execution(request.cache_folder) ? "yes" : "no");
  add_environment(key, reach);
  add_loaded_libraries(key);
  add_loader(key);
  for (const auto& [sign, value] : device_signs(root)) key.add(sign, value);
  if (reach == Reach::everything) add_reported(key);
  return key.text();
}

std::string machine_key(const DetectRequest& request, Reach reach) {
  return sha256_hex(machine_text(request, reach));
}

std::string machine_key_text(Reach reach) { return machine_text({}, reach); }

std::vector<MachineInput> machine_inputs(const DetectRequest& request, Reach) {
  std::vector<MachineInput> inputs;
  if (!request.helper.empty()) inputs.push_back({MachineInput::What::stamp, path_text(request.helper)});
  if (!request.cache_folder.empty())
    inputs.push_back({MachineInput::What::noexec, path_text(request.cache_folder)});
  return inputs;
}

std::vector<std::string> files_in_machine_key_text(const std::string&) { return {}; }

}  // namespace enginehost::platform
