// Windows' errors, read by their numbers because Windows translates its texts. The numbers are those of
// winerror.h and, for delay loading, of delayimp.h.
#include <algorithm>
#include <charconv>

#include "host/explain/texts/reading.hpp"

namespace enginehost::explain {
namespace {

struct Number {
  std::uint32_t number;
  Code code = Code::none;
};
constexpr Number numbers[] = {
    {3, Code::side_by_side_configuration_wrong},          // ERROR_PATH_NOT_FOUND
    {5, Code::dll_locked},                                // ERROR_ACCESS_DENIED
    {8, Code::page_file_too_small},                       // ERROR_NOT_ENOUGH_MEMORY
    {14, Code::page_file_too_small},                      // ERROR_OUTOFMEMORY
    {32, Code::dll_locked},                               // ERROR_SHARING_VIOLATION
    {33, Code::dll_locked},                               // ERROR_LOCK_VIOLATION
    {126, Code::dll_missing},                             // ERROR_MOD_NOT_FOUND
    {127, Code::dll_function_missing},                    // ERROR_PROC_NOT_FOUND
    {193, Code::dll_not_for_this_machine},                // ERROR_BAD_EXE_FORMAT
    {206, Code::side_by_side_configuration_wrong},        // ERROR_FILENAME_EXCED_RANGE
    {225, Code::dll_locked},                              // ERROR_VIRUS_INFECTED
    {577, Code::blocked_by_application_control},          // ERROR_INVALID_IMAGE_HASH
    {998, Code::dll_failed_to_start},                     // ERROR_NOACCESS
    {1114, Code::dll_failed_to_start},                    // ERROR_DLL_INIT_FAILED
    {1260, Code::blocked_by_application_control},         // ERROR_ACCESS_DISABLED_BY_POLICY
    {1455, Code::page_file_too_small},                    // ERROR_COMMITMENT_LIMIT
    {4551, Code::blocked_by_application_control},         // ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION
    {14001, Code::side_by_side_configuration_wrong},      // ERROR_SXS_CANT_GEN_ACTCTX
    {0x800711C7u, Code::blocked_by_application_control},  // 4551 as an HRESULT
    {0xC06D007Eu, Code::delayed_dll_missing},             // delay load: the module
    {0xC06D007Fu, Code::delayed_dll_missing},             // delay load: the function
};

}  // namespace

Code class_of_windows_error(std::uint32_t number) {
  for (const Number& one : numbers)
    if (one.number == number) return one.code;
  return {};
}

namespace texts {
namespace {

// The text before the number in Python, ONNX Runtime, cuDNN, .NET, Node and exception handlers.
constexpr std::string_view before_number[] = {
    "[WinError ",
    "LoadLibrary failed with error ",
    "Error code ",
    "error code ",
    "GetLastError() = ",
    "GetLastError: ",
    "(error ",
    "Error: ",
    "0x",
};

std::optional<std::uint32_t> system_error_in(std::string_view text) {
  for (const std::string_view front : before_number)
    for (std::size_t at = text.find(front); at != std::string_view::npos; at = text.find(front, at + 1)) {
      std::string_view digits = text.substr(at + front.size());
      const bool hexadecimal = front == "0x" || digits.starts_with("0x");
      if (digits.starts_with("0x")) digits.remove_prefix(2);
      std::uint32_t value = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
      // A short hexadecimal number is no error code.
      if (error != std::errc() || (hexadecimal && value < 0x10000u)) continue;
      if (class_of_windows_error(value) != Code::none) return value;
    }
  return std::nullopt;
}

bool ends_a_name(char c) { return c == '"' || c == '\'' || c == '\n' || c == '\r' || c == '<' || c == '>'; }

// Returns the first file name with that ending, with its path from a quotation mark or the drive letter on.
std::string file_with(std::string_view text, std::string_view ending) {
  const std::size_t at = text.find(ending);
  if (at == std::string_view::npos) return {};
  std::size_t begin = at;
  while (begin > 0 && !ends_a_name(text[begin - 1])) --begin;
  const std::string_view whole = text.substr(begin, at + ending.size() - begin);
  // Without quotation marks: from the drive on, or after the last blank before the name.
  if (const std::size_t drive = whole.rfind(":\\"); drive != std::string_view::npos && drive > 0)
    return std::string(whole.substr(drive - 1));
  const std::size_t blank = whole.rfind(' ');
  return std::string(blank == std::string_view::npos ? whole : whole.substr(blank + 1));
}

}  // namespace

std::optional<LoaderHint> read_windows(std::string_view text) {
  LoaderHint hint;
  for (const std::string_view ending : {".dll", ".DLL", ".pyd", ".node"})
    if (hint.subject.empty()) hint.subject = file_with(text, ending);
  if (hint.subject.empty()) return std::nullopt;
  if (const auto number = system_error_in(text)) {
    hint.number = std::to_string(*number);
    hint.code = class_of_windows_error(*number);
    return hint;
  }
  // English sentences of programs that drop the number: a JVM, PyTorch, cuDNN 8, Node.
  constexpr Phrase sentences[] = {
      {"Can't find dependent libraries", Code::dll_missing},
      {"The specified module could not be found", Code::dll_missing},
      {"or one of its dependencies", Code::dll_missing},
      {"The specified procedure could not be found", Code::dll_function_missing},
      {"is not a valid Win32 application", Code::dll_not_for_this_machine},
      {"Can't load AMD 64-bit .dll on a", Code::dll_not_for_this_machine},
      {"Can't load IA 32-bit .dll on a", Code::dll_not_for_this_machine},
      {"Can't load ARM 64-bit .dll on a", Code::dll_not_for_this_machine},
      {"A dynamic link library (DLL) initialization routine failed", Code::dll_failed_to_start},
      {"Invalid access to memory location", Code::dll_failed_to_start},
      {"An Application Control policy has blocked this file", Code::blocked_by_application_control},
      {"The paging file is too small", Code::page_file_too_small},
      // cuDNN 8 opens it by name at the first convolution.
      {"Could not locate zlibwapi.dll", Code::run_time_library_missing},
      {"failed to open nvrtc-builtins64", Code::run_time_library_missing},
  };
  const Phrase* const known = find_phrase(text, sentences);
  if (known == nullptr) return std::nullopt;
  hint.code = known->code;
  return hint;
}

}  // namespace texts
}  // namespace enginehost::explain
