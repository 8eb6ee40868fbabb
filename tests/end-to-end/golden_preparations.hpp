// The files and settings in the folder of a golden screen before its command runs.
//
// Every preparation leaves the same files each time, except for digests, keys and times. It throws Lacking if
// this machine lacks a tool or a right.
#pragma once
#include "tests/end-to-end/golden_place.hpp"

namespace enginehost::test::prepared {

// Repositories of other people's builds, to decide upon.
void shipped(Place& place);  // "shipped": the manifests of this tree with every plugin
void shipped_on_a_terminal(Place& place);
void recorded(Place& place);  // "recorded": the manifests of tests/resolve/catalog, which do not change

// "repository" with the reference engine, for this machine.
void reference(Place& place);
void newer_that_does_not_fit(Place& place);      // and a newer build for a newer glibc
void two_versions(Place& place);                 // both open
void updatable(Place& place);                    // the older one was opened before the newer one was offered
void crashing(Place& place);                     // and a build ranked first that crashes while it is loaded
void needs_missing(Place& place);                // only a build that needs a library
void nothing_opens(Place& place);                // a build that crashes and one that needs a library
void without_network(Place& place);              // its files are on a server that does not answer
void licensed(Place& place);                     // its license must be accepted
void not_compiled(Place& place);                 // and a newer build whose plugin nobody compiled
void licensed_or_without_network(Place& place);  // neither of two builds opens

// The same with surroundings.
void opened(Place& place);            // and the build was opened
void crashed(Place& place);           // crashing() was opened: one build is quarantined
void damaged(Place& place);           // and a byte of the installed plugin changed
void damaged_for_ever(Place& place);  // and the repository is gone
void pinned(Place& place);
void accepted(Place& place);             // licensed(), with the consent
void exported(Place& place);             // "site.bundle" holds the build
void moved(Place& place);                // only "site.bundle" is left
void damaged_bundle(Place& place);       // and a bit of it changed
void requested(Place& place);            // "machine.request" asks for the engine
void forbidden_license(Place& place);    // licensed(), and the policy forbids the license
void forbidden_downloads(Place& place);  // without_network(), and the policy allows no host
void read_only_cache(Place& place);
void licensed_on_a_terminal(Place& place);  // somebody answers "n"

// Repositories that cannot be used.
void broken_manifest(Place& place);
void changed_manifest(Place& place);
void broken_configuration(Place& place);
void unsigned_server(Place& place);  // served as http://…/engines
void served(Place& place);           // the same, signed by a key that is trusted
void served_and_opened(Place& place);
void untrusted_server(Place& place);  // the same, signed by a key that is not trusted

// Models and arrays of engine-run, beside reference().
void model(Place& place);
void broken_model(Place& place);

// Libraries for --inspect.
void libraries(Place& place);

// Folders of a publisher.
void toy_files(Place& place);        // "toy" and its plugin
void begun_workspace(Place& place);  // and "work" without a build
void workspace(Place& place);        // "work" with one build of them
void bad_workspace(Place& place);    // the same, with mistakes
void signed_workspace(Place& place);

}  // namespace enginehost::test::prepared
