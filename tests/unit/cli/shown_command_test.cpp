// What of a command line everybody may read who may read the engine.
#include "run/shown_command.hpp"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(shown_command, is_one_line) {
  EXPECT_EQ(shown_command({"./backup", "--all", "", "a  b"}), "./backup --all '' 'a b'");
  EXPECT_EQ(shown_command({"rsync", "here", "host:there"}), "rsync here host:there");
}

TEST(shown_command, what_an_option_says_is_secret_is_left_out) {
  EXPECT_EQ(shown_command({"x", "--password", "s", "--token=s", "-v"}), "x --password … --token=… -v");
  EXPECT_EQ(shown_command({"sh", "-c", "PGPASSWORD=s psql redis://u:s@h/1"}),
            "sh -c 'PGPASSWORD=… psql redis://…@h/1'");
  EXPECT_EQ(shown_command({"wget", "https://h/?token=s"}), "wget https://h/?token=…");
  EXPECT_EQ(shown_command({"passwd-audit", "--all"}), "passwd-audit --all") << "the program itself is no option";
}

// Went wrong: whoever could read the engine could read these.
TEST(shown_command, passwords_behind_an_option_of_one_letter_were_shown) {
  EXPECT_EQ(shown_command({"mysql", "-ps", "shop"}), "mysql -p… shop");
  EXPECT_EQ(shown_command({"mysql", "-p", "shop"}), "mysql -p shop") << "asks for it; shop is a database";
  EXPECT_EQ(shown_command({"/usr/bin/redis-cli", "-a", "s", "ping"}), "/usr/bin/redis-cli -a … ping");
  EXPECT_EQ(shown_command({"sudo", "curl", "-u", "ann:s", "https://h"}), "sudo curl -u … https://h");
  EXPECT_EQ(shown_command({"curl", "-uann:s", "https://h"}), "curl -u… https://h");
  EXPECT_EQ(shown_command({"sshpass", "-p", "s", "ssh", "h"}), "sshpass -p … ssh h");
}

TEST(shown_command, headers_were_shown) {
  EXPECT_EQ(shown_command({"curl", "-H", "Authorization: Bearer s t", "h"}), "curl -H 'Authorization: …' h");
  EXPECT_EQ(shown_command({"curl", "-H", "X-Api-Key:s"}), "curl -H X-Api-Key:…");
}

}  // namespace
}  // namespace cli
