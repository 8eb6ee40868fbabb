#include "host/platform/machine_key.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/platform/detect.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/windows/system.hpp"

namespace enginehost::platform {
namespace {

// Change this when detect() reads something else, so that facts remembered by an older version are not used.
constexpr std::string_view version = "2";

// Adds a file of this machine, even when another root is examined.
void stamp_here(KeyText& key, const std::filesystem::path& file) { key.stamp(path_text(file), file); }

// A loaded library satisfies every need of its name, wherever the files lie.
void add_loaded_libraries(KeyText& key) {
  for (const wchar_t* name : {L"nvcuda.dll", L"nvml.dll", L"vcruntime140.dll", L"msvcp140.dll"}) {
    const HMODULE module = ::GetModuleHandleW(name);
    wchar_t path[1024];
    const DWORD length = module != nullptr ? ::GetModuleFileNameW(module, path, 1024) : 0;
    if (length > 0) stamp_here(key, std::wstring_view(path, length));
  }
}

// A folder's time changes when a library is added or removed; a replaced library has another stamp.
void add_loader(KeyText& key, const Root& root) {
  wchar_t text[MAX_PATH];
  const UINT length = ::GetSystemDirectoryW(text, MAX_PATH);
  const std::string system = windows::utf8({text, length < MAX_PATH ? length : 0});
  key.stamp(system, root.on_disk(system));
  for (const char* name : {"\\nvcuda.dll", "\\nvml.dll", "\\vcruntime140.dll", "\\msvcp140.dll"})
    key.stamp(system + name, root.on_disk(system + name));
  for (const char* name : {"vcruntime140.dll", "msvcp140.dll", "nvcuda.dll"})
    stamp_here(key, executable_folder() / name);
}

// Inputs of facts that are only reported.
void add_reported(KeyText& key, const Root& root) {
  key.add("processors", ::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
  for (const std::string& toolkit :
       registry::keys_below("SOFTWARE\\NVIDIA Corporation\\GPU Computing Toolkit\\CUDA"))
    key.add("toolkit", toolkit);
  for (const auto& [name, value] : process_variables())
    if (name == "PATH")
      for (const std::string& folder : split(value, ';'))
        if (!folder.empty()) key.stamp(folder, root.on_disk(folder));
}

}  // namespace

// PATH affects only libraries that are reported and CUDA's toolkits. HIP_ is one of the loader's variables.
void add_system(KeyText& key, const Root& root, Reach reach) {
  key.add("machine key of Windows", version);
  key.add("boot", boot_id());
  // Created when Windows is installed; another system on the same machine has another value.
  key.add("machine", registry::text("SOFTWARE\\Microsoft\\Cryptography", "MachineGuid").value_or(""));
  if (const auto system = windows_version()) key.add("Windows", system->text());
  key.add("updates", registry::number("SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion", "UBR").value_or(0));
  add_loaded_libraries(key);
  add_loader(key, root);
  for (const auto& [sign, value] : device_signs(root)) key.add(sign, value);
  if (reach == Reach::everything) add_reported(key, root);
}

std::vector<MachineInput> system_inputs(const Root&, Reach) { return {}; }

std::vector<std::string> files_in_machine_key_text(const std::string&) { return {}; }

}  // namespace enginehost::platform
