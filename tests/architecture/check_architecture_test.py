#!/usr/bin/env python3
"""Tests of the checker: for each rule, a small tree that breaks it is reported, and one that keeps it is not."""
import pathlib
import tempfile
import unittest

import check_architecture

PLUGIN_HEADER = {"plugin-api/include/enginehost/engine_plugin.h": ""}


class Rules(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            found, count = check_architecture.check(root)
            self.assertEqual(count, len([name for name in files if not name.startswith("build")]))
            return found

    def assert_kept(self, files):
        self.assertEqual(self.violations(files), [])

    def assert_broken(self, files, *what):
        found = self.violations(files)
        self.assertEqual(len(found), 1, found)
        for text in what:
            self.assertIn(text, found[0])

    def includes(self, source, target):
        header = "#pragma once\n"
        return {target: header, source: f'#include "{target}"\n'}

    def test_a_room_may_include_itself_and_rooms_above(self):
        self.assert_kept(self.includes("base/a.cpp", "base/b.hpp"))
        self.assert_kept(self.includes("host/open/a.cpp", "host/resolve/plan.hpp"))
        self.assert_kept(self.includes("host/binary/a.cpp", "cache/store.hpp"))
        self.assert_kept(self.includes("host/commands/a.cpp", "host/sdk/b.hpp"))

    def test_a_room_must_not_include_rooms_below(self):
        modules = check_architecture.ROOMS
        for upper, lower in zip(modules, modules[1:]):
            self.assert_broken(self.includes(f"{upper}/x/a.cpp", f"{lower}/b.hpp"),
                               f"{upper} must not include {lower}/b.hpp", "a.cpp:1")

    def test_the_tools_may_include_the_loader_and_never_the_reverse(self):
        self.assert_kept(self.includes("tools/publish/a.cpp", "host/acquire/b.hpp"))
        self.assert_kept(self.includes("tools/commands/a.cpp", "host/commands/b.hpp"))
        for module in ("base", "cache", "host/open", "host/sdk", "host/commands"):
            for tool in ("tools/oci", "tools/offline", "tools/publish", "tools/commands"):
                self.assert_broken(self.includes(f"{module}/a.cpp", f"{tool}/b.hpp"),
                                   f"{module} must not include {tool}/b.hpp of {tool}")

    def test_the_plugin_check_knows_the_plugin_header_only(self):
        self.assert_kept({**PLUGIN_HEADER, "tools/conformance/a.cpp": "#include <enginehost/engine_plugin.h>\n"})
        self.assert_broken(self.includes("tools/conformance/a.cpp", "base/json.hpp"), "must not include base/json.hpp")

    def test_the_page_lists_the_modules_in_order(self):
        def broken(modules):
            with tempfile.TemporaryDirectory() as folder:
                page = pathlib.Path(folder) / check_architecture.PAGE
                page.parent.mkdir()
                rows = [f"| `{module}` | what? |" if "/" in module else f"| `{module}/` | what? |" for module in modules]
                page.write_text("\n".join(["| module | its one question |", "|---|---|", *rows, ""]))
                return check_architecture.check(folder)[0]

        modules = check_architecture.ROOMS
        self.assertEqual(broken(modules), [])
        swapped = broken([*modules[:-2], modules[-1], modules[-2]])
        self.assertEqual(len(swapped), 1, swapped)
        self.assertIn(f"is {modules[-1]}; the order that is kept has {modules[-2]}", swapped[0])
        self.assertIn("is missing", broken(modules[:-1])[0])
        self.assertIn("none there", broken([*modules, "host/cellar"])[0])

    def test_the_plugin_header_stands_alone(self):
        self.assert_broken(self.includes("plugin-api/tool.cpp", "base/json.hpp"), "plugin-api must not include")

    def test_the_cache_knows_base_only(self):
        self.assert_broken({**PLUGIN_HEADER, "cache/a.cpp": "#include <enginehost/engine_plugin.h>\n"},
                           "cache must not include")

    def test_an_engine_knows_the_plugin_header_and_support(self):
        self.assert_kept({**PLUGIN_HEADER, "engines/one/a.cpp": "#include <enginehost/engine_plugin.h>\n"})
        self.assert_kept(self.includes("engines/one/a.cpp", "engines/support/tensor.hpp"))
        self.assert_kept(self.includes("engines/one/a.cpp", "engines/one/b.hpp"))
        self.assert_broken(self.includes("engines/one/a.cpp", "engines/two/b.hpp"), "engines must not include")
        self.assert_broken(self.includes("engines/one/a.cpp", "base/json.hpp"), "engines must not include")
        self.assert_broken(self.includes("engines/support/a.cpp", "engines/one/b.hpp"), "engines must not include")

    def test_the_host_reaches_engines_over_the_abi_only(self):
        self.assert_kept({**PLUGIN_HEADER, "host/load/a.cpp": "#include <enginehost/engine_plugin.h>\n"})
        self.assert_broken(self.includes("host/load/a.cpp", "engines/support/tensor.hpp"), "must not include")

    def test_a_public_header_belongs_to_its_room(self):
        self.assert_broken({"host/sdk/include/enginehost/enginehost.h": "",
                            "host/open/a.cpp": "#include <enginehost/enginehost.h>\n"}, "host/open must not include")

    def test_angle_brackets_do_not_hide_an_include(self):
        self.assert_broken({"host/open/b.hpp": "#pragma once\n", "base/a.cpp": "#include <host/open/b.hpp>\n"},
                           "base must not include")

    def test_includes_in_comments_do_not_count(self):
        self.assert_kept({"host/open/b.hpp": "#pragma once\n",
                          "base/a.cpp": '// #include "host/open/b.hpp"\n/*\n#include "host/open/b.hpp"\n*/\n'})

    def test_includes_behind_text_and_separators_do_count(self):
        self.assert_broken({"host/open/b.hpp": "#pragma once\n",
                            "base/a.cpp": 'int n = 1\'000; const char* t = "/*";\n#include "host/open/b.hpp"\n'},
                           "base/a.cpp:2")

    def test_includes_are_written_from_the_root(self):
        self.assert_broken({"base/a.cpp": '#include "b.hpp"\n', "base/b.hpp": "#pragma once\n"},
                           '"b.hpp" is no file of the tree')

    def test_the_plugin_folder_can_be_taken_away(self):
        self.assert_kept({"plugin-api/tool/a.c": '#include "b.h"\n#include "example/c.h"\n', "plugin-api/tool/b.h": "",
                          "plugin-api/example/c.h": ""})

    def test_every_source_stands_in_a_room(self):
        self.assert_broken({"host/stray.cpp": ""}, "stands in no module")
        self.assert_broken({"utilities/a.cpp": ""}, "stands in no module")
        self.assert_broken({"host/misc/a.cpp": ""}, "stands in no module")
        self.assert_broken({"tools/misc/a.cpp": ""}, "stands in no module")
        self.assert_kept({"tests/base/a.cpp": '#include "anything.hpp"\n', "examples/a.c": ""})

    def test_promises_of_parts_are_kept(self):
        self.assert_broken(self.includes("host/resolve/a.cpp", "base/files.hpp"), "pure function")
        self.assert_broken(self.includes("host/load/helper/a.cpp", "base/sha256.hpp"), "stays small")
        self.assert_kept(self.includes("host/load/in_process/a.cpp", "base/sha256.hpp"))

    def test_third_party_headers_stay_in_sources(self):
        for header in ("nlohmann/json.hpp", "curl/curl.h", "archive.h", "archive_entry.h", "openssl/evp.h"):
            self.assert_broken({"base/a.hpp": f"#pragma once\n#include <{header}>\n"}, header, "source file")
            self.assert_kept({"base/a.cpp": f"#include <{header}>\n"})
        self.assert_kept({"base/a.hpp": "#pragma once\n#include <vector>\n#include <tl/expected.hpp>\n"})

    def test_boost_is_included_by_one_source(self):
        include = "#include <boost/dll/shared_library.hpp>\n"
        self.assert_kept({"host/load/in_process/open_library.cpp": include})
        self.assert_broken({"base/a.cpp": include}, "base/a.cpp:1", "only host/load/in_process/open_library.cpp does")
        for name in ("base/a.hpp", "host/load/in_process/open_library.hpp"):
            self.assert_broken({name: "#pragma once\n" + include}, f"{name}:2", "source file")

    def test_no_loader_gets_flags_that_change_what_is_bound(self):
        for flag in ("append_decorations", "load_with_altered_search_path", "LOAD_WITH_ALTERED_SEARCH_PATH",
                     "rtld_deepbind", "RTLD_DEEPBIND"):
            self.assert_broken({"engines/one/a.cpp": f"\nint mode = {flag};\n"}, "engines/one/a.cpp:2", flag)
            self.assert_kept({"engines/one/a.cpp": f"// {flag}\nconst char* text = \"{flag}\";\n"})

    def test_headers_are_included_once(self):
        self.assert_broken({"base/a.hpp": "// #pragma once\n"}, "no #pragma once")
        self.assert_broken({"tests/base/a.hpp": ""}, "no #pragma once")

    def test_files_are_short(self):
        self.assert_kept({"base/a.cpp": "\n" * 500})
        self.assert_broken({"base/a.cpp": "\n" * 501}, "501 lines")
        self.assert_broken({"tests/base/a.cpp": "\n" * 501}, "501 lines")

    def test_nothing_that_the_api_uses_is_destroyed_at_the_end(self):
        for line in ("  static const std::string none;\n", "  static const std::vector<std::string> all = {\n",
                     "const std::map<int, int> all{};\n", "  static std::optional<Index> reported;\n"):
            self.assert_broken({"host/open/a.cpp": line}, "host/open/a.cpp:1", "destroyed")
            self.assert_kept({"host/commands/a.cpp": line})
        for line in ("  static const std::string& none = *new std::string;\n", "  std::string local;\n",
                     "  static std::string name_of(int number);\n", "std::string name_of(int number) {\n",
                     "  static constexpr std::string_view name = \"x\";\n", "  static std::atomic<int> number{0};\n",
                     "const std::string& name_of(int number);\n"):
            self.assert_kept({"host/open/a.cpp": line})

    def test_the_environment_is_read_in_three_rooms(self):
        call = 'const char* home = getenv("HOME");\n'
        for module in ("base", "host/settings", "host/platform"):
            self.assert_kept({f"{module}/a.cpp": call})
        self.assert_broken({"host/open/a.cpp": call}, "host/open/a.cpp:1", "reads the environment")
        self.assert_broken({"cache/a.cpp": "x = std::secure_getenv (name);\n"}, "reads the environment")
        self.assert_kept({"host/open/a.cpp": '// getenv(x)\nconst char* t = "getenv(x)";\n'})

    def test_build_folders_are_not_sources(self):
        self.assert_kept({"build-dev/x.cpp": "\n" * 501, "base/a.cpp": ""})

    def test_an_empty_tree_is_no_success(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check_architecture.check(folder), ([], 0))


if __name__ == "__main__":
    unittest.main()
