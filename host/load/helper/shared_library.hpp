// A library opened by name or path, its symbols, and the file that was really mapped.
#pragma once
#include <string>
#include <string_view>

namespace enginehost::helper {

// File names of NVIDIA's driver and its management library on this system.
extern const char* const cuda_driver_library;
extern const char* const nvml_library;

// Stays open until the process ends, because a driver must not be unloaded. One thread.
class SharedLibrary {
 public:
  explicit SharedLibrary(const std::string& name_or_path);
  bool is_open() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }  // the loader's text
  std::string path() const;                            // of the mapped file, symbolic links resolved

  // Returns the function of that name, or null: older drivers lack newer ones.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;
  void* handle_ = nullptr;
  std::string error_;
};

}  // namespace enginehost::helper
