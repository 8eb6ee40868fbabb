// EH-G: GPUs and their drivers.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace gpus_table {

// The remedies for a missing driver, by the facts of platform::add_driver_facts(). A driver that is installed
// inside a container, a sandbox or WSL cannot help.
constexpr std::string_view in_docker =
    "{container=docker}start the container with --gpus all; the host needs the NVIDIA Container Toolkit";
constexpr std::string_view in_podman =
    "{container=podman}start the container with --device nvidia.com/gpu=all; the host needs the NVIDIA "
    "Container Toolkit";
constexpr std::string_view in_apptainer = "{container=apptainer}start the container with --nv";
// Kubernetes, "Schedule GPUs"; NVIDIA's k8s-device-plugin sets NVIDIA_VISIBLE_DEVICES by itself.
constexpr std::string_view in_pod =
    "{?pod}request a GPU for the container in the pod's specification (resources: limits: "
    "nvidia.com/gpu: 1); the node needs NVIDIA's device plugin";
// A container that boots a system of its own has the driver's libraries in its own packages (LXD,
// "nvidia.runtime"; canonical/lxd#5415).
constexpr std::string_view in_system_container =
    "{?own_libraries}{?driver}install the libraries of driver {driver} inside the container, without a "
    "kernel module (NVIDIA's .run file: --no-kernel-module; LXD and Incus: nvidia.runtime=true on the host)";
constexpr std::string_view in_container =
    "{?container}{!pod}{!own_libraries}start the container with access to the host's GPU and driver";
constexpr std::string_view devices_in_system_container =
    "{?own_libraries}give the container the host's files /dev/nvidia*, in the container's configuration";
constexpr std::string_view of_variable =
    "{!pod}start the container with NVIDIA_VISIBLE_DEVICES=all instead of {nvidia_visible_devices}";
// Slurm, "Generic Resource (GRES) Scheduling"; PBS Professional's and IBM Spectrum LSF's manuals on GPUs.
constexpr std::string_view in_slurm =
    "{job=slurm}request a GPU for the job: srun or sbatch with --gres=gpu:1";
constexpr std::string_view in_pbs = "{job=pbs}request a GPU for the job: qsub -l select=1:ngpus=1";
constexpr std::string_view in_lsf = "{job=lsf}request a GPU for the job: bsub -gpu num=1";
constexpr std::string_view in_flatpak =
    "{sandbox=flatpak}on the host: flatpak install {gl_extension}, which has the library of that driver";
constexpr std::string_view in_flatpak_at_all =
    "{sandbox=flatpak}{!gl_extension}on the host: flatpak update, which installs the GL extension of the "
    "host's NVIDIA driver";
constexpr std::string_view in_snap =
    "{sandbox=snap}on the host: snap connect NAME:opengl, where NAME is the name of the snap";
constexpr std::string_view in_wsl_1 =
    "{wsl=1}{!container}WSL 1 has no GPUs; in Windows: wsl --set-version NAME 2, where wsl --list shows NAME";
constexpr std::string_view in_wsl =
    "{wsl=2}{!container}install the NVIDIA driver in Windows and restart WSL: wsl --shutdown; a Linux driver "
    "inside WSL does not work";
constexpr std::string_view on_host =
    "{!windows}{!no_gpu}{!container}{!sandbox}{!wsl}install the NVIDIA driver (Debian: the "
    "package nvidia-driver), then start the program again";
constexpr std::string_view on_windows =
    "{?windows}{!no_gpu}install the NVIDIA driver for Windows, then start the program again";

// The remedies for a driver that is too old.
constexpr std::string_view newer_on_jetson =
    "{?jetson}update JetPack: the driver of a Jetson comes with its system";
constexpr std::string_view newer_in_windows =
    "{?wsl}update the NVIDIA driver in Windows to {minimum_driver} or newer; WSL uses that driver";
constexpr std::string_view newest_in_windows =
    "{?wsl}{!minimum_driver}update the NVIDIA driver in Windows; WSL uses that driver";
constexpr std::string_view newer_below_container =
    "{?container}{!wsl}{!jetson}update the NVIDIA driver of the host to {minimum_driver} or newer; a "
    "container uses that driver";
constexpr std::string_view newest_below_container =
    "{?container}{!wsl}{!jetson}{!minimum_driver}update the NVIDIA driver of the host; a container uses that "
    "driver";
constexpr std::string_view newer_below_sandbox =
    "{?sandbox}update the NVIDIA driver of the host to {minimum_driver} or newer, and the {sandbox} after it";
constexpr std::string_view newest_below_sandbox =
    "{?sandbox}{!minimum_driver}update the NVIDIA driver of the host, and the {sandbox} after it";
constexpr std::string_view newer_here =
    "{!container}{!sandbox}{!wsl}{!jetson}install NVIDIA driver {minimum_driver} or newer";
constexpr std::string_view newest_here =
    "{!container}{!sandbox}{!wsl}{!jetson}{!minimum_driver}install a newer NVIDIA driver";

constexpr Entry entries[] = {
    {.name = {"EH-G01", "NVIDIA driver library not found"},
     .meaning = "libcuda.so.1, the driver's user-mode part, is not where the loader looks. Only the driver "
                "installs it.",
     .before = "resolving libcuda.so.1; /proc/driver/nvidia/version; the PCI bus",
     .after = "cudaDriverGetVersion is 0 (the CUDA runtime then reports 35)",
     .causes =
         {"{needed_by|name} needs {library} of the NVIDIA driver, and "
          "NVIDIA_VISIBLE_DEVICES={nvidia_visible_devices} keeps it out of this container ({container})",
          "{needed_by|name} needs {library} of the NVIDIA driver, and this container ({container}) has "
          "no access to one",
          "{needed_by|name} needs {library} of the NVIDIA driver, and this {sandbox} has no access to one",
          "{needed_by|name} needs {library} of the NVIDIA driver, and Windows gives WSL none{?wsl}",
          "{needed_by|name} needs {library} of the NVIDIA driver, and this machine has no NVIDIA "
          "GPU{?no_gpu}",
          "{needed_by|name} needs {library}; this machine has an NVIDIA GPU ({pci_device}) but no "
          "driver library",
          "{needed_by|name} needs {library} of the NVIDIA driver, which was not found",
          "the NVIDIA driver was not found"},
     .remedies =
         {in_pod, of_variable, in_docker, in_podman, in_apptainer, in_system_container, in_container,
          in_flatpak, in_flatpak_at_all, in_snap, in_wsl_1, in_wsl,
          "{?no_gpu}use a cpu build (--flavor cpu): without an NVIDIA GPU there is nothing to install",
          on_host, on_windows, "{!no_gpu}use a cpu build: --flavor cpu"}},
    {.name = {"EH-G02", "stub of the NVIDIA driver found instead of the driver"},
     .meaning = "The loader would take the link stub that a CUDA toolkit contains for compiling. The stub "
                "contains no driver.",
     .before = "the resolved path of libcuda.so.1 (…/stubs/), its SONAME and size",
     .after = "CUDA error 34, \"CUDA driver is a stub library\"",
     .causes = {"{needed_by|name} would get {library} from {path}, which is a link stub of a CUDA toolkit",
                "{path} is a link stub of a CUDA toolkit, not the NVIDIA driver",
                "the link stub of a CUDA toolkit was found, not the NVIDIA driver"},
     .remedies = {"take {folder} out of LD_LIBRARY_PATH, or out of /etc/ld.so.conf.d", in_docker, in_podman,
                  in_pod, in_apptainer, in_system_container, in_container, in_flatpak, in_snap, in_wsl_1,
                  in_wsl, "{!container}{!sandbox}{!wsl}install the NVIDIA driver if it is missing"}},
    {.name = {"EH-G03", "NVIDIA driver too old"},
     .meaning = "The driver supports an older CUDA than the build needs.",
     .before =
         "CUDA version of the driver against the build's toolkit (11.x: driver 450, 12.x: 525, 13.x: 580)",
     .after = "CUDA error 35 with a driver version other than 0",
     .causes = {"driver {driver} supports CUDA {driver_cuda}; the build needs CUDA {required} (driver "
                "{minimum_driver})",
                "driver {driver} supports CUDA {driver_cuda}; the build needs CUDA {required}",
                "driver {driver} supports CUDA {driver_cuda}; the engine reports that it needs a newer one",
                "the driver supports CUDA {found}; the build needs {required}",
                "the driver supports CUDA {driver_cuda}; the engine reports that it needs a newer one",
                "the NVIDIA driver is older than the build needs"},
     .remedies =
         {newer_on_jetson, newer_in_windows, newest_in_windows, newer_below_container, newest_below_container,
          newer_below_sandbox, newest_below_sandbox, newer_here, newest_here,
          "use a build for an older CUDA: engine-info ENGINE --plan --explain lists the builds that fit"}},
    {.name = {"EH-G04", "NVIDIA driver lacks a function"},
     .meaning = "A library calls a function that the installed driver does not have yet.",
     .before = "cu… imports against the exports of libcuda.so.1",
     .after = "\"undefined symbol: cu…\"",
     .causes = {"{required_by|name} calls {symbol}, which the installed NVIDIA driver does not have",
                "the build calls a function that the installed NVIDIA driver does not have"},
     .remedies = {newer_on_jetson, newest_in_windows, newest_below_container, newest_below_sandbox,
                  newest_here, "use a build for an older CUDA"}},
    {.name = {"EH-G05", "no code for this GPU in the build"},
     .meaning = "None of the machine code (SASS) or portable code (PTX) in the build suits the GPU's compute "
                "capability.",
     .before = "compute capability of the devices against the manifest, and .nv_fatbin of the libraries",
     .after = "CUDA error 209, \"no kernel image is available for execution on the device\"",
     .causes = {"{device} has compute capability {compute_capability}; the build has code for {sass}",
                "the GPU has compute capability {found}; the build has code for {required}",
                "the build has no code for this GPU"},
     .remedies = {"use a build made for this GPU: engine-info ENGINE --plan --explain lists them",
                  "use a build for CUDA {toolkits}: other releases do not compile for {compute_capability}",
                  "use a cpu build: --flavor cpu"}},
    {.name = {"EH-G06", "portable GPU code too new for the driver"},
     .meaning = "Only PTX suits the GPU, and the driver's compiler is older than the one that wrote it, or "
                "is disabled.",
     .before = "PTX only, and driver CUDA older than the build's; CUDA_DISABLE_PTX_JIT",
     .after = "CUDA errors 222, 221, 223",
     .causes = {"the build's PTX needs a driver for CUDA {required}; this one supports {driver_cuda}",
                "the driver cannot compile the build's PTX for this GPU"},
     .remedies = {newer_on_jetson, newest_in_windows, newest_below_container, newest_below_sandbox,
                  newest_here, "unset CUDA_DISABLE_PTX_JIT if it is set"}},
    {.name = {"EH-G07", "no GPU visible"},
     .meaning = "The driver works but offers no device: the environment hides it, or there is none.",
     .before = "CUDA_VISIBLE_DEVICES, NVIDIA_VISIBLE_DEVICES, the driver's device list",
     .after = "CUDA error 100, \"no CUDA-capable device is detected\"",
     .causes = {"{visible_devices=}CUDA_VISIBLE_DEVICES=\"\" hides all {devices} GPUs",
                "{visible_devices=}CUDA_VISIBLE_DEVICES=\"\" leaves no GPU visible",
                "CUDA_VISIBLE_DEVICES=\"{visible_devices}\" hides all {devices} GPUs",
                "CUDA_VISIBLE_DEVICES=\"{visible_devices}\" leaves no GPU visible",
                "CUDA_VISIBLE_DEVICES=\"{limited_to}\" hides the device that the engine asked for",
                "NVIDIA_VISIBLE_DEVICES={nvidia_visible_devices} keeps the GPUs out of this container",
                "NVML lists {hidden_gpu...}, but CUDA offers no device to this process",
                "the driver {driver} uses none of this machine's NVIDIA GPUs ({unused_gpu})",
                "the driver's library is installed, but this machine has no NVIDIA GPU{?no_gpu}",
                "the driver offers no GPU to this process"},
     .remedies =
         {in_slurm, in_pbs, in_lsf, in_pod, of_variable, "{visible_devices=}unset CUDA_VISIBLE_DEVICES",
          "set CUDA_VISIBLE_DEVICES to the numbers of the GPUs to use, or unset it{?visible_devices}",
          "set CUDA_VISIBLE_DEVICES to the numbers of the GPUs to use, or unset it{?limited_to}",
          // NVIDIA, "MIG User Guide": without an instance, CUDA has no device.
          "{?hidden_gpu}{!container}if nvidia-smi shows MIG as enabled: as root: nvidia-smi mig -cgi "
          "PROFILE -C creates an instance (nvidia-smi mig -lgip lists the profiles), nvidia-smi -mig "
          "0 turns MIG off",
          "{?unused_gpu}{?container}{!own_libraries}{!pod}start the container with the GPU, if it has no "
          "/dev/nvidia0 (docker: --gpus all; podman: --device nvidia.com/gpu=all; Apptainer: --nv)",
          "{?unused_gpu}{?own_libraries}give the container the host's files /dev/nvidia*, in the "
          "container's configuration",
          // NVIDIA/open-gpu-kernel-modules, README; NVIDIA, "Unix Legacy GPU Releases".
          "{?unused_gpu}read why the driver refuses the GPU: as root: dmesg | grep -A3 NVRM; GPUs "
          "older than Turing need the proprietary module of driver 580 or older, GPUs from Blackwell "
          "on the open module",
          "{?no_gpu}use a cpu build: --flavor cpu",
          "{!unused_gpu}{!hidden_gpu}{!no_gpu}check with nvidia-smi that the driver sees the GPU"}},
    {.name = {"EH-G08", "GPU device files missing or not accessible"},
     .meaning = "The files /dev/nvidia*, or AMD's /dev/kfd, do not exist or cannot be opened: a container, a "
                "control group, a missing udev rule, a user who is not in the device's group.",
     .before = "opening /dev/nvidiactl and /dev/kfd",
     .after = "CUDA errors 100 or 999, NVML's \"Unknown Error\"",
     .causes = {"{path} cannot be opened, although its mode allows it: {os_said}{?mode_allows}",
                "{path} cannot be opened: {os_said}", "the GPU's device files cannot be opened"},
     .remedies =
         {// NVIDIA Container Toolkit, "Troubleshooting": containers that lose access to GPUs.
          "{?mode_allows}{?container}start the container again: it lost the device, as after systemctl "
          "daemon-reload on the host; docker run --device {path} keeps it",
          // ROCm's installation guide: the group render; in a container both devices and the group.
          "{maker=AMD}{!inside}{!mode_allows}add this user to the group of the device (ls -l "
          "{path} shows it; most often render): as root, usermod -aG render USER; then log in again",
          "{maker=AMD}{?inside}start the container with --device /dev/kfd --device /dev/dri --group-add "
          "render",
          in_slurm, in_pbs, in_lsf, in_pod, of_variable, in_docker, in_podman, in_apptainer,
          devices_in_system_container, in_container, in_snap,
          "{?sandbox}give the {sandbox} access to the devices of the host",
          "{!container}{!sandbox}{!maker}{!mode_allows}create the device files, as an administrator: "
          "nvidia-modprobe -u "
          "-c=0"}},
    {.name = {"EH-G09", "NVIDIA driver and its library differ in version"},
     .meaning =
         "The kernel driver in memory and libcuda.so on disk are of different versions, as after an update.",
     .before = "/proc/driver/nvidia/version against the version in the name of libcuda.so",
     .after = "CUDA error 803, NVML error 18",
     .causes = {"the kernel driver is {driver}; its library {path} is {library_version}",
                "the kernel driver is {driver}; its library is {library_version}",
                "the kernel driver and the driver library have different versions"},
     .remedies =
         {"take {compat} out of LD_LIBRARY_PATH, or remove the package cuda-compat: its library is for "
          "another driver",
          in_flatpak, in_snap, in_system_container,
          "{?container}{!own_libraries}{!compat}remove {path} from the image: the driver's library has to "
          "come from the host",
          "{?container}{!own_libraries}{!path}take the driver's libraries out of the image: they have to "
          "come from the host",
          "{!compat}{container=docker}start the container with --gpus all; the host needs the NVIDIA "
          "Container Toolkit",
          in_podman, in_apptainer,
          "{!container}{!sandbox}{!compat}restart the machine, or unload and load the nvidia module"}},
    {.name = {"EH-G10", "forward compatibility is not supported on this GPU"},
     .meaning = "A cuda-compat library is found first, and it works only on data-center GPUs.",
     .after = "CUDA error 804",
     .causes = {"{path} is a forward-compatibility library, which this GPU does not support",
                "a forward-compatibility library is used on a GPU that does not support it"},
     .remedies = {"take {compat} out of LD_LIBRARY_PATH, or remove the package cuda-compat",
                  "{!compat}take the cuda-compat folder out of LD_LIBRARY_PATH, or remove the package"}},
    {.name = {"EH-G11", "GPU fabric not initialized"},
     .meaning = "A machine with NVSwitch needs its fabric manager before CUDA works.",
     .after = "CUDA error 802, \"system not yet initialized\"",
     .causes = {"the NVSwitch fabric is not initialized"},
     .remedies = {"start the service nvidia-fabricmanager"},
     .category = Category::transient},
    {.name = {"EH-G12", "GPU busy or out of memory"},
     .meaning = "Another process holds the GPU, or its memory is used up.",
     .after = "CUDA errors 2, 46, 214, 807, 809",
     .causes = {"{device} could not be used now: {cuda_error}", "the GPU could not be used now: {message}",
                "the GPU is busy or its memory is full"},
     .remedies = {"nvidia-smi lists the processes that use the GPU; try again when they have finished"},
     .category = Category::transient},
    {.name = {"EH-G13", "CUDA reports an unknown error"},
     .meaning = "The driver is in a state it cannot explain, as after suspend and resume.",
     .after = "CUDA errors 999, 304",
     .causes = {"CUDA reports {cuda_error} of {device}", "CUDA reports: {message}",
                "CUDA reports an unknown error"},
     .remedies =
         {// NVIDIA/open-gpu-kernel-modules#947
          "{init=3}{!windows}{!container}as root: write the line \"options nvidia_uvm uvm_disable_hmm=1\" "
          "into a file in /etc/modprobe.d, and restart the machine",
          // canonical/lxd#5618, NVIDIA/nvidia-container-toolkit#50
          "{?container}if /dev/nvidia-uvm is missing here, give it to the container, too",
          "{!windows}{!container}{!sandbox}if /dev/nvidia-uvm is missing: as root: nvidia-modprobe -u -c=0",
          "reload the module nvidia_uvm, or restart the machine", "look for \"Xid\" in the kernel's log"}},
    {.name = {"EH-G14", "CUDA used after fork"},
     .meaning = "The process was forked after CUDA had been initialized. CUDA cannot be used in the child.",
     .after = "CUDA error 3, \"initialization error\"",
     .causes = {"this process was forked from one that uses CUDA"},
     .remedies = {"start workers with spawn instead of fork"}},
    {.name = {"EH-G15", "driver library not on the search path"},
     .meaning =
         "The driver's library is in a folder where a system or a cloud keeps it (WSL, NixOS, GKE, Colab, "
         "Flatpak …), but the loader does not look there.",
     .before = "the file, LD_LIBRARY_PATH and the loader's cache",
     .causes = {"{library} is in {folder}, where the loader does not look",
                "{path} exists, but the loader does not look there",
                "the driver's library is in a folder where the loader does not look"},
     .remedies = {"start the program with LD_LIBRARY_PATH={library_path}",
                  "as an administrator: write {ldconfig} into a file in /etc/ld.so.conf.d, and run ldconfig",
                  "{!library_path}add the folder of the driver's library to LD_LIBRARY_PATH"}},
    {.name = {"EH-G16", "engine loads but offers no GPU"},
     .meaning =
         "The build came up, but its list of devices has no GPU in it, or lacks one that it had in the "
         "probe or when it was last proven.",
     .after = "the engine's own list of devices, at every open",
     .causes =
         {"in this process the engine offers {devices}, in the probe it had {listed_before}{?only_here}",
          "the engine offers {devices}; when it was last proven it had {listed_before}",
          "the engine offers {devices} and not {device}: {message}",
          "the engine offers {devices}, but {device} was asked for", "the engine offers no GPU"},
     .remedies = {"open the engine before the process forks, and set CUDA_VISIBLE_DEVICES before it "
                  "starts{?only_here}",
                  "{!only_here}engine-info --verbose shows the driver, the devices and which of them are "
                  "visible"}},
    {.name = {"EH-G17", "CUDA libraries from two places"},
     .meaning =
         "Libraries of the CUDA toolkit must be of one release and come from one place. Here some "
         "would come from the build and some from the system, or from two toolkits. The wheels' folders "
         "in one environment are one place.",
     .before = "the folders of CUDA's libraries in the closure",
     .causes = {"{library...} would come from {path...} (found by: {by}), the other CUDA libraries from "
                "{others...}",
                "the CUDA libraries of the build come from two places"},
     .remedies = {"{by=LD_LIBRARY_PATH}remove the folder of {path} from LD_LIBRARY_PATH",
                  "install {library} beside the others: {provided_by...}",
                  "publisher: include all libraries of CUDA, or none"},
     .category = Category::request},
    {.name = {"EH-G18", "two CUDA major versions in one process"},
     .meaning = "The libraries of two CUDA major versions have different names and work side by side. The "
                "driver must support the newer one, and each of them reserves its own memory on the device.",
     .before = "the CUDA runtime of the closure and the one in the process",
     .causes =
         {"the build uses CUDA {cuda} ({path}), and the process has already loaded CUDA {held_cuda} ({held})",
          "the process has already loaded the CUDA runtime of another major version"},
     .remedies = {"nothing to do while device memory suffices; engine-info shows which CUDA versions the "
                  "driver supports",
                  "open engines of one CUDA version, or this one in a process of its own"},
     .category = Category::request},
    {.name = {"EH-G19", "empty file in place of a library of the NVIDIA driver"},
     .meaning = "An image that was saved from a container with a GPU keeps the files over which the driver's "
                "libraries were mounted. They have no bytes until a container is started with a GPU again.",
     .before = "the size of libcuda.so.1 and of the driver's other libraries",
     .after = "the loader reports \"file too short\"",
     .causes = {"{file} is empty (0 bytes): this container ({container}) has no access to the NVIDIA driver",
                "{file} is empty (0 bytes), as in an image saved from a container with a GPU",
                "a library of the NVIDIA driver is empty"},
     .remedies = {in_pod, of_variable, in_docker, in_podman, in_apptainer, in_system_container, in_container,
                  in_flatpak, in_snap,
                  "{!container}{!sandbox}in a container: start it with access to the host's GPU and driver "
                  "(--gpus all); elsewhere: remove {file}",
                  "use a cpu build: --flavor cpu"}},
    {.name = {"EH-G20", "Linux driver inside WSL"},
     .meaning =
         "In WSL 2 the driver is that of Windows, which gives WSL its library in /usr/lib/wsl/lib. The "
         "libcuda.so.1 of a Linux package comes first and finds no device.",
     .before = "the folder and the version of libcuda.so.1, and the kernel's release",
     .after = "CUDA error 100",
     .causes =
         {"{path} (version {library_version}) belongs to a Linux driver, which finds no device in WSL and "
          "hides the driver of Windows",
          "a Linux driver that is installed inside WSL hides the driver of Windows"},
     .remedies = {"{!container}remove the Linux package that installed {path} (dpkg -S {path|word} or rpm "
                  "-qf {path|word} "
                  "names it); update the driver in Windows only",
                  "{?container}take {path} out of the image, and start the container with --gpus all; update "
                  "the driver in Windows only",
                  "remove the NVIDIA driver's packages inside WSL, then restart it: wsl --shutdown",
                  "use a cpu build: --flavor cpu"}},
    {.name = {"EH-G21", "kernel module of the NVIDIA driver not loaded"},
     .meaning =
         "The driver's libraries are installed, but the running kernel has no module of NVIDIA's. It was "
         "not built for this kernel, Secure Boot refuses it, another driver has the GPU, or it has not "
         "been loaded since the installation.",
     .before = "/proc/driver/nvidia/version, /sys/module/nvidia, the kernel's list of modules",
     .after = "CUDA errors 100 and 999; nvidia-smi \"couldn't communicate with the NVIDIA driver\"",
     .causes = {"{path} is installed, but the kernel {no_module_for} has no module of NVIDIA's",
                "{path} is installed, but the kernel has not loaded NVIDIA's module; {gpu_is_of} has the GPU",
                "{path} is installed, but the kernel has not loaded NVIDIA's module",
                "the libraries of the NVIDIA driver are installed, but the kernel has not loaded its module"},
     .remedies =
         {"{gpu_is_of=vfio-pci}use the GPU in the virtual machine that vfio-pci keeps it for, or give "
          "it back to the driver nvidia",
          // dkms(8); Fedora's akmods(1)
          "install the headers of kernel {no_module_for}, then build the module: as root: dkms "
          "autoinstall (Fedora: akmods --force), and restart the machine",
          // Debian, "SecureBoot"; mokutil(1)
          "{?secure_boot}{?module}enroll the key that signed the module (as root: mokutil --import "
          "KEY.der, then restart the machine and confirm), or turn Secure Boot off",
          "{gpu_is_of=nouveau}restart the machine; if nouveau has the GPU again: as root: write "
          "\"blacklist nouveau\" into a file in /etc/modprobe.d, and build the initramfs again",
          "{?module}load it: as root: modprobe nvidia; dmesg shows why it fails",
          "{?container}load the NVIDIA driver on the host: as root: modprobe nvidia",
          "{!module}{!no_module_for}{!container}as root: modprobe nvidia; dmesg shows why it fails",
          "use a cpu build: --flavor cpu"}},
    {.name = {"EH-G22", "NVIDIA driver does not answer"},
     .meaning =
         "cuInit did not return in time. Without persistence mode the driver starts each GPU again for "
         "each process, which takes long on machines with many GPUs. A GPU that hangs stops it for ever.",
     .before = "the driver query's deadline",
     .after = "the probe's deadline (EH-R05)",
     .causes = {"the NVIDIA driver does not answer in time"},
     .remedies =
         {// NVIDIA, "Driver Persistence"; NVIDIA/nvidia-container-toolkit#202
          "keep the driver started: as root: start the service nvidia-persistenced, or nvidia-smi -pm "
          "1; then engine-info --refresh asks again",
          "if nvidia-smi does not answer either: as root: dmesg | grep -i xid; a GPU that fell off the "
          "bus needs a restart of the machine",
          "use a cpu build: --flavor cpu"},
     .category = Category::transient},
    {.name = {"EH-G23", "GPU does not compute"},
     .meaning =
         "The driver and the engine list the GPU, but its context, its memory, a kernel or the result of "
         "a small computation failed when the engine's self-test ran in the probe.",
     .after = "the engine's self-test on each GPU, in the probe; again after a change of the driver, the "
              "devices, their visibility, or a restart, and after an hour",
     .causes = {"the self-test of {device} crashed ({signal} in {in_library})",
                "the self-test of {device} crashed ({signal})",
                "the self-test of {device} did not end within {deadline}",
                "{device} fails with {cuda_error}: {message}", "{device} fails: {message}",
                "the self-test of {device} failed", "a GPU fails its self-test"},
     .remedies =
         {"check {device} with nvidia-smi, and look for \"Xid\" in the kernel's log (as root: dmesg)",
          "{!device}check the GPU with nvidia-smi, and look for \"Xid\" in the kernel's log (as root: dmesg)",
          "as root: nvidia-smi --gpu-reset, or restart the machine; then engine-cache quarantine clear --all "
          "tries it at once",
          "set CUDA_VISIBLE_DEVICES to the numbers of the GPUs that work", "use a cpu build: --flavor cpu"}},
    {.name = {"EH-G24", "engine lists fewer GPUs than the driver"},
     .meaning = "The driver offers more GPUs to this process than the engine lists. The others are not used.",
     .after = "the engine's list of devices against the driver's",
     .causes = {"the engine lists {listed}, and the driver offers {offered} GPUs to this process",
                "the engine lists fewer GPUs than the driver"},
     .remedies = {"engine-info --verbose shows the driver's list; a build has no code for every GPU: "
                  "engine-info ENGINE --plan --explain"},
     .category = Category::request},
    {.name = {"EH-G25", "build for GPUs computes on the processor"},
     .meaning =
         "None of the build's GPUs works, and nothing else could be opened. The engine is open with its "
         "processor only, as a fallback.",
     .after = "the engine's self-test on each GPU, in the probe",
     .causes = {"{build} computes on the processor only; {device}: {reason}",
                "{build} computes on the processor only: {reason}",
                "a build for GPUs computes on the processor only"},
     .remedies = {"engine-info --code {first_code} explains it",
                  "ask for the GPU to get an error instead: --device gpu"},
     .category = Category::request},
    {.name = {"EH-G26", "two packages wrote the same files"},
     .meaning =
         "A package for the processor was installed over one for GPUs. The library is the processor's, "
         "the files beside it are the other's, and the GPU is never used.",
     .before = "the files and digests that each package recorded (RECORD)",
     .after = "ONNX Runtime: \"CUDA execution provider is not enabled in this build\"",
     .causes = {"{file} was written by the package {package} {package_version}, over that of {overwritten}",
                "the library has no code for GPUs, although files of a build for GPUs lie beside it"},
     .remedies =
         {"pip uninstall {package} {overwritten}, then pip install {overwritten}",
          "{!package}uninstall both packages (pip uninstall onnxruntime onnxruntime-gpu), then install "
          "the one for GPUs"}},
    {.name = {"EH-G27", "the first run compiles for your GPU"},
     .proof = Proof::from_file,
     .unproduced = "needs an NVIDIA GPU; tests decide for recorded machines",
     .meaning = "The build has no machine code for the GPU, only portable code (PTX). The driver compiles it "
                "when it "
                "is first used, and keeps the result for later runs. A note.",
     .before = "the GPU code that the manifest lists, against the visible GPUs",
     .causes = {"the first run compiles for your GPU and may take minutes, because {build} has only PTX for "
                "{device...}; {warm} does it now",
                "the first run compiles for your GPU and may take minutes"},
     .remedies = {"{warm} compiles now, so that no later run waits",
                  "{!warm}wait for the first run, or compile now: engine-info, with the name of the engine "
                  "and --warm"},
     .category = Category::request},
    {.name = {"EH-G28", "the driver does not keep what it compiles"},
     .proof = Proof::described,
     .unproduced = "needs an NVIDIA GPU",
     .meaning =
         "The driver's compute cache is switched off, or smaller than any that NVIDIA sets. Each run then "
         "compiles again. A warning.",
     .before = "CUDA_CACHE_DISABLE, CUDA_CACHE_PATH and CUDA_CACHE_MAXSIZE",
     .causes =
         {"{?disabled}{variable}={value} switches the driver's compute cache off, so each run compiles again",
          "{variable}={value} is less than {least|bytes}, the smallest size that NVIDIA sets: a part may "
          "be compiled again in each run",
          "{?folder}{variable}={value} is no folder, so each run compiles again",
          "the driver's compute cache is off or too small"},
     .remedies = {"unset {variable}",
                  "{!variable}unset CUDA_CACHE_DISABLE, CUDA_CACHE_MAXSIZE and CUDA_CACHE_PATH"},
     .category = Category::request},
};

}  // namespace gpus_table

Table gpus_entries() { return {gpus_table::entries, S::not_loaded, Category::host}; }

}  // namespace enginehost::explain
