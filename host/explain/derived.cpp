#include "host/explain/template.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace enginehost::explain {
namespace {

// The name of a C++ template may fill pages, and a list of symbols hundreds of lines.
constexpr std::size_t longest_name = 300, most_names = 16;

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// Returns nothing for a symbol that is no C++ name. Mach-O adds an underscore, glibc's texts add "@version".
std::string demangled(std::string symbol) {
  if (symbol.starts_with("__Z")) symbol.erase(0, 1);
  if (!symbol.starts_with("_Z")) return {};
  symbol.resize(std::min(symbol.find('@'), symbol.size()));
  int status = 0;
  const std::unique_ptr<char, Free> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status));
  if (status != 0 || name == nullptr) return {};
  std::string text = name.get();
  if (text.size() > longest_name) text.replace(longest_name, std::string::npos, "…");
  return text;
}

void add_demangled(Diagnosis& diagnosis) {
  if (!diagnosis.value("demangled").empty()) return;
  const std::vector<std::string> symbols = diagnosis.values("symbol");
  for (std::size_t i = 0; i < symbols.size() && i < most_names; ++i)
    if (const std::string name = demangled(symbols[i]); !name.empty())
      diagnosis.with("demangled", name, symbols[i]);
}

// A quarter more than the build's libraries need, for alignment and for the system libraries that come with
// them, rounded up. If it should have fitted, other libraries already used the reserve: reserve that much
// more.
void add_reserve(Diagnosis& diagnosis) {
  if (diagnosis.code != "EH-L19" || !diagnosis.value("optional_static_tls").empty()) return;
  constexpr std::int64_t most = std::int64_t{1} << 40, least = 64 << 10;
  const auto number = [&](const char* what) {
    const auto value = parse_integer(diagnosis.value(what));
    return value && *value > 0 && *value <= most ? static_cast<std::uint64_t>(*value) : 0;
  };
  const std::uint64_t wanted = number("static_tls"), reserve = number("reserve");
  if (!diagnosis.value("alignment").empty() || wanted + reserve == 0) return;
  const std::uint64_t bytes = wanted == 0         ? reserve + std::max<std::uint64_t>(reserve, least)
                              : wanted <= reserve ? wanted + reserve
                                                  : wanted;
  diagnosis.with("optional_static_tls", std::to_string(std::bit_ceil(bytes + bytes / 4 + 4096)),
                 wanted == 0 ? "reserve, rounded up" : "static_tls, rounded up");
}

// The remedy removes the stub's folder from the search path.
void add_folder_of_stub(Diagnosis& diagnosis) {
  const std::string path(diagnosis.value("path"));
  const std::size_t slash = path.rfind('/');
  if (diagnosis.code != "EH-G02" || !diagnosis.value("folder").empty() || slash == std::string::npos) return;
  diagnosis.with("folder", path.substr(0, slash), "path");
}

}  // namespace

void add_derived(Diagnosis& diagnosis) {
  add_demangled(diagnosis);
  add_folder_of_stub(diagnosis);
  add_reserve(diagnosis);
}

}  // namespace enginehost::explain
