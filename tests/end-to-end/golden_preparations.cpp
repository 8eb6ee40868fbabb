#include "tests/end-to-end/golden_preparations.hpp"

#include "base/json.hpp"
#include "base/sha256.hpp"
#include "tests/end-to-end/arrays.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/publisher.hpp"
#include "tests/end-to-end/reference_plugin.hpp"
#include "tests/resolve/shipped.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test::prepared {
namespace {

namespace fs = std::filesystem;

TestRepository repository(const Place& place) { return TestRepository(place.folder() / "repository"); }

// A build ranked before sound_build().
TestBuild faulty(const std::string& id, std::vector<ViewFile> files) {
  for (ViewFile& file : files) file.bytes = to_whole_mebibytes(std::move(file.bytes));
  TestBuild build = faulty_build(std::move(files));
  build.id = id;
  build.version = "2.0.0";
  build.search = {"lib"};
  return build;
}

TestBuild crashing_build() {
  return faulty("reference-2.0.0-crashing",
                {{plugin, plugin_that_needs({"libstart.so"}, "$ORIGIN/lib")},
                 {"lib/libstart.so",
                  compile_library("int* volatile nowhere;\n"
                                  "__attribute__((constructor)) static void begin(void) { *nowhere = 1; }\n",
                                  {"-Wl,-soname,libstart.so"})}});
}

TestBuild needy_build() {
  return faulty("reference-2.0.0-needy", {{plugin, plugin_that_needs({"libmissing_math.so.3"})}});
}

void add_all(Place& place, const std::vector<TestBuild>& builds) {
  TestRepository made = repository(place);
  for (const TestBuild& build : builds) made.add(build);
  made.write();
}

Json document_of(const fs::path& file) { return parse_json(read_text(file), file.native()).value(); }

// A build under a license that the server has, and that must be accepted.
TestBuild licensed_build(Place& place) {
  const std::string text = "You may use it on one machine.\nYou may not use it on two.\n";
  write_text(place.server().root() / "eula.txt", text);
  TestBuild build = sound_build();
  build.license = "vendor";
  build.terms = Json::object()
                    .set("id", "LicenseRef-vendor")
                    .set("url", place.server().url("eula.txt"))
                    .set("sha256", sha256_hex(text))
                    .set("accept", "explicit");
  return build;
}

constexpr const char* nobody_answers = "http://127.0.0.1:1/";

void under_policy(Place& place, Json policy) {
  if (!can_mount()) throw Lacking("mounting needs root with CAP_SYS_ADMIN");
  place.options.launcher =
      with_system_file(place.workplace(), Json::object().set("policy", std::move(policy)));
}

void make_key(const Place& place, const std::string& name) {
  if (!has_minisign()) throw Lacking("minisign is not installed");
  run_tool({"minisign", "-G", "-W", "-p", (place.folder() / (name + ".pub")).native(), "-s",
            (place.folder() / (name + ".key")).native()});
}

void use_the_server(Place& place) {
  place.workplace().configure(Json::object()
                                  .set("repositories_default", false)
                                  .set("repositories", Json::strings({place.server().url("engines")})));
}

}  // namespace

void shipped(Place& place) { write_repository(place.folder() / "shipped", resolve::shipped_manifests()); }

void recorded(Place& place) {
  std::map<std::string, Json> manifests;
  for (const char* engine : {"onnxruntime", "pytorch", "reference"})
    manifests[engine] = document_of(source_path("/tests/resolve/catalog/") + engine + std::string(".json"));
  write_repository(place.folder() / "recorded", manifests);
}

void reference(Place& place) { add_all(place, {sound_build()}); }

void newer_that_does_not_fit(Place& place) {
  TestBuild newer = sound_build();
  newer.id = "reference-2.0.0-cpu";
  newer.version = "2.0.0";
  newer.requirements.set("glibc", ">=99.0");
  add_all(place, {sound_build(), newer});
}

void updatable(Place& place) {
  opened(place);
  two_versions(place);
}

void two_versions(Place& place) {
  TestBuild newer = sound_build();
  newer.id = "reference-1.1.0-cpu";
  newer.version = "1.1.0";
  add_all(place, {sound_build(), newer});
}

void crashing(Place& place) { add_all(place, {crashing_build(), sound_build()}); }
void needs_missing(Place& place) { add_all(place, {needy_build()}); }
void nothing_opens(Place& place) { add_all(place, {crashing_build(), needy_build()}); }

void without_network(Place& place) {
  TestRepository made = repository(place);
  made.serve_from(nobody_answers);
  made.add(sound_build());
  made.write();
}

void not_compiled(Place& place) {
  TestBuild newer = sound_build();
  newer.id = "reference-2.0.0-cpu";
  newer.version = "2.0.0";
  newer.not_built = "its plugin (engines/reference) was not compiled";
  add_all(place, {sound_build(), newer});
}

void licensed(Place& place) { add_all(place, {licensed_build(place)}); }

void licensed_or_without_network(Place& place) {
  TestRepository made = repository(place);
  made.add(licensed_build(place));
  made.serve_from(nobody_answers);
  TestBuild far = sound_build();
  far.id = "reference-2.0.0-cpu";
  far.version = "2.0.0";
  made.add(far);
  made.write();
}

void opened(Place& place) {
  reference(place);
  place.after("engine-cache fetch reference --keep --repository repository");
  place.after("engine-info reference");
}

void crashed(Place& place) {
  crashing(place);
  place.after("engine-info reference --repository repository");
}

void damaged(Place& place) {
  opened(place);
  for (const auto& file : fs::recursive_directory_iterator(place.workplace().cache() / "trees"))
    if (file.is_regular_file() && file.path().filename() == plugin) {
      fs::permissions(file.path(), fs::perms::owner_write, fs::perm_options::add);
      std::string bytes = read_text(file.path());
      bytes.back() = 'x';
      write_text(file.path(), bytes);
    }
}

void damaged_for_ever(Place& place) {
  damaged(place);
  fs::remove_all(place.folder() / "repository");
}

void pinned(Place& place) {
  opened(place);
  place.after("engine-cache pin reference-1.0.0-cpu");
}

void accepted(Place& place) {
  licensed(place);
  place.after("engine-info reference --repository repository --accept-license LicenseRef-vendor");
}

void exported(Place& place) {
  opened(place);
  place.after(
      "engine-cache export site.bundle reference-1.0.0-cpu --redistribute unknown --repository repository");
}

void moved(Place& place) {
  exported(place);
  fs::remove_all(place.workplace().cache());
  fs::remove_all(place.folder() / "repository");
}

void damaged_bundle(Place& place) {
  moved(place);
  const fs::path bundle = place.folder() / "site.bundle";
  std::string bytes = read_text(bundle);
  bytes.at(0) ^= 1;  // what a change elsewhere damages depends on the compiler
  write_text(bundle, bytes);
}

void requested(Place& place) {
  reference(place);
  place.after("engine-cache request machine.request reference");
}

void forbidden_license(Place& place) {
  licensed(place);
  under_policy(place, Json::object().set("forbid_licenses", Json::strings({"LicenseRef-vendor"})));
}

void forbidden_downloads(Place& place) {
  without_network(place);
  under_policy(place, Json::object().set("allowed_hosts", Json::array()));
}

// Root may write into every folder, so the command runs without that right.
void read_only_cache(Place& place) {
  reference(place);
  fs::create_directories(place.workplace().cache());
  fs::permissions(place.workplace().cache(), fs::perms::owner_read | fs::perms::owner_exec);
  if (is_host_root()) place.options.launcher = {"setpriv", "--bounding-set", "-dac_override"};
}

// Types "n" when the last line is a question. Input that waits from the start would be echoed at any moment.
void licensed_on_a_terminal(Place& place) {
  licensed(place);
  place.options.launcher = {"python3", "-c", R"(import os, pty, sys
line = b""
def read(terminal):
    global line
    said = os.read(terminal, 1024)
    line = (line + said).rpartition(b"\n")[2]
    if b"?" in line:
        os.write(terminal, b"n\n")
        line = b""
    return said
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read))))"};
}

void shipped_on_a_terminal(Place& place) {
  shipped(place);
  place.options.launcher = on_a_terminal();
}

void broken_manifest(Place& place) {
  reference(place);
  const fs::path root = place.folder() / "repository";
  const std::string manifest = "{\"format\": 1, \"engine\": \"reference\", \"serial\": 1, \"builds\": [";
  write_text(root / "reference.json", manifest);
  Json index = document_of(root / "index.json");
  Json entry = index["manifests"].as_array().at(0);
  entry.set("sha256", sha256_hex(manifest)).set("size", manifest.size());
  write_text(root / "index.json", index.set("manifests", Json::array().push(std::move(entry))).dump(2));
}

void changed_manifest(Place& place) {
  reference(place);
  const fs::path manifest = place.folder() / "repository" / "reference.json";
  write_text(manifest, replaced(read_text(manifest), "1.0.0", "1.0.1"));
}

void broken_configuration(Place& place) {
  reference(place);
  write_text(config_of_user(place.folder()), "{\"repositories\": [\n");
}

void unsigned_server(Place& place) {
  TestRepository made(place.server().root() / "engines");
  made.serve_from(place.server().url("engines/"));
  made.add(sound_build());
  made.write();
  use_the_server(place);
}

void untrusted_server(Place& place) {
  signed_workspace(place);
  place.server();
  place.after("engine-manifest publish work served/engines");
  use_the_server(place);
}

void served(Place& place) {
  untrusted_server(place);
  place.after("engine-cache trust add safe.pub");
}

void served_and_opened(Place& place) {
  served(place);
  place.after("engine-info reference");
}

void model(Place& place) {
  reference(place);
  write_text(place.folder() / "two-layers.model", read_text(source_path("/examples/two-layers.model")));
  write_array((place.folder() / "x.npy").native(), "(2, 2)", {1, 2, -1, 4});
  write_array((place.folder() / "wide.npy").native(), "(2, 5)", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

void broken_model(Place& place) {
  model(place);
  write_text(place.folder() / "broken.model", "enginehost-reference 1\ninput x [batch,2]\ny = Relu(z)\n");
}

void libraries(Place& place) {
  const auto library = [&](const std::string& name, const std::string& source,
                           std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"-nostdlib", "-Wl,--build-id=none", "-Wl,-soname," + name});
    write_text(place.folder() / name, compile_library(source, flags));
  };
  const std::string here = place.folder().native();
  library("libbase.so.1", "int base(void) { return 1; }\n");
  library("libgone.so.3", "int gone(void) { return 1; }\n");
  library("libgood.so", "int base(void);\nint good(void) { return base(); }\n",
          {here + "/libbase.so.1", "-Wl,-rpath,$ORIGIN"});
  library("libneedy.so", "int gone(void);\nint needy(void) { return gone(); }\n",
          {here + "/libgone.so.3", "-Wl,-rpath,$ORIGIN"});
  fs::remove(place.folder() / "libgone.so.3");
  library("libunlinked.so", "int base(void);\nint lost(void);\nint f(void) { return base() + lost(); }\n",
          {here + "/libbase.so.1", "-Wl,-rpath,$ORIGIN", "-Wl,-z,now"});
  write_text(place.folder() / "libforeign.so",
             for_machine(read_text(place.folder() / "libbase.so.1"), 183));  // EM_AARCH64
  write_text(place.folder() / "libtext.so", "INPUT(libbase.so.1)\n");
  write_text(place.folder() / "libshort.so", read_text(place.folder() / "libbase.so.1").substr(0, 700));
}

void toy_files(Place& place) {
  write_text(place.folder() / "libengine_toy.so", to_whole_mebibytes(reference_plugin()));
  write_text(place.folder() / "toy" / "share" / "words.txt", "toy\n");
}

void begun_workspace(Place& place) {
  toy_files(place);
  place.after("engine-manifest init work --name Toy");
}

void workspace(Place& place) {
  begun_workspace(place);
  place.after(
      "engine-manifest add work toy --engine reference --version 1.0.0 --flavor cpu --plugin "
      "libengine_toy.so");
}

void bad_workspace(Place& place) {
  workspace(place);
  const fs::path manifest = place.folder() / "work" / "engines" / "reference.json";
  write_text(manifest, replaced(read_text(manifest), "\"path\": \"libengine_toy.so\"",
                                "\"path\": \"libengine_other.so\""));
  for (const auto& file : fs::directory_iterator(place.folder() / "work" / "files")) fs::remove(file);
}

void signed_workspace(Place& place) {
  workspace(place);
  make_key(place, "safe");
  place.after("engine-manifest sign work --key safe.key");
}

}  // namespace enginehost::test::prepared
