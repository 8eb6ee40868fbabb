#include "host/platform/parts.hpp"

#include <cstdio>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "host/platform/driver_state.hpp"

namespace enginehost::platform {

bool is_graphics_class(std::string_view text) { return text.starts_with("0x03") || text.starts_with("0x12"); }

namespace {

// Returns the addresses of the vendor's devices from /proc/bus/pci/devices, which has vendor and device of
// every device in one file ("0100\t10de2684\t…"). sysfs needs two opens per device, and servers have
// hundreds. The address has bus, device and function: 8 + 5 + 3 bits.
std::optional<std::vector<std::string>> addresses_of(const Root& root, std::string_view vendor,
                                                     const std::vector<std::string>& all) {
  const auto text = root.read("/proc/bus/pci/devices");
  if (!text) return std::nullopt;
  std::vector<std::string> suffixes, addresses;
  for (const std::string& line : split(*text, '\n')) {
    const std::vector<std::string> columns = split(line, '\t');
    if (columns.size() < 2 || !columns[1].starts_with(vendor) || columns[0].size() != 4) continue;
    const unsigned number = static_cast<unsigned>(std::stoul("0" + columns[0], nullptr, 16));
    char address[16];
    std::snprintf(address, sizeof address, ":%02x:%02x.%x", number >> 8, number >> 3 & 31u, number & 7u);
    suffixes.emplace_back(address);
  }
  for (const std::string& name : all)  // "0000:01:00.0": the file has no domain
    for (const std::string& suffix : suffixes)
      if (name.ends_with(suffix)) {
        addresses.push_back(name);
        break;
      }
  return addresses;
}

}  // namespace

std::vector<std::string> graphics_devices(const Root& root, std::string_view vendor) {
  const std::string folder = pci_folder;
  const std::vector<std::string> all = root.list(folder);
  std::map<std::string, int> found;
  for (const std::string& address : addresses_of(root, vendor, all).value_or(all)) {
    const std::string device = folder + "/" + address;
    if (root.read(device + "/vendor").value_or("") != "0x" + std::string(vendor)) continue;
    if (!is_graphics_class(root.read(device + "/class").value_or("")))
      continue;  // the card's audio, USB and bridges
    const std::string id = root.read(device + "/device").value_or("0x????");
    ++found[std::string(vendor) + ":" + id.substr(id.find('x') + 1)];
  }
  std::vector<std::string> names;
  for (const auto& [name, count] : found)
    names.push_back(count > 1 ? name + " x " + std::to_string(count) : name);
  return names;
}

namespace {

#if defined(__aarch64__)
constexpr const char* multiarch = "/usr/lib/aarch64-linux-gnu";
#else
constexpr const char* multiarch = "/usr/lib/x86_64-linux-gnu";
#endif

struct FoundTegra {
  std::string text, source;
};

// Returns "tegra234, L4T 36.4.3" on a Jetson, else nothing. The release file begins with "# R36 (release),
// REVISION: 4.3, GCID: …". The chip is the last of the board's names, which end in zero bytes. A container
// may have only one of the two files.
std::optional<FoundTegra> find_tegra(const Root& root) {
  const std::string release_file = "/etc/nv_tegra_release",
                    board_file = "/sys/firmware/devicetree/base/compatible";
  FoundTegra found;
  for (const std::string& name : split(root.read(board_file).value_or(""), '\0'))
    if (name.starts_with("nvidia,tegra")) found = {name.substr(name.find(',') + 1), board_file};
  const std::string release = root.read(release_file).value_or("");
  if (release.starts_with("# R")) {
    const auto number_after = [&](std::string_view text) {
      const std::size_t at = release.find(text);
      if (at == std::string::npos) return std::string();
      const std::size_t begin = at + text.size();
      return release.substr(begin, release.find_first_not_of("0123456789.", begin) - begin);
    };
    const std::string revision = number_after("REVISION: ");
    found.text = (found.text.empty() ? "tegra" : found.text) + ", L4T " + number_after("# R") +
                 (revision.empty() ? "" : "." + revision);
    found.source = release_file;
  }
  if (found.text.empty()) return std::nullopt;
  return found;
}

std::optional<std::string> version_like(std::string_view word) {
  const bool plain = word.find_first_not_of("0123456789.") == std::string_view::npos;
  if (!plain || word.find('.') == std::string_view::npos || word.front() == '.') return std::nullopt;
  return std::string(word);
}

// The driver installs libcuda.so.535.104.05 behind two links; WSL's libcuda.so.1.1 has no version.
std::string driver_version_in(const std::string& real_path) {
  const std::size_t at = real_path.rfind(".so.");
  if (at == std::string::npos) return {};
  const std::string ending = real_path.substr(at + 4);
  return ending.find('.') >= 3 ? version_like(ending).value_or("") : std::string();
}

// Returns the driver's library in a folder that was not searched, if it could be used; one of the kernel's
// version first.
std::optional<FoundLibrary> library_outside(const Root& root, const LibrarySearch& libraries,
                                            const Fact<std::string>& driver,
                                            std::vector<SkippedFile>& skipped) {
  std::optional<FoundLibrary> found;
  for (const std::string& folder : driver_folders(root)) {
    const std::string path = folder + "/libcuda.so.1";
    const auto real = root.resolve(path);
    if (auto why = libraries.why_unusable(path)) {
      skipped.push_back(std::move(*why));
    } else if (real) {
      const bool matches = driver.is_known() && driver_version_in(*real) == driver.value();
      if (!found || matches) found = FoundLibrary{path, *real, folder};
      if (matches) break;
    }
  }
  return found;
}

}  // namespace

// Sources, of 2026-11-28: NVIDIA, "CUDA on WSL User Guide"; nixpkgs, addDriverRunpath; the pages of
// GoogleCloudPlatform/container-engine-accelerators, cmd/nvidia_gpu, -container-path and -host-path (GKE and
// Container-Optimized OS); googlecolab/colabtools#4300 (Colab); Apptainer's --nv; README.alternatives of
// Debian's nvidia-graphics-drivers; snapcraft.io, "environment variables", SNAP_LIBRARY_PATH; the extensions
// org.freedesktop.Platform.GL.nvidia-* of Flatpak.
std::vector<std::string> driver_folders(const Root& root) {
  std::vector<std::string> folders = {std::string(wsl_folder),
                                      "/run/opengl-driver/lib",
                                      "/usr/local/nvidia/lib64",
                                      "/var/lib/nvidia/lib64",
                                      "/usr/lib64-nvidia",
                                      "/.singularity.d/libs",
                                      std::string(multiarch) + "/nvidia/current",
                                      "/var/lib/snapd/lib/gl"};
  const std::string extensions = std::string(multiarch) + "/GL";
  for (const std::string& name : root.list(extensions))
    if (name.starts_with("nvidia-")) folders.push_back(extensions + "/" + name + "/lib");
  return folders;
}

std::string driver_library_name() { return "libcuda.so.1"; }

Fact<std::string> nvidia_hardware(const Root& root, const Fact<std::string>& wsl) {
  const std::string folder = pci_folder;
  std::vector<std::string> names = graphics_devices(root, "10de");
  // The chip's own GPU is not on the bus, but additional cards may be.
  if (const auto tegra = find_tegra(root)) {
    names.insert(names.begin(), tegra->text);
    return Fact<std::string>::known(join(names, ", "), tegra->source);
  }
  if (!names.empty()) return Fact<std::string>::known(join(names, ", "), folder);
  if (wsl.is_known() && root.exists("/dev/dxg"))
    return Fact<std::string>::unknown("WSL shows GPUs through /dev/dxg, not on the PCI bus");
  if (!root.is_folder(folder)) return Fact<std::string>::unknown(folder + " is not there");
  return Fact<std::string>::absent(folder);
}

Fact<std::string> kernel_driver(const Root& root, const Fact<std::string>& wsl) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 …"
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build …"
  const std::string version_file = "/proc/driver/nvidia/version";
  if (const auto text = root.read(version_file)) {
    const std::string line = text->substr(0, text->find('\n'));
    for (const std::string& word : split(line, ' '))
      if (auto version = word.empty() ? std::nullopt : version_like(word))
        return Fact<std::string>::known(std::move(*version), version_file);
  }
  const std::string module_file = "/sys/module/nvidia/version";
  if (const auto text = root.read(module_file); text && !text->empty())
    return Fact<std::string>::known(*text, module_file);
  if (wsl.is_known() && root.exists("/dev/dxg"))
    return Fact<std::string>::unknown("the driver belongs to Windows; only NVML reports its version");
  return Fact<std::string>::absent(version_file + ", " + module_file);
}

Fact<Installed> driver_library(const Root& root, const LibrarySearch& libraries,
                               const Fact<std::string>& driver) {
  std::vector<SkippedFile> skipped;
  auto library = libraries.find(driver_library_name(), &skipped);
  // The loader fails at an empty file, whatever lies in the folders after it.
  if (!library && !skipped.empty() && skipped.back().is_empty)
    return Fact<Installed>::known({{}, skipped.back().path, std::string(empty_note)}, skipped.back().source);
  std::vector<std::string> notes;
  if (!library)
    if ((library = library_outside(root, libraries, driver, skipped))) notes.emplace_back(not_searched_note);
  if (!library) {
    std::string looked;
    for (const SkippedFile& file : skipped) looked += file.path + " " + file.why + "; ";
    looked += "not in " + libraries.places();
    if (skipped.empty() && (driver.is_known() || root.exists("/dev/nvidiactl")))
      looked += "; the kernel's driver is loaded, its libraries are missing";
    return Fact<Installed>::absent(std::move(looked));
  }
  Installed found{driver_version_in(library->real_path), library->path, {}};
  if (library->real_path.find("/stubs/") != std::string::npos)
    notes.insert(notes.begin(), std::string(stub_note));
  const std::string of_windows = std::string(wsl_folder) + "/libcuda.so.1";
  if (!found.version.empty() && !found.path.starts_with(wsl_folder) && root.exists(of_windows))
    notes.push_back("hides " + of_windows + ", the driver of Windows");
  // A mismatch makes cuInit return 803; a container with cuda-compat has one on purpose.
  if (!found.version.empty() && driver.is_known() && driver.value() != found.version)
    notes.push_back("the kernel driver is " + driver.value());
  found.note = join(notes, "; ");
  return Fact<Installed>::known(std::move(found), library->source);
}

std::optional<std::string> find_nvml(const Root& root, const LibrarySearch& libraries) {
  if (const auto library = libraries.find("libnvidia-ml.so.1")) return library->path;
  for (const std::string& folder : driver_folders(root))
    if (const std::string path = folder + "/libnvidia-ml.so.1";
        root.exists(path) && !libraries.why_unusable(path))
      return path;
  return std::nullopt;
}

}  // namespace enginehost::platform
