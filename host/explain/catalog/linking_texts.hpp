// Sentences that several entries of EH-L share.
#pragma once
#include <string_view>

#include "host/explain/explain.hpp"

namespace enginehost::explain {

inline constexpr std::string_view newer_system =
    "use a build for older systems (engine-info ENGINE --plan --explain lists them) or a newer operating "
    "system; never copy another system's C library here";
// For a DT_NEEDED with a slash in it: the loader does not search for it.
inline constexpr std::string_view by_current_folder =
    "{needed_by|name} needs {library}, a path from the current folder {current_folder}, and {tried} does not "
    "exist";
inline constexpr std::string_view by_path = "{needed_by|name} needs {library}, and {tried} does not exist";
// A file with another number at the end of its SONAME.
inline constexpr std::string_view other_release_of =
    "{needed_by|name} needs {library...}, which no folder that the loader searches has; {other_release...} "
    "({other_release_of...}) cannot stand in, because the number at the end is another";
inline constexpr std::string_view other_release =
    "{needed_by|name} needs {library...}, which no folder that the loader searches has; {other_release...} "
    "cannot stand in, because the number at the end is another";
// A file that lacks the link by whose name it is needed.
inline constexpr std::string_view without_link =
    "{needed_by|name} needs {library...}; {unlinked} is that library, but nothing of the name {linked_as} "
    "leads to it";
inline constexpr std::string_view needed_by_name =
    "{?tried}publisher: need it by its name alone, and set a RUNPATH from $ORIGIN: patchelf --replace-needed "
    "{library|word} {library|name} {needed_by|name}";
inline constexpr std::string_view without_layer =
    "{!library}{?read_only_layer}remove {read_only_layer} from \"system_layers\" of the configuration";

// A file in a folder that its installer expects the loader to search.
inline constexpr std::string_view not_searched =
    "{needed_by|name} needs {library...}; {elsewhere...} exists, but the loader does not search that folder";
inline constexpr std::string_view restore_link =
    "restore the link, which copies and archives lose: ln -s {unlinked|name} {linked_as|word}";

// A symbol that the file found for its library lacks.
inline constexpr std::string_view take_other_file =
    "{?expected_in}{!from_environment}open {wanted} first by its path, or put its folder first in "
    "LD_LIBRARY_PATH";
inline constexpr std::string_view without_variable =
    "{?expected_in}{?from_environment}remove the folder of {expected_in} from LD_LIBRARY_PATH, so that "
    "another {library} is found";
inline constexpr std::string_view installed_twice =
    "uninstall {installed_by...}, which write the same file, and install again the one of the CUDA for which "
    "{required_by|name} is built";

inline constexpr Lines provide_library = {
    {restore_link, "start the program with LD_LIBRARY_PATH={library_path}",
     "as root: write {ldconfig} into a file in /etc/ld.so.conf.d, and run ldconfig",
     "{distribution=nixos}start the program with LD_LIBRARY_PATH set to the lib folder of the package in "
     "/nix/store that "
     "has {library...}; for programs that Nix did not build, add the package to programs.nix-ld.libraries",
     "{!tried}{!unlinked}{!distribution}install {provided_by...}",
     "{!tried}{!distribution}put {library...} into a folder that the loader searches, or use a build that "
     "includes it",
     needed_by_name, "{?tried}{!current_folder}put {tried|name} there, or use a build that includes it",
     "{!library}engine-info --inspect FILE lists every missing library and the file that needs it"}};

}  // namespace enginehost::explain
