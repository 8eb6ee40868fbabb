// EH-R: what happens once code runs, and EH-E: what the plugin itself reports.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;

constexpr std::string_view set_aside =
    "the build is set aside; engine-cache quarantine show {build} tells more";

constexpr Entry entries[] = {
    {.code = "EH-E01",
     .title = "the engine reports an error",
     .meaning = "The plugin itself said what went wrong; its message and facts are in the evidence.",
     .after = "the plugin's report (status, origin, native code, message)",
     .causes = {"{overcome} succeeded, and told what it overcame: {message} ({origin} {native})",
                "{overcome} succeeded, and told what it overcame: {message}",
                "{overcome} succeeded, and told that it overcame something, without a message",
                "{message} ({origin} {native}; {missing_library} is missing)",
                "{message} ({origin} {native})", "{message}", "the plugin gave {status} without a message"},
     .remedies =
         {"install what provides {missing_library}: {provided_by...}",
          "{status=ENGINE_UNAVAILABLE}{!missing_library}see whether this machine has the driver and the "
          "device "
          "that the engine speaks of (engine-info tells what is found), or use a build for the processor: "
          "engine-info ENGINE --plan --explain lists them",
          "{status=ENGINE_NO_MEMORY}free memory, or ask for less",
          "{status=ENGINE_CORRUPT}{?model}check that {model} is whole, and a model of the format this engine "
          "reads",
          "{status=ENGINE_CORRUPT}{!model}{!as_published}fetch the files again: engine-cache verify --deep "
          "--repair",
          "{status=ENGINE_CORRUPT}{?as_published}the files are as they were published: tell the publisher, "
          "or use "
          "another version",
          "{status=ENGINE_LOST}start the program again: the device was lost",
          "{status=ENGINE_UNSUPPORTED}use another build or engine: engine-info ENGINE --plan --explain lists "
          "them",
          "{status=ENGINE_INTERNAL}use another version or build (engine-info ENGINE --plan --explain lists "
          "them), "
          "and "
          "tell the publisher of this one what it said",
          "{status=ENGINE_INVALID}{?option_set_by}correct \"options\" of {build} in its manifest, which sets "
          "{option}, or tell its publisher",
          "{status=ENGINE_INVALID}{?option_set_by}use another version or build: engine-info ENGINE --plan "
          "--explain lists them",
          "{status=ENGINE_INVALID}{!option_set_by}{?stage}use another version or build (engine-info ENGINE "
          "--plan --explain lists them), and tell the publisher of this one what it said",
          "{status=ENGINE_INVALID}{!stage}{?model}correct the request: {model}, its format, or the device "
          "that "
          "it was to be loaded on",
          "{status=ENGINE_INVALID}{!stage}{!model}correct the request"}},
    {.code = "EH-R01",
     .title = "illegal instruction",
     .meaning = "The build ran an instruction this processor does not have, or ran into a trap.",
     .before = "the manifest's cpu features and the ISA marker, when they are there",
     .after = "SIGILL in the probe",
     .causes = {"{in_library|name} ran an instruction (bytes {instruction}) that this processor does not "
                "have, at stage "
                "{stage}",
                "{in_library|name} ran an instruction that this processor does not have, at stage {stage}",
                "an instruction that this processor does not have was run, at stage {stage}",
                "an instruction that this processor does not have was run"},
     .remedies = {"use a build for this processor: engine-info ENGINE --plan --explain lists them",
                  set_aside},
     .category = Category::crash},
    {.code = "EH-R02",
     .title = "crash",
     .meaning = "Code of the build accessed memory that is not there.",
     .after = "SIGSEGV, SIGBUS or SIGFPE in the probe",
     .causes =
         {"{in_library|name} crashed with {signal} at stage {stage} (address {address})",
          "the build crashed with {signal} at stage {stage}", "the build crashed with {signal}",
          "{program} (process {process}) crashed, or was killed, at stage {stage} of this build; what was "
          "loaded into it had begun at {began}",
          "the build crashed"},
     .remedies = {"use another version of the engine, and tell its publisher",
                  "if you ended {program} yourself: engine-cache quarantine clear {build}", set_aside},
     .category = Category::crash},
    {.code = "EH-R03",
     .title = "the engine ended the process",
     .meaning = "Code of the build called abort(), or threw an exception that nobody catches.",
     .after = "SIGABRT in the probe; the last lines of its standard error",
     .causes = {"an exception of type {exception} was not caught at stage {stage}: {what}",
                "an exception of type {exception} was not caught at stage {stage}",
                "the build called abort() at stage {stage}: {os_said}",
                "the build called abort() at stage {stage}", "the build called abort()"},
     .remedies = {"install what provides {missing_library}: {provided_by...}",
                  "what the engine printed last tells why: {last_words}",
                  "use another version of the engine, and tell its publisher", set_aside},
     .category = Category::crash},
    {.code = "EH-R04",
     .title = "the engine ended the process quietly",
     .meaning =
         "Code of the build called exit(): the probe, or the command that opened it, would have been gone "
         "without having said that it succeeded.",
     .after = "the probe ended without its token; a command's own exit handler, before its end",
     .causes = {"the build ended the process with exit({exit_code}) at stage {stage}",
                "the build ended the process at stage {stage}", "the build ended the process"},
     .remedies = {"tell the publisher: a library must not end the process it is loaded into", set_aside},
     .category = Category::crash},
    {.code = "EH-R05",
     .title = "the engine does not come up in time",
     .meaning =
         "Loading or the self-test hung: a deadlock in a constructor, or a driver that does not answer.",
     .after = "the probe's deadline",
     .causes =
         {"it did not answer in {deadline} at stage {stage}, which the request gave it where {allowed} are "
          "allowed; the process was ended",
          "it did not answer in {deadline} at stage {stage}; the process was ended",
          "the build did not come up in time"},
     .remedies = {"set probe_deadline_seconds in the configuration, or probe_seconds of the request, to more "
                  "(3600 at most) if the machine is slow or busy",
                  "the process could not even be killed: it is stuck in a driver; restart the "
                  "machine{?survived_kill}",
                  set_aside},
     .category = Category::crash},
    {.code = "EH-R06",
     .title = "stack overflow",
     .meaning = "Code of the build needed more stack than the thread has.",
     .after = "SIGSEGV at an address near the stack pointer",
     .causes = {"{in_library|name} used up the stack at stage {stage}",
                "the build used up the stack at stage {stage}", "the build used up the stack"},
     .remedies = {"raise the limit: ulimit -s unlimited, or use a thread with a larger stack", set_aside},
     .category = Category::crash},
    {.code = "EH-R07",
     .title = "the engine writes to standard output",
     .meaning = "A plugin must not print; it corrupts programs that speak over standard output.",
     .after = "what arrived on the probe's standard output; kept with the proof, and told at every open",
     .causes = {"the build printed to standard output: {output}", "the build printed to standard output"},
     .remedies =
         {"a program that speaks over standard output: keep a copy of descriptor 1 for that, and lead 1 to 2 "
          "before it opens the engine",
          "tell the publisher"},
     .category = Category::request},
    {.code = "EH-R08",
     .title = "the engine changes the floating-point mode",
     .meaning =
         "Loading the build changed how this thread rounds or treats tiny numbers (as -ffast-math does).",
     .after = "MXCSR before and after",
     .causes = {"{when} changed MXCSR from {before} to {after}",
                "loading changed MXCSR from {before} to {after}", "loading changed the floating-point mode"},
     .remedies = {"nothing to do: it is set back after loading", "publisher: do not link with -ffast-math"},
     .category = Category::request},
    {.code = "EH-R09",
     .title = "the engine changes the process",
     .meaning = "Loading the build changed something all of the process shares: signal handlers, locale, "
                "folder, umask, standard output, files that others opened; or which signals the calling "
                "thread blocks.",
     .after = "comparison before and after, in the probe",
     .causes = {"{when} changed {changed}: {before} became {after}",
                "loading changed {changed}: {before} became {after}", "loading changed {changed...}",
                "loading changed something that all of the process shares"},
     .remedies =
         {"{changed=descriptors that it did not open}a program that opens this build loses the files "
          "and connections that it has open: let it open the build before them, or in a worker process",
          "be aware of it; tell the publisher"},
     .category = Category::request},
    {.code = "EH-R10",
     .title = "exception across the plugin ABI",
     .meaning = "A function of the plugin threw; nothing may be thrown across a C ABI.",
     .after = "\"terminate called after throwing\" in the probe",
     .causes = {"a function of the plugin threw {exception} at stage {stage}: {what}",
                "a function of the plugin threw {exception} at stage {stage}",
                "a function of the plugin threw {exception}", "a function of the plugin threw"},
     .remedies = {"tell the publisher of the plugin"},
     .category = Category::crash},
    {.code = "EH-R11",
     .title = "not an engine plugin",
     .meaning =
         "The file does not export engine_plugin_v1, or the object of that name is not a plugin descriptor.",
     .before = "the export table and the first bytes of the object",
     .after = "the symbol looked up after loading, and the file it lies in",
     .causes = {"{file} does not export {symbol}; it exports {exports...}", "{file} does not export {symbol}",
                "{file}: {problem}", "{file} is not an engine plugin",
                "the file does not export engine_plugin_v1, or not a plugin's descriptor"},
     .remedies =
         {"use the file the manifest names as plugin; engine libraries themselves are not plugins",
          "plugin authors: see the page on writing an engine; in C++ say constexpr const engine_plugin"}},
    {.code = "EH-R12",
     .title = "plugin and host do not understand each other",
     .meaning =
         "The plugin needs a newer host, or another major version of the plugin ABI; or it is told to be "
         "for another engine than it says itself.",
     .before = "the first 24 bytes of the plugin's descriptor",
     .after = "the descriptor in memory",
     .causes = {"{file|name} needs plugin ABI {plugin_abi}; this host offers {host_abi}",
                "{file|name} offers {missing_table}, but its {missing_function} is NULL",
                "{file|name} does not offer {missing_table}, which is required",
                "{file|name} says that it is a plugin for {plugin_engine}; its manifest says {engine}",
                "the plugin needs another host version"},
     .remedies = {"{!plugin_is}update EngineHost, or use an older version of the plugin{?plugin_abi}",
                  "{plugin_is=older}use a newer version of the plugin, or an EngineHost of its time",
                  "tell the publisher of the plugin{?missing_table}",
                  "tell the publisher: manifest and plugin name different engines{?plugin_engine}",
                  "{!plugin_abi}{!missing_table}{!plugin_engine}update EngineHost, or use another version of "
                  "the plugin"}},
    {.code = "EH-R13",
     .title = "crash while unloading",
     .meaning = "The build works, but crashes when it is unloaded or the process ends.",
     .after = "a signal in the probe's stages unload and exit; kept with the proof, and told at every open",
     .causes = {"{problem} at stage {stage}", "{signal} in {in_library|name} at stage {stage}",
                "{signal} in {in_library|name} while it was unloaded",
                "the build crashed while it was unloaded"},
     .remedies =
         {"{stage=exit}a program that opens this build meets this when it ends, after its work: let it "
          "flush what it wrote and leave with _exit(), as EngineHost's own commands do",
          "{stage=unload}a program that closes this engine meets this: let it keep the engine open, flush "
          "what it wrote at its end and leave with _exit(), as EngineHost's own commands do",
          "or open the build in a worker process",
          "use another version of the engine, and tell its publisher"},
     .category = Category::request},
    {.code = "EH-R14",
     .title = "ended from outside, or for lack of memory",
     .meaning =
         "The system killed the probe (SIGKILL): out of memory, or somebody killed it. SIGTERM, SIGINT and "
         "SIGHUP are sent by somebody in any case, as to all programs of a service that is stopped.",
     .after = "SIGKILL that was not ours, or a signal that ends programs from outside",
     .causes = {"{signal=SIGKILL}the probe was killed at stage {stage}, most likely for lack of memory",
                "somebody ended the probe with {signal} at stage {stage}",
                "the process was killed, most likely for lack of memory"},
     .remedies = {"{signal=SIGKILL}free memory, or raise the container's limit",
                  "try again: nothing is held against the build"},
     .category = Category::transient},
    {.code = "EH-R15",
     .title = "library opened at run time is missing",
     .meaning = "The engine opens some libraries by name only when it needs them (cuDNN its parts); one was "
                "not there.",
     .before = "the manifest's \"lazy\" files",
     .after = "the engine's message, or an abort",
     .causes = {"{library...}, which {needed_by|name} opens at run time, was not found",
                "{library...}, which the engine opens at run time, was not found",
                "a library opened at run time was not found: {os_said}",
                "a library that the engine opens at run time was not found"},
     .remedies =
         {"install what provides it: {provided_by...}",
          "{!in_manifest}put {library...} into a folder the loader searches, or use a build that brings it",
          "{!in_manifest}{!library}put the library that the message names into a folder the loader searches",
          "{?in_manifest}engine-cache verify --repair brings back files of the build; if none of its "
          "components holds {library...}, tell the publisher"}},
    {.code = "EH-R16",
     .title = "parts of cuDNN of different versions",
     .meaning = "All parts of cuDNN must be of one version and come from one folder.",
     .before = "versions and folders of its parts",
     .after = "cuDNN status 1002 or 1008",
     .causes = {"{library...} would come from {path...}, the other parts of cuDNN from {others...}",
                "{library} is from {path}, the others are not", "the parts of cuDNN do not belong together"},
     .remedies = {"take other copies of cuDNN out of LD_LIBRARY_PATH"}},
    {.code = "EH-R17",
     .title = "the device does not do what it is said to do",
     .meaning =
         "A small computation on the device gave a wrong answer, or its result lies on another device.",
     .after = "a product of two matrices whose answer is known, and the device of the tensor that holds it",
     .causes = {"a product on {device} lies on {computed_on}: the engine computes elsewhere than it says",
                "a product on {device} gave {given} where {wanted} is right",
                "a small computation on the device did not give what it should"},
     .remedies = {"use another build of the engine, and tell its publisher",
                  "a wrong answer: look at the device's memory and temperature, and at its driver{?given}"},
     .category = Category::request},
    {.code = "EH-R18",
     .title = "device lost",
     .meaning =
         "A device that an open engine uses went away while the program runs: it fell off the bus, its "
         "driver was reset or replaced, it was taken from the container, or its context broke.",
     .after =
         "what the engine's calls report; while it is watched, its self-test, asked now and then and when "
         "device files or the driver's version change",
     .causes = {"{device} is lost to {build}: {message} ({sign...})",
                "{device} is lost to {build}: {message}",
                "{device} is lost to {build}, whose engine reports {status} ({sign...})",
                "{device} is lost to {build}, whose engine reports {status}", "a device is lost"},
     .remedies =
         {"wait until the device is told to be back, then load the models again",
          "{origin=cuda}start the program again: in a process that lost its device CUDA goes on failing",
          "the kernel's log tells why a driver gave a device up (NVIDIA: lines with Xid)",
          "use a cpu build meanwhile: --flavor cpu"},
     .category = Category::request},
};

}  // namespace

std::span<const Entry> running_entries() { return entries; }

}  // namespace enginehost::explain
