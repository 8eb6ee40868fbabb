#include "host/linker/loader_rules.hpp"

#include "base/text.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {
namespace {

bool sets(const std::string& tunables, std::string_view name) {
  for (const std::string& entry : split(tunables, ':'))
    if (entry.size() > name.size() + 1 && entry.starts_with(name) && entry[name.size()] == '=') return true;
  return false;
}

}  // namespace

std::string unsupported_setting(const Machine& machine, const UnsupportedLoaderSettings& loader_settings) {
  if (machine.libc != Libc::glibc || machine.secure) return {};
  if (!loader_settings.audit.empty()) return "LD_AUDIT";
  if (sets(loader_settings.tunables, "glibc.cpu.hwcaps")) return "glibc.cpu.hwcaps in GLIBC_TUNABLES";
  // It affects the hwcaps folders of glibc before 2.37 (elf/dl-hwcaps.c).
  if (machine.legacy_hwcaps.empty()) return {};
  if (!loader_settings.hwcap_mask.empty()) return "LD_HWCAP_MASK";
  if (sets(loader_settings.tunables, "glibc.cpu.hwcap_mask")) return "glibc.cpu.hwcap_mask in GLIBC_TUNABLES";
  return {};
}

UnsupportedLoaderSettings loader_settings_at_start() {
  return {variable_at_start("LD_AUDIT").value_or(""), loader_tunables_at_start(),
          variable_at_start("LD_HWCAP_MASK").value_or("")};
}

}  // namespace enginehost::linker
