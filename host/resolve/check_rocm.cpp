// AMD's ROCm: its version, its GPUs, and the variables that decide what a process gets of them.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "host/platform/driver_state.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

using platform::RocmDevice;
using platform::RocmDevices;

// Returns the code of the build that the runtime would use for the device if the variable named it: one of
// the same major and minor version, "gfx1030" for gfx1031. Empty: there is none.
std::string close_code(const std::string& gfx, const std::vector<std::string>& wanted) {
  const auto close = std::ranges::find_if(wanted, [&](const std::string& code) {
    return code.size() == gfx.size() && code.compare(0, code.size() - 1, gfx, 0, gfx.size() - 1) == 0;
  });
  return close != wanted.end() ? *close : std::string();
}

void note_no_device(const std::string& requirement, const std::vector<std::string>& wanted,
                    const platform::Platform& machine, const RocmDevices& found, Checks& checks) {
  const std::vector<std::string>& hardware = machine.rocm.value().gfx;
  const std::string& source = machine.rocm.source();
  std::vector<Evidence> evidence = {{Key::required, join(wanted, " "), "manifest"}};
  const auto add = [&](Key what, const std::string& value, const std::string& from) {
    if (!value.empty()) evidence.push_back({what, value, from});
  };
  const auto variable_in = [](const std::string& assignment) {
    return assignment.substr(0, assignment.find('='));
  };
  std::vector<std::string> texts;
  std::string from = source;
  if (!found.invalid.empty()) {
    texts.push_back(found.invalid + ", which is no MAJOR.MINOR.STEPPING");
    add(Key::invalid, found.invalid, from = "environment");
    add(Key::variable, variable_in(found.invalid), "environment");
  } else if (found.devices.empty()) {
    texts.push_back(found.hidden_by + " hides " + join(hardware, " "));
    add(Key::hidden_by, found.hidden_by, from = "environment");
    add(Key::variable, variable_in(found.hidden_by), "environment");
  }
  for (const RocmDevice& device : found.devices) {
    if (!found.invalid.empty()) break;
    add(Key::found, device.counts_as, source);
    add(Key::device, device.gfx, source);
    const std::string close = close_code(device.gfx, wanted);
    if (!device.variable.empty()) {
      texts.push_back(device.gfx + " as " + device.counts_as + " by " + device.variable);
      add(Key::override, device.variable, from = "environment");
      add(Key::variable, variable_in(device.variable), "environment");
    } else if (!close.empty() && machine.os.value() != "windows") {
      texts.push_back(device.gfx + ", and HSA_OVERRIDE_GFX_VERSION is not set");
    } else {
      texts.push_back(device.gfx);
    }
    if (close.empty() || machine.os.value() == "windows") continue;
    add(Key::close_code, close, "manifest");
    add(Key::close_version, platform::gfx_version(close), "manifest");
  }
  add(Key::found, join(texts, "; "), from);
  Check& check =
      note(checks, Answer::no, Code::rocm_does_not_fit, reported(requirement, join(texts, "; "), from));
  check.evidence = std::move(evidence);
}

// The kernel's list of compute devices has no AMD GPU. WSL and Windows have no such list.
void note_not_offered(const std::string& requirement, const platform::Platform& machine, Checks& checks) {
  const auto& rocm = machine.rocm;
  if (rocm.is_unknown() || machine.other_gpus.is_unknown() || machine.os.value() != "linux") {
    note_unknown(checks, requirement, rocm.is_unknown() ? rocm.why() : "the devices are not known");
    return;
  }
  const std::string cards = platform::amd_cards(machine);
  const std::string observed = cards.empty() ? "none" : cards + ", which the kernel does not offer to ROCm";
  Check& check = note(checks, Answer::no, Code::rocm_does_not_fit,
                      reported(requirement, observed, machine.other_gpus.source()));
  check.evidence = {{Key::found, cards.empty() ? "no AMD GPU" : observed, machine.other_gpus.source()},
                    {Key::required, requirement, "manifest"}};
  if (!cards.empty()) check.evidence.push_back({Key::not_offered, cards, machine.other_gpus.source()});
}

}  // namespace

void check_rocm(const manifest::Requirements& requirements, const platform::Platform& machine,
                Checks& checks) {
  if (!requirements.rocm) return;
  const auto& rocm = machine.rocm;
  const auto& wanted = requirements.rocm->gfx;
  note_version("ROCm", requirements.rocm->version, part_of(rocm, &platform::Rocm::version),
               Code::rocm_does_not_fit, checks);
  if (wanted.empty() || rocm.is_absent()) return;
  const std::string requirement = "AMD GPU of " + join(wanted, " ");
  if (rocm.value().gfx.empty()) return note_not_offered(requirement, machine, checks);
  const RocmDevices found = platform::rocm_devices(machine);
  if (!found.unknown.empty()) {
    note_unknown(checks, requirement, found.unknown);
    return;
  }
  const auto served = std::ranges::find_if(found.devices, [&](const RocmDevice& device) {
    return std::ranges::find(wanted, device.counts_as) != wanted.end();
  });
  if (!found.invalid.empty() || served == found.devices.end())
    return note_no_device(requirement, wanted, machine, found, checks);
  const bool overridden = !served->variable.empty();
  note(checks, Answer::yes, {},
       reported(requirement, overridden ? served->gfx + " as " + served->counts_as : served->gfx,
                overridden ? served->variable : rocm.source()));
}

}  // namespace enginehost::resolve
