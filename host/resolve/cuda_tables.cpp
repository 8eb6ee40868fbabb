#include "host/resolve/nvidia_rules.hpp"

#include "base/version.hpp"

namespace enginehost::resolve {
namespace {

struct Toolkit {
  std::string_view version, linux_driver, windows_driver;
};

// The driver packaged with the first general release of each toolkit (GA; 11.0.2 for 11.0), newest first. It
// is the oldest driver known to support the toolkit. NVIDIA bundles no Windows driver with CUDA 13, and its
// table lacks 12.7; there the number of the driver branch is used.
constexpr Toolkit toolkits[] = {
    {"13.1", "590.44.01", "590"},    {"13.0", "580.65.06", "580"},    {"12.9", "575.51.03", "576.02"},
    {"12.8", "570.26", "570.65"},    {"12.7", "565", "565"},          {"12.6", "560.28.03", "560.76"},
    {"12.5", "555.42.02", "555.85"}, {"12.4", "550.54.14", "551.61"}, {"12.3", "545.23.06", "545.84"},
    {"12.2", "535.54.03", "536.25"}, {"12.1", "530.30.02", "531.14"}, {"12.0", "525.60.13", "527.41"},
    {"11.8", "520.61.05", "520.06"}, {"11.7", "515.43.04", "516.01"}, {"11.6", "510.39.01", "511.23"},
    {"11.5", "495.29.05", "496.04"}, {"11.4", "470.42.01", "471.11"}, {"11.3", "465.19.01", "465.89"},
    {"11.2", "460.27.03", "460.82"}, {"11.1", "455.23", "456.38"},    {"11.0", "450.51.05", "451.48"},
    {"10.2", "440.33", "441.22"},    {"10.1", "418.39", "418.96"},    {"10.0", "410.48", "411.31"},
};

}  // namespace

std::string cuda_of_driver(std::string_view driver, bool windows) {
  for (const Toolkit& toolkit : toolkits)
    if (compare_versions(driver, windows ? toolkit.windows_driver : toolkit.linux_driver) >= 0)
      return std::string(toolkit.version);
  return {};
}

std::string native_driver(std::string_view version, bool windows) {
  for (const Toolkit& toolkit : toolkits)
    if (toolkit.version == version)
      return std::string(windows ? toolkit.windows_driver : toolkit.linux_driver);
  return {};
}

std::string minor_version_driver(int toolkit_major, bool windows) {
  switch (toolkit_major) {
    case 11:
      return windows ? "452.39" : "450.80.02";
    case 12:
      return windows ? "528.33" : "525.60.13";
    case 13:
      return windows ? "580" : "580.65.06";
    default:
      return {};
  }
}

}  // namespace enginehost::resolve
