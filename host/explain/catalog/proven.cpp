#include "host/explain/proven.hpp"

#include <algorithm>

namespace enginehost::explain {
namespace {

constexpr std::string_view described_macos = "real Mach-O files in a described macOS; dyld's text is read";

struct ProvenClass {
  std::string_view code;
  Proof how;
  std::string_view reason{};
};
using enum Proof;

// Sorted by code. A test that produces another class has the class's id in its name; write "produced" here
// then.
constexpr ProvenClass rows[] = {
    {"EH-F01", produced},
    {"EH-F02", produced},
    {"EH-F03", produced},
    {"EH-F04", produced},
    {"EH-F05", produced},
    {"EH-F06", produced},
    {"EH-F07", produced},
    {"EH-F08", produced},
    {"EH-F09", produced},
    {"EH-F10", produced},
    {"EH-F11", produced},
    {"EH-F12", produced},
    {"EH-F13", produced},
    {"EH-F14", produced},
    {"EH-F15", produced},
    {"EH-F16", produced},
    {"EH-F17", produced},
    {"EH-F18", produced},
    {"EH-F22", produced},
    {"EH-G01", produced},
    {"EH-G02", produced},
    {"EH-G03", produced},
    {"EH-G04", produced},
    {"EH-G05", produced},
    {"EH-G06", produced},
    {"EH-G07", produced},
    {"EH-G08", produced},
    {"EH-G09", produced},
    {"EH-G10", produced},
    {"EH-G11", produced},
    {"EH-G12", produced},
    {"EH-G13", produced},
    {"EH-G14", produced},
    {"EH-G15", produced},
    {"EH-G16", produced},
    {"EH-G17", produced},
    {"EH-G18", produced},
    {"EH-L01", produced},
    {"EH-L02", produced},
    {"EH-L03", produced},
    {"EH-L04", produced},
    {"EH-L05", produced},
    {"EH-L06", produced},
    {"EH-L07", produced},
    {"EH-L08", produced},
    {"EH-L09", produced},
    {"EH-L10", produced},
    {"EH-L11", produced},
    {"EH-L12", produced},
    {"EH-L13", produced},
    {"EH-L14", produced},
    {"EH-L15", produced},
    {"EH-L16", produced},
    {"EH-L17", produced},
    {"EH-L18", produced},
    {"EH-L19", produced},
    {"EH-L20", produced},
    {"EH-L21", produced},
    {"EH-L22", produced},
    {"EH-L23", produced},
    {"EH-L24", produced},
    {"EH-L25", produced},
    {"EH-L26", produced},
    {"EH-L27", produced},
    {"EH-L28", produced},
    {"EH-L29", from_file, "the texts come from musl's own loader, and the machine is a described one"},
    {"EH-L30", produced},
    {"EH-L31", produced},
    {"EH-L32", produced},
    {"EH-L33", produced},
    {"EH-L34", produced},
    {"EH-L35", produced},
    {"EH-R01", produced},
    {"EH-R02", produced},
    {"EH-R03", produced},
    {"EH-R04", produced},
    {"EH-R05", produced},
    {"EH-R06", produced},
    {"EH-R07", produced},
    {"EH-R08", produced},
    {"EH-R09", produced},
    {"EH-R10", produced},
    {"EH-R11", produced},
    {"EH-R12", produced},
    {"EH-R13", produced},
    {"EH-R14", produced},
    {"EH-R15", produced},
    {"EH-R16", produced},
    {"EH-R17", produced},
    {"EH-R18", produced},
    {"EH-R19", produced},
    {"EH-W01", produced},
    {"EH-W02", produced},
    {"EH-W03", from_file,
     "needs the loader of Windows: Wine loads a DLL that lacks an import, and never reports error 127"},
    {"EH-W04", produced},
    {"EH-W05", produced},
    {"EH-W06", from_file,
     "needs Microsoft's Visual C++ runtime, old and new: Wine's own works under any version"},
    {"EH-W07", produced},
    {"EH-W08", produced},
    {"EH-W09", produced},
    {"EH-W10", parsed,
     "needs Windows: Wine has no application control, and no file shows what a policy allows; the error "
     "numbers are read"},
    {"EH-W11", produced},
    {"EH-W12", from_file,
     "needs Windows: Wine loads from long paths, and without the assembly that a manifest names; the error "
     "numbers are read"},
    {"EH-X01", from_file, described_macos},
    {"EH-X02", from_file, described_macos},
    {"EH-X03", from_file, described_macos},
    {"EH-X04", from_file, described_macos},
    {"EH-X05", from_file,
     "the mark is read as Linux stores it (user.com.apple.quarantine), and dyld's text is read; the mark on "
     "macOS and Gatekeeper's decision need macOS"},
    {"EH-X06", parsed,
     "needs macOS: the sandbox belongs to the program and is in no library; dyld's text is read"},
    {"EH-X07", from_file, described_macos},
    {"EH-X08", from_file, described_macos},
};

}  // namespace

Proven proven(std::string_view code) {
  if (code.starts_with("EH-")) code.remove_prefix(3);
  const auto found =
      std::lower_bound(std::begin(rows), std::end(rows), code,
                       [](const ProvenClass& row, std::string_view id) { return row.code.substr(3) < id; });
  if (found == std::end(rows) || found->code.substr(3) != code) return {};
  return {found->how, found->reason};
}

std::string_view name_of(Proof proof) {
  switch (proof) {
    case Proof::none:
      return "";
    case Proof::produced:
      return "produced";
    case Proof::from_file:
      return "from the file";
    case Proof::parsed:
      return "parsed";
    case Proof::described:
      return "described";
  }
  return "";
}

}  // namespace enginehost::explain
