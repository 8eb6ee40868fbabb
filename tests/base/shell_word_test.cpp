// Printed commands can be pasted.
#include "base/printable.hpp"

#include <gmock/gmock.h>

#include "base/child_process.hpp"

namespace enginehost {
namespace {

TEST(ShellWord, IsReadBackByTheShell) {
  for (const std::string word : {"plain",
                                 "/opt/a b/c",
                                 "it's",
                                 "say \"x\"",
                                 "wow!",
                                 "!!",
                                 "~",
                                 "~root/x",
                                 "=ls",
                                 "a=b",
                                 "--flag=a b",
                                 "",
                                 " ",
                                 "'",
                                 "''",
                                 "a\nb",
                                 "\n",
                                 "a\tb",
                                 "$HOME",
                                 "`id`",
                                 "a\\",
                                 "\\",
                                 "a;b",
                                 "a&b",
                                 "a|b",
                                 "a>b",
                                 "*",
                                 "?",
                                 "[a]",
                                 "{a,b}",
                                 "(a)",
                                 "#a",
                                 "a#b",
                                 "%PATH%",
                                 "f\xc3\xb6r/\xe6\x97\xa5\xe6\x9c\xac",
                                 "no\xc2\xa0"
                                 "break",
                                 "a,b:c@d+e%f_g-h"}) {
    const ChildOutcome outcome = [&] {
      ChildRequest request;
      request.argv = {"/bin/sh", "-c", "printf '%s|' " + shell_word(word)};
      auto ran = run_child(request);
      return ran ? *ran : ChildOutcome{};
    }();
    EXPECT_EQ(outcome.output, word + "|") << shell_word(word);
  }
}

TEST(ShellWord, HasQuotesOnlyWhereNeeded) {
  for (const std::string word :
       {"plain", "/opt/enginehost/lib-1.2_x", "https://mirror.example:8443/a", "a=b"})
    EXPECT_EQ(shell_word(word), word);
  EXPECT_EQ(shell_word("~/x"), "'~/x'");
  EXPECT_EQ(shell_word("=ls"), "'=ls'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace enginehost
