// Windows' errors, read by their numbers because Windows translates its texts. The numbers are those of
// winerror.h and, for delay loading, of delayimp.h.
#include <algorithm>
#include <charconv>

#include "host/explain/texts/reading.hpp"

namespace enginehost::explain {
namespace {

struct Number {
  std::uint32_t number;
  std::string_view code;
};
constexpr Number numbers[] = {
    {3, "EH-W12"},            // ERROR_PATH_NOT_FOUND
    {5, "EH-W09"},            // ERROR_ACCESS_DENIED
    {8, "EH-W11"},            // ERROR_NOT_ENOUGH_MEMORY
    {14, "EH-W11"},           // ERROR_OUTOFMEMORY
    {32, "EH-W09"},           // ERROR_SHARING_VIOLATION
    {33, "EH-W09"},           // ERROR_LOCK_VIOLATION
    {126, "EH-W01"},          // ERROR_MOD_NOT_FOUND
    {127, "EH-W03"},          // ERROR_PROC_NOT_FOUND
    {193, "EH-W04"},          // ERROR_BAD_EXE_FORMAT
    {206, "EH-W12"},          // ERROR_FILENAME_EXCED_RANGE
    {225, "EH-W09"},          // ERROR_VIRUS_INFECTED
    {577, "EH-W10"},          // ERROR_INVALID_IMAGE_HASH
    {998, "EH-W05"},          // ERROR_NOACCESS
    {1114, "EH-W05"},         // ERROR_DLL_INIT_FAILED
    {1260, "EH-W10"},         // ERROR_ACCESS_DISABLED_BY_POLICY
    {1455, "EH-W11"},         // ERROR_COMMITMENT_LIMIT
    {4551, "EH-W10"},         // ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION
    {14001, "EH-W12"},        // ERROR_SXS_CANT_GEN_ACTCTX
    {0x800711C7u, "EH-W10"},  // 4551 as an HRESULT
    {0xC06D007Eu, "EH-W08"},  // delay load: the module
    {0xC06D007Fu, "EH-W08"},  // delay load: the function
};

}  // namespace

std::string_view class_of_windows_error(std::uint32_t number) {
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
      if (!class_of_windows_error(value).empty()) return value;
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
      {"Can't find dependent libraries", "EH-W01"},
      {"The specified module could not be found", "EH-W01"},
      {"or one of its dependencies", "EH-W01"},
      {"The specified procedure could not be found", "EH-W03"},
      {"is not a valid Win32 application", "EH-W04"},
      {"Can't load AMD 64-bit .dll on a", "EH-W04"},
      {"Can't load IA 32-bit .dll on a", "EH-W04"},
      {"Can't load ARM 64-bit .dll on a", "EH-W04"},
      {"A dynamic link library (DLL) initialization routine failed", "EH-W05"},
      {"Invalid access to memory location", "EH-W05"},
      {"An Application Control policy has blocked this file", "EH-W10"},
      {"The paging file is too small", "EH-W11"},
      // cuDNN 8 opens it by name at the first convolution.
      {"Could not locate zlibwapi.dll", "EH-R15"},
      {"failed to open nvrtc-builtins64", "EH-R15"},
  };
  const Phrase* const known = find_phrase(text, sentences);
  if (known == nullptr) return std::nullopt;
  hint.code = known->code;
  return hint;
}

}  // namespace texts
}  // namespace enginehost::explain
