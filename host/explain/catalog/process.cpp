// EH-P: policy, consent, configuration, arguments, and limits of the process.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace process_table {

constexpr Entry entries[] = {
    {.name = {"EH-P01", "forbidden by policy"},
     .meaning = "The administrator's policy in the system configuration does not allow this.",
     .before = "the \"policy\" block of the system configuration",
     .causes = {"{flag} asks for \"{asked}\"; {key} in {file} says \"{policy}\"",
                "{policy} in {file} does not allow {what}", "policy does not allow this: {problem}",
                "policy does not allow this"},
     .remedies = {"ask the administrator; engine-info --verbose shows the policy and where it is written"},
     .exit_status = S::forbidden},
    {.name = {"EH-P02", "configuration wrong"},
     .meaning =
         "A configuration file, variable or option has a key or value that cannot be used, or names a file "
         "that another user may change.",
     .before = "the known keys and their types; owner and mode of what is named",
     .causes = {"{key} in {file}: {problem}", "{key} in {variable}: {problem}", "{variable}: {problem}",
                "{key}: {problem}", "{file}: {problem}", "the configuration cannot be used"},
     .remedies = {"{key=cache}name another cache: --cache or ENGINEHOST_CACHE",
                  "{?exposed}let only this user or root own {exposed}, and nobody else write there: chown, "
                  "chmod go-w {exposed|word}",
                  "correct {key} in {file}", "correct {variable}, or unset it",
                  "correct {flag}, or leave it out",
                  "{!flag}docs/settings.md lists every key and variable, and the values that each takes"}},
    {.name = {"EH-P03", "consent missing"},
     .meaning =
         "A large download, or one under a license that must be accepted, needs consent, and nobody gave it.",
     .before = "size and licenses of the plan",
     .causes =
         {"{?accepted_before}the license {license} of {component} has another text than the one that was "
          "accepted on {accepted_before}, and must be accepted again",
          "the license {license} of {component} must be accepted; these parts are {part}, and the build "
          "does not work without them",
          "the license {license} of {component} must be accepted", "the license {license} must be accepted",
          "the download of {bytes} was declined", "consent was not given"},
     .remedies =
         {"{?accepted_before}read the new text and accept it: engine-cache licenses accept {license|word}",
          "{?accepted_before}{?asked}let request.on_consent agree (return nonzero)",
          "{!accepted_before}{!asked}read its text ({shown_by}) and accept it: --accept-license "
          "{license|word}",
          "{!accepted_before}{!asked}{!shown_by}read {license_text} and accept it: --accept-license "
          "{license|word}",
          "{!accepted_before}{!asked}{!license_text}read {url} and accept it: --accept-license "
          "{license|word}",
          "{!accepted_before}{!asked}{!license_text}{!url}accept it: --accept-license {license|word}",
          "{!accepted_before}{?asked}{?license_text}read {license_text} and accept it: {license} in "
          "request.accepted_licenses, or let request.on_consent agree (return nonzero)",
          "{!accepted_before}{?asked}{!license_text}read {url} and accept it: {license} in "
          "request.accepted_licenses, or let request.on_consent agree (return nonzero)",
          "{!accepted_before}{?asked}{!license_text}{!url}accept it: {license} in request.accepted_licenses, "
          "or let request.on_consent agree (return nonzero)",
          "{!license}{!asked}answer yes when asked, or run without a terminal: size alone then needs no "
          "consent",
          "{!license}let {asked} agree (return nonzero), or set none: size alone then needs no consent"},
     .exit_status = S::forbidden},
    {.name = {"EH-P04", "audit log changed"},
     .meaning = "A line of the audit log does not follow the line before it. A line was changed, added, "
                "removed or cut.",
     .after = "the digest in each line of the line before it",
     .causes = {"line {line} of {file}: {problem}", "the audit log was changed after it was written"},
     .remedies = {"compare {file} with a copy of it; after a power failure the last line may be cut",
                  "nothing has to be repaired: new events continue from the last line"},
     .exit_status = S::cache},
    {.name = {"EH-P05", "not the license text of the manifest"},
     .meaning = "The text to be accepted is not the one that the manifest names by its digest.",
     .before = "sha256 of the text against the manifest",
     .causes = {"{file} is not the text of {license}: its sha256 is {actual_sha256}, the manifest names "
                "{expected_sha256}",
                "the text is not the text of {license}", "the text is not the one that the manifest names"},
     .remedies = {"get the text whose sha256 is {expected_sha256}, or a manifest that names the new one"},
     .exit_status = S::forbidden},
    {.name = {"EH-P06", "no license text"},
     .meaning = "The manifest names no address for the text of the license.",
     .before = "the license's url in the manifest",
     .causes = {"the manifest names no place for the text of {license}",
                "the text of the license is not known"},
     .remedies = {"ask the publisher for the text, and pass it with --text FILE"},
     .exit_status = S::not_fetched},
    {.name = {"EH-P07", "unknown license"},
     .meaning = "No known or installed engine build names a license with that id.",
     .before = "the licenses of the catalog and of installed builds",
     .causes = {"no known engine build has the license {license}; did you mean {nearest}?",
                "no known engine build has the license {license}", "no known engine build has that license"},
     .remedies = {"engine-cache licenses list shows the known licenses"}},
    {.name = {"EH-P10", "canceled"},
     .meaning = "The operation was stopped on request, or its time was over.",
     .after = "the request to stop",
     .causes = {"stopped; {kept} of {total} are kept", "stopped; {kept} are kept", "canceled: {reason}",
                "the operation was canceled"},
     .remedies = {"{?kept}start again: the download continues where it stopped", "{!kept}start again"},
     .exit_status = S::interrupted},
    {.name = {"EH-P20", "enginehost-probe could not be started"},
     .meaning = "EngineHost tests builds and queries drivers in a small program of its own, "
                "enginehost-probe, which did not start.",
     .before = "the file and its permission",
     .after =
         "posix_spawn's error, or an end before its first message; no file of a build had been used by then",
     .causes = {"{program} had not begun its work after {deadline}, so it was ended",
                "{program} was ended by {signal} before it began its work: {os_said}",
                "{program} was ended by {signal} before it began its work",
                "{program} ended with status {exit_code} before it began its work: {os_said}",
                "{program} ended with status {exit_code} before it began its work",
                "{program} ended before it began its work, and its exit status was lost: {status_lost}",
                "{program}, which {setting} names, could not be started: {os_said}",
                "{program}, which {setting} names, could not be started",
                "{program} could not be started: {os_said}", "{program} could not be started",
                "the program enginehost-probe could not be started"},
     .remedies =
         {"correct {setting}, set by {set_by}, which names that program, or leave it out",
          "{?deadline}raise probe_deadline_seconds in the configuration, or probe_seconds of the request "
          "(3600 at most), if the machine is slow, busy or was asleep",
          "{!set_by}install EngineHost with its folder libexec/enginehost, which contains enginehost-probe",
          "{!set_by}set request.helper to the path of enginehost-probe; without it builds are opened "
          "untested"},
     .exit_status = S::not_loaded},
    {.name = {"EH-P21", "enginehost-probe not found"},
     .meaning = "enginehost-probe, which tests a build in a child process before it is opened, is not "
                "installed with EngineHost.",
     .before = "libexec/enginehost below the prefix, and the configured path",
     .causes =
         {"{build} was opened without a test in a child process, because {file} is not executable",
          "{build} was opened without a test in a child process, because enginehost-probe was not found",
          "a build was opened without a test in a child process, because enginehost-probe was not found"},
     .remedies = {"make it executable: chmod +x {file|word}",
                  "{!file}install EngineHost with its folder libexec/enginehost beside the folder of its "
                  "library and programs, or set request.helper to the path of enginehost-probe"},
     .exit_status = S::not_loaded},
    {.name = {"EH-P30", "array file cannot be used"},
     .meaning = "An .npy file cannot be read or written as asked.",
     .before = "the file's header",
     .causes = {"the output {output} ({type}) was not written to {file}: {problem}", "{file}: {problem}"},
     .remedies = {"{remedy}",
                  "{!output}use a file with one array of numbers or booleans, as numpy.save writes it"}},
    {.name = {"EH-P40", "wrong argument"},
     .meaning = "The command line cannot be understood.",
     .before = "the arguments",
     .causes = {"{program}: {problem}", "{problem}"},
     .remedies = {"{?link}name another place, or remove {link}",
                  "{!link}{program} --help lists the arguments", "give {flag} {accepted}"}},
    {.name = {"EH-P41", "unknown failure code"},
     .meaning = "There is no failure class of that code.",
     .before = "the catalog",
     .causes = {"there is no failure code {code}; did you mean {nearest}?",
                "there is no failure code {code}"},
     .remedies =
         {"use a code such as EH-L01; the letters are F files, L linking, R running, G GPU, W Windows, X "
          "macOS, N fetching, M manifests and trust, P policy and calling, S selection, E engine"}},
    {.name = {"EH-P42", "model has no such input"},
     .meaning = "A tensor was given for an input that the model does not have.",
     .before = "the model's description of itself",
     .causes = {"the model has no input \"{input}\"; its inputs are {known}",
                "the model has no input \"{input}\""},
     .remedies = {"use one of the model's names: {known}"}},
    {.name = {"EH-P43", "model input missing"},
     .meaning = "An input that the model needs was not given.",
     .before = "the model's description of itself",
     .causes = {"the input \"{input}\" ({wanted}) is missing", "an input is missing"},
     .remedies = {"add --input {input}=FILE.npy, or pass it by name through the API"}},
    {.name = {"EH-P44", "tensor does not fit the input"},
     .meaning = "A tensor's type or shape differs from what the model's input takes.",
     .before = "the model's description of itself",
     .causes = {"the input \"{input}\" takes {wanted}, but {given} was given"},
     .remedies = {"convert it to {wanted} first"}},
    {.name = {"EH-P45", "wrong argument of the API"},
     .meaning = "A function of the C API was called with an argument that is not allowed.",
     .before = "the arguments",
     .causes = {"{argument}: {problem}"},
     .remedies = {"see enginehost.h for the allowed values of {argument}"}},
    {.name = {"EH-P46", "number out of range"},
     .meaning = "The requested number is larger than the count.",
     .before = "the count",
     .causes = {"number {number} was requested, but the count of {of} is {count} (the first is 0)"},
     .remedies = {"get the count first"}},
    {.name = {"EH-P47", "the given file cannot be read"},
     .meaning = "A file named as an argument is missing or not readable.",
     .before = "opening the file",
     .causes = {"{file} cannot be read: {os_said}", "{file} is larger than {limit} bytes",
                "{file} cannot be read: it is {problem}", "{file} cannot be read"},
     .remedies = {"check the path {file}"}},
    {.name = {"EH-P48", "picture cannot be drawn"},
     .meaning =
         "engine-info --bench --plot draws with gnuplot, as PNG or SVG by the ending of the file's name.",
     .before = "the ending, and whether gnuplot starts",
     .after = "gnuplot's exit status and output",
     .causes = {"{file} cannot be drawn: gnuplot could not be started: {os_said}{?program}",
                "{file} cannot be drawn: gnuplot reported {said}{?program}",
                "{file} ends in \"{ending}\"; pictures are drawn only as .png and .svg",
                "{file} cannot be written: {write_error}", "{file} cannot be drawn: {nothing}",
                "the picture cannot be drawn"},
     .remedies =
         {"{?skipped}correct the owner or the permissions: PATH has a gnuplot that is not run, {skipped...}",
          "install gnuplot (Debian: gnuplot-nox){?os_said}", "give a name that ends in .png or .svg{?ending}",
          "name a file in a folder that you can write{?write_error}",
          "leave --plot out: the table and --json contain the same figures"}},
    {.name = {"EH-P49", "input on another device"},
     .meaning =
         "A tensor is on a device that the model does not compute on, and it is not in host memory either.",
     .before = "the tensor's device against the model's",
     .causes = {"{input} is on {found_on}, but the model computes on {device}",
                "an input is on another device"},
     .remedies = {"copy it there first (enginehost_tensor_copy), or load the model on {found_on}"}},
    {.name = {"EH-P50", "output could not be written"},
     .meaning = "A command could not write all of its output: the disk is full, or the reader has ended.",
     .after = "the result of writing to standard output",
     .causes = {"standard output could not be written: it is closed{?closed}",
                "standard output could not be written to {file}: {os_said}; it has {size|bytes}, and this "
                "process may write files of at most {limit|bytes}",
                "standard output could not be written to {file}: {os_said}; it has {size|bytes}",
                "standard output could not be written: {os_said}", "standard output could not be written"},
     .remedies =
         {"{?closed}run the command again with an open standard output (>/dev/null if nobody reads it)",
          "{errno=EFBIG}raise the limit: ulimit -f unlimited",
          "{!closed}free space for the output, or redirect it to another disk, and run the command again"},
     .exit_status = S::cache},
    {.name = {"EH-P51", "out of memory, threads or processes"},
     .meaning = "The process gets no more memory, or may not start another thread or program.",
     .after = "an allocation that failed, EAGAIN for a thread or a program, or EPERM for a thread",
     .causes = {"{program} could not be started: {os_said}; the control group of this process may have "
                "{group_limit} processes and threads, and refused more{?group_refusals}",
                "{program} could not be started: {os_said}; this user may have {process_limit} processes and "
                "threads",
                "{program} could not be started: {os_said}",
                "no more threads can be started: {os_said}; the control group of this process may have "
                "{group_limit} processes and threads, and refused more{?group_refusals}",
                "no more threads can be started: {os_said}; this user may have {process_limit} processes and "
                "threads",
                "no more threads can be started: {os_said}",
                "this process ran out of memory while it read {file}",
                "this process ran out of memory: its address space is limited to "
                "{address_space_limit|bytes}",
                "this process ran out of memory"},
     .remedies = {"{?refused}a security rule forbids it, most often an old seccomp profile of a container "
                  "that does not know clone3: update the container runtime, or use a profile that allows "
                  "clone3 (or answers it with ENOSYS)",
                  "{!refused}close other programs, or raise the limits of this one: memory of the container "
                  "or job, ulimit -v, ulimit -u"},
     .exit_status = S::cache,
     .category = Category::transient},
    {.name = {"EH-P52", "a limit of this process or machine stopped the engine"},
     .meaning = "The engine got no more threads, memory or files, because of a limit of this process, this "
                "user or the control group (container). The build is not at fault, nothing is remembered "
                "about it, and no other build is tried.",
     .after =
         "the engine's message or exception (a thread that cannot be created, std::bad_alloc, \"Too many "
         "open files\"), and for memory a limit that holds for the process",
     .causes =
         {"the engine could start no more threads: the control group of this process may have {group_limit} "
          "processes and threads, and refused more{resource=threads}{?group_refusals}",
          "the engine could start no more threads: this user may have {process_limit} processes and "
          "threads, and the address space of this process is limited to "
          "{address_space_limit|bytes}{resource=threads}",
          "the engine could start no more threads: the address space of this process is limited to "
          "{address_space_limit|bytes}{resource=threads}",
          "the engine could start no more threads: this user may have {process_limit} processes and "
          "threads{resource=threads}",
          "the engine could start no more threads: the control group of this process may have {group_limit} "
          "processes and threads{resource=threads}",
          "the engine could start no more threads{resource=threads}",
          "the engine got no more memory: the address space of this process is limited to "
          "{address_space_limit|bytes}{resource=memory}",
          "the engine got no more memory: the data of this process is limited to "
          "{data_limit|bytes}{resource=memory}",
          "the engine got no more memory: this machine promises at most {memory_limit|bytes}, because "
          "vm.overcommit_memory is 2{resource=memory}",
          "the engine could open no more files: this process may have {file_limit} open{resource=files}",
          "the engine got no more {resource}"},
     .remedies = {"{resource=threads}{?group_refusals}raise the limit of the container (--pids-limit) or of "
                  "the service (TasksMax=)",
                  "{resource=threads}{!group_refusals}raise the limit: ulimit -u, or LimitNPROC= of the "
                  "service",
                  "{resource=threads}end other programs, or let the engine start fewer threads: "
                  "OMP_NUM_THREADS=1 for those that use OpenMP",
                  "{?address_space_limit}raise the limit: ulimit -v unlimited",
                  "{resource=memory}{?data_limit}raise the limit: ulimit -d unlimited",
                  "{resource=memory}{?memory_limit}add swap space, or set vm.overcommit_memory to 0",
                  "{resource=files}raise the limit: ulimit -n 65536",
                  "{resource=memory}end other programs, and try again"},
     .exit_status = S::cache,
     .category = Category::transient},
    {.name = {"EH-P53", "handle of the parent process"},
     .meaning = "A child of fork() called an engine or a model that its parent had opened. The engine's "
                "threads and devices stayed in the parent, and a thread that the child lacks may hold its "
                "locks, so the call would hang.",
     .before = "the process that made the handle against this one",
     .causes = {"the {argument} was made by the parent of this process; a child of fork() cannot use it",
                "the handle was made by the parent of this process"},
     .remedies = {"open the engine and load the model in the child, after fork()",
                  "start workers as new programs: multiprocessing.set_start_method(\"spawn\") in Python, "
                  "posix_spawn() or exec() elsewhere; a server that loads before it forks (gunicorn "
                  "--preload) must load in its workers"}},
    {.name = {"EH-P60", "license does not allow passing it on"},
     .meaning = "A component's license forbids passing it on, or allows it only under conditions. An export "
                "is refused until the person who exports confirms the right to pass it on.",
     .before = "\"redistribute\" of the license in the manifest; if it is missing, \"ask\" for a license "
               "that needs explicit acceptance",
     .causes =
         {"{component} of {build} is under {license}, which does not allow passing it on{redistribute=no}",
          "{component} of {build} is under {license}, which may allow passing it on only under conditions",
          "a component may not be passed on"},
     .remedies = {"read {url}; if you may, add --redistribute {license|word}",
                  "if you may, add --redistribute {license|word}",
                  "let the other machine fetch it itself: engine-cache fetch"},
     .exit_status = S::forbidden},
    {.name = {"EH-P99", "a bug of EngineHost"},
     .meaning = "EngineHost met an error that it should never meet.",
     .after = "an exception of a library that was not expected",
     .causes = {"an unexpected error: {problem}", "an unexpected error"},
     .remedies = {"please report this with the output of engine-info --verbose"},
     .exit_status = S::bug},
};

}  // namespace process_table

Table process_entries() { return {process_table::entries, S::usage, Category::request}; }

}  // namespace enginehost::explain
