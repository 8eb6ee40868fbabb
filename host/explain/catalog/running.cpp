// EH-R: failures of code that runs.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace running_table {

constexpr std::string_view quarantined_build =
    "the build is quarantined; engine-cache quarantine show {build} shows why and until when";

constexpr Entry entries[] = {
    {.name = {"EH-R01", "illegal instruction"},
     .meaning = "The build ran an instruction that this processor does not have, or a trap instruction.",
     .before = "the manifest's cpu features and the ISA marker, when they are there",
     .after = "SIGILL in the probe",
     .causes = {"{in_library|name} ran an instruction (bytes {instruction}) that this processor does not "
                "have, at stage {stage}",
                "{in_library|name} ran an instruction that this processor does not have, at stage {stage}",
                "the build ran an instruction that this processor does not have, at stage {stage}",
                "the build ran an instruction that this processor does not have"},
     .remedies = {"use a build for this processor: engine-info ENGINE --plan --explain lists them",
                  quarantined_build}},
    {.name = {"EH-R02", "the build crashed"},
     .meaning = "Code of the build accessed memory that does not exist, or divided by zero.",
     .after = "SIGSEGV, SIGBUS or SIGFPE in the probe",
     .causes = {"{in_library|name} crashed with {signal} at stage {stage} (address {address})",
                "the build crashed with {signal} at stage {stage}", "the build crashed with {signal}",
                "{program} (process {process}) crashed or was killed at stage {stage} of this build, whose "
                "load began at {began}",
                "the build crashed"},
     .remedies = {"use another version of the engine, and report the crash to its publisher",
                  "if you ended {program} yourself: engine-cache quarantine clear {build}",
                  quarantined_build}},
    {.name = {"EH-R03", "the engine ended the process"},
     .meaning = "Code of the build called abort(), or threw an exception that nothing caught.",
     .after = "SIGABRT in the probe; the last lines of its standard error",
     .causes =
         {"the build threw an exception of type {exception} at stage {stage}, which nothing caught: {what}",
          "the build threw an exception of type {exception} at stage {stage}, which nothing caught",
          "the build called abort() at stage {stage}: {os_said}", "the build called abort() at stage {stage}",
          "the build called abort()"},
     .remedies = {"install {missing_library}: {provided_by...}",
                  "see the last line that the engine printed: {last_words}",
                  "use another version of the engine, and report the crash to its publisher",
                  quarantined_build}},
    {.name = {"EH-R04", "the engine ended the process quietly"},
     .meaning = "Code of the build called exit(), so the probe or the command that opened it ended before it "
                "could report success.",
     .after = "the probe ended without its token; a command's own exit handler, before its end",
     .causes = {"the probe ended at stage {stage}, and its exit status was lost: {status_lost}",
                "the build ended the process with exit({exit_code}) at stage {stage}",
                "the build ended the process at stage {stage}", "the build ended the process"},
     .remedies =
         {"{?status_lost}engine-info ENGINE shows how the probe ends; or set SIGCHLD to SIG_DFL in this "
          "program while it opens engines",
          "{!status_lost}use another version, and report it to the publisher: a library must not end "
          "the process that loads it",
          "{!status_lost}the build is quarantined; engine-cache quarantine show {build} shows why and "
          "until when"}},
    {.name = {"EH-R05", "the engine does not start in time"},
     .meaning =
         "Loading or the self-test hung: a deadlock in a constructor, or a driver that does not answer.",
     .after = "the probe's deadline",
     .causes = {"the engine did not answer within {deadline} at stage {stage}, so the process was ended (the "
                "request may allow {allowed})",
                "the engine did not answer within {deadline} at stage {stage}, so the process was ended",
                "the engine did not start in time"},
     .remedies = {"raise probe_deadline_seconds in the configuration, or probe_seconds of the request (3600 "
                  "at most), if the machine is slow or busy",
                  "restart the machine: the process could not be killed, because it is stuck in a "
                  "driver{?survived_kill}",
                  quarantined_build}},
    {.name = {"EH-R06", "stack overflow"},
     .meaning = "Code of the build needed more stack than the thread has.",
     .after = "SIGSEGV at an address near the stack pointer",
     .causes = {"{in_library|name} used up the stack at stage {stage}",
                "the build used up the stack at stage {stage}", "the build used up the stack"},
     .remedies = {"raise the limit (ulimit -s unlimited), or use a thread with a larger stack",
                  quarantined_build}},
    {.name = {"EH-R07", "the engine writes to standard output"},
     .meaning = "A plugin must not print, because that corrupts the output of programs that write data to "
                "standard output.",
     .after = "the text on the probe's standard output; recorded with the proof, and reported at every open",
     .causes = {"the build printed to standard output: {output}", "the build printed to standard output"},
     .remedies = {"in a program that writes data to standard output: write it to a copy of descriptor 1, and "
                  "redirect 1 to 2 before the engine is opened",
                  "ask the publisher to remove the output"},
     .category = Category::request},
    {.name = {"EH-R08", "the engine changes the floating-point mode"},
     .meaning =
         "Loading the build changed how this thread rounds or handles tiny numbers (as -ffast-math does).",
     .after = "MXCSR before and after",
     .causes = {"{when} changed MXCSR from {before} to {after}",
                "loading changed MXCSR from {before} to {after}", "loading changed the floating-point mode"},
     .remedies = {"nothing to do: EngineHost restores it after loading",
                  "publisher: do not link with -ffast-math"},
     .category = Category::request},
    {.name = {"EH-R09", "the engine changes process-wide state"},
     .meaning = "Loading the build changed something that the whole process shares: signal handlers, locale, "
                "folder, umask, standard output, files opened by others; or the signals that the calling "
                "thread blocks.",
     .after = "comparison before and after, in the probe",
     .causes = {"{when} changed {changed}: {before} became {after}",
                "loading changed {changed}: {before} became {after}", "loading changed {changed...}",
                "loading changed something that the whole process shares"},
     .remedies = {"{changed=descriptors that it did not open}open the build before other files and "
                  "connections, or in a worker process: it closes those that are open",
                  "set it again after the build is opened, and report it to the publisher"},
     .category = Category::request},
    {.name = {"EH-R10", "exception across the plugin ABI"},
     .meaning = "A function of the plugin threw an exception, which is not allowed across a C ABI.",
     .after = "\"terminate called after throwing\" in the probe",
     .causes = {"a function of the plugin threw {exception} at stage {stage}: {what}",
                "a function of the plugin threw {exception} at stage {stage}",
                "a function of the plugin threw {exception}", "a function of the plugin threw an exception"},
     .remedies = {"use another version, and report it to the publisher of the plugin"}},
    {.name = {"EH-R11", "not an engine plugin"},
     .meaning =
         "The file does not export engine_plugin_v1, or the object of that name is not a plugin descriptor.",
     .before = "the export table and the first bytes of the object",
     .after = "the symbol looked up after loading, and its file",
     .causes = {"{file} does not export {symbol}; it exports {exports...}", "{file} does not export {symbol}",
                "{file}: {problem}", "{file} is not an engine plugin",
                "the file does not export engine_plugin_v1, or not a plugin's descriptor"},
     .remedies =
         {"use the file that the manifest names as plugin; engine libraries themselves are not plugins",
          "plugin authors: see the page for engine authors; in C++ write constexpr const engine_plugin"},
     .category = Category::host},
    {.name = {"EH-R12", "plugin and host, or plugin and manifest, do not match"},
     .meaning = "The plugin needs a newer host, or another major version of the plugin ABI; or its manifest "
                "names another engine than the plugin does.",
     .before = "the first 24 bytes of the plugin's descriptor",
     .after = "the descriptor in memory",
     .causes = {"{file|name} needs plugin ABI {plugin_abi}; this host offers {host_abi}",
                "{file|name} offers {missing_table}, but its {missing_function} is NULL",
                "{file|name} does not offer {missing_table}, which is required",
                "{file|name} is a plugin for {plugin_engine}, but its manifest names {engine}",
                "the plugin needs another host version"},
     .remedies = {"{!plugin_is}update EngineHost, or use an older version of the plugin{?plugin_abi}",
                  "{plugin_is=older}use a newer version of the plugin, or an older EngineHost",
                  "ask the publisher of the plugin to provide it{?missing_table}",
                  "ask the publisher to correct the manifest or the plugin: they name different "
                  "engines{?plugin_engine}",
                  "{!plugin_abi}{!missing_table}{!plugin_engine}update EngineHost, or use another version of "
                  "the plugin"},
     .category = Category::host},
    {.name = {"EH-R13", "crash while unloading"},
     .meaning = "The build works, but crashes when it is unloaded or the process ends.",
     .after = "a signal in the probe's stages unload and exit; recorded with the proof, and reported at "
              "every open",
     .causes = {"{problem} at stage {stage}", "{signal} in {in_library|name} at stage {stage}",
                "{signal} in {in_library|name} while it was unloaded",
                "the build crashed while it was unloaded"},
     .remedies = {"{stage=exit}at the end of a program that opens this build: flush all output and call "
                  "_exit(), as EngineHost's own commands do",
                  "{stage=unload}keep the engine open; at the end of the program flush all output and call "
                  "_exit(), as EngineHost's own commands do",
                  "or open the build in a worker process",
                  "use another version of the engine, and report the crash to its publisher"},
     .category = Category::request},
    {.name = {"EH-R14", "the probe was killed, from outside or for lack of memory"},
     .meaning = "The probe got SIGKILL: the system was out of memory, or someone killed it. SIGTERM, SIGINT "
                "and SIGHUP always come from outside, for example when a service is stopped.",
     .after = "SIGKILL that was not ours, or a signal that ends programs from outside",
     .causes = {"{signal=SIGKILL}the probe was killed at stage {stage}, most likely for lack of memory",
                "the probe was ended from outside with {signal} at stage {stage}",
                "the process was killed, most likely for lack of memory"},
     .remedies = {"{signal=SIGKILL}free memory, or raise the container's limit",
                  "try again: the build is not quarantined for this"},
     .category = Category::transient},
    {.name = {"EH-R15", "library opened at run time is missing"},
     .meaning = "The engine opens some libraries by name only when it needs them, such as the parts of "
                "cuDNN. One was not found.",
     .before = "the manifest's \"lazy\" files",
     .after = "the engine's message, or an abort",
     .causes = {"{needed_by|name} opens {library...} at run time, and it was not found",
                "the engine opens {library...} at run time, and it was not found",
                "a library opened at run time was not found: {os_said}",
                "a library that the engine opens at run time was not found"},
     .remedies = {"install {provided_by...}",
                  "{!in_manifest}put {library...} into a folder that the loader searches, or use a build "
                  "that includes it",
                  "{!in_manifest}{!library}put the library that the message names into a folder that the "
                  "loader searches",
                  "{?in_manifest}engine-cache verify --repair restores files of the build; if none of its "
                  "components contains {library...}, report it to the publisher"},
     .category = Category::host},
    {.name = {"EH-R16", "parts of cuDNN of different versions"},
     .meaning = "All parts of cuDNN must be of one version and come from one folder.",
     .before =
         "the folders of its parts, also of those that it opens by name while it runs, and their releases",
     .after = "cuDNN status 1002 or 1008",
     .causes =
         {"{library...} would come from {path...} (found by: {by}), release {release_of_part}; {others} "
          "is of release {release}",
          "{library...} would come from {path...} (found by: {by}), the other parts of cuDNN from "
          "{others...}",
          "{library...} would come from {path...}, the other parts of cuDNN from {others...}",
          "{library} is from {path}, and the other parts of cuDNN are not",
          "the parts of cuDNN do not belong together"},
     .remedies = {"{by=LD_LIBRARY_PATH}remove the folder of {path} from LD_LIBRARY_PATH",
                  "install all parts of cuDNN in one folder, of one release",
                  "{!by}take other copies of cuDNN out of LD_LIBRARY_PATH"},
     .category = Category::host},
    {.name = {"EH-R17", "the device computes wrongly, or elsewhere than the engine says"},
     .meaning = "A small computation on the device gave a wrong result, or its result is on another device.",
     .after = "a product of two matrices with a known result, and the device of the resulting tensor",
     .causes = {"the result of a product on {device} is on {computed_on}: the engine computes elsewhere than "
                "it says",
                "a product on {device} gave {given} instead of {wanted}",
                "a small computation on the device gave a wrong result"},
     .remedies = {"use another build of the engine, and report it to its publisher",
                  "check the device's memory, temperature and driver{?given}"},
     .category = Category::request},
    {.name = {"EH-R18", "device lost"},
     .meaning = "A device of an open engine was lost while the program runs: it fell off the bus, its driver "
                "was reset or replaced, it was removed from the container, or its context broke.",
     .after = "the reports of the engine's calls; while it is watched, its self-test, run at intervals and "
              "when device files or the driver's version change",
     .causes = {"{build} lost {device}: {message} ({sign...})", "{build} lost {device}: {message}",
                "{build} lost {device}: its engine reports {status} ({sign...})",
                "{build} lost {device}: its engine reports {status}", "a device was lost"},
     .remedies =
         {"wait until the device is reported as back, then load the models again",
          "{origin=cuda}start the program again: in a process that lost its device, CUDA keeps failing",
          "check the kernel's log for the reason (NVIDIA: lines with Xid)",
          "use a cpu build meanwhile: --flavor cpu"},
     .category = Category::request},
    {.name = {"EH-R19", "the build needs more memory than the probe gives"},
     .meaning = "Loading or testing the build took memory until a limit was reached. The limit of the probe "
                "keeps a build that never stops from taking the memory of the machine.",
     .after =
         "a failure in the probe whose data has reached its limit (RLIMIT_DATA), or std::bad_alloc there",
     .causes =
         {"the build needed more than {limit|bytes} of memory at stage {stage}, which is what a build may "
          "take in the probe",
          "the build needed more memory than it may take in the probe"},
     .remedies = {"raise probe_memory_bytes in the configuration (0: no limit), if the engine needs so much",
                  "otherwise use another version of the engine, and report it to its publisher"},
     .category = Category::host},
    {.name = {"EH-R20", "parts of one product from two folders"},
     .meaning =
         "A library and the parts that it needs or opens while it runs must be of one release. Here they "
         "would come from two folders (cuBLAS, NVRTC, TensorRT, MKL; cuDNN is EH-R16).",
     .before = "the names of parts in the library's text, searched as the loader would",
     .causes =
         {"{library...} would come from {path...} (found by: {by}), release {release_of_part}; {others} "
          "is of release {release}",
          "{library...} would come from {path...} (found by: {by}), and {product} itself is {others...}",
          "parts of one product come from two folders"},
     .remedies = {"{by=LD_LIBRARY_PATH}remove the folder of {path} from LD_LIBRARY_PATH",
                  "install all parts in one folder, of one release",
                  "publisher: include all parts of the product, or none"},
     .category = Category::host},
    {.name = {"EH-R21", "AddressSanitizer is loaded too late"},
     .meaning = "The library is compiled with -fsanitize=address. The runtime of AddressSanitizer ends a "
                "process that did not load it first.",
     .before = "libasan or libclang_rt.asan in the closure, and LD_PRELOAD",
     .after = "\"ASan runtime does not come first in initial library list\", and exit(1)",
     .causes = {"{needed_by|name} is compiled with AddressSanitizer: {library} ends a process that did not "
                "load it before all other libraries",
                "the build is compiled with AddressSanitizer, which ends a process that did not load it "
                "before all other libraries"},
     .remedies = {"use a build without it, or ask the publisher to compile without -fsanitize=address",
                  "to look for errors with it: preload {path} when the program starts",
                  "to load it all the same: start the program with ASAN_OPTIONS=verify_asan_link_order=0"},
     .category = Category::host},
    {.name = {"EH-R22", "no SDK of this engine"},
     .meaning = "engine-cache sdk knows how programs are linked with some engines, on Linux.",
     .before = "the engine's name and this system",
     .causes = {"folders for CMake are made on Linux only; this system is {system}",
                "there is no SDK of {engine}: engine-cache sdk makes those of onnxruntime and pytorch",
                "there is no SDK of this engine"},
     .remedies = {"{?system}run engine-cache sdk on Linux, or open the engine through EngineHost's API",
                  "{!system}open the engine through EngineHost's API, which needs no header of it"},
     .exit_status = ExitStatus::nothing_fits,
     .category = Category::request},
    {.name = {"EH-R23", "no SDK of this version"},
     .meaning = "No build of the version has what an SDK needs: libraries for processors of this kind, a "
                "source of them, and headers where the engine's archives have them.",
     .before = "the manifests of the configured repositories",
     .causes = {"there is no SDK of {engine} {version}: {obstacle...}",
                "there is no SDK of {engine} {version}; there are those of {offered...}",
                "there is no SDK of {engine} {version} for this system",
                "there is no SDK of {engine}: {obstacle...}", "no build has an SDK"},
     .remedies = {"request one of these versions: {offered...}",
                  "{!offered}add a repository that offers the version: --repository, ENGINEHOST_REPOSITORIES "
                  "or the configuration"},
     .exit_status = ExitStatus::nothing_fits,
     .category = Category::request},
    {.name = {"EH-R24", "the folder of the SDK holds something else"},
     .meaning = "An SDK is written into a folder that is absent or empty. Nothing in a folder is replaced.",
     .before = "the folder's content and the list of files in it",
     .causes = {"{folder} holds an SDK of which {changed} is not as it was written: {problem}",
                "{folder} is a file{?is_file}", "{folder} already holds {holds}",
                "the folder holds something else"},
     .remedies = {"name a folder that does not exist yet",
                  "{?changed}or remove {folder} and run the command again"},
     .exit_status = ExitStatus::usage,
     .category = Category::request},
};

}  // namespace running_table

Table running_entries() { return {running_table::entries, S::not_loaded, Category::crash}; }

}  // namespace enginehost::explain
