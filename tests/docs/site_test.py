#!/usr/bin/env python3
"""The checks of the site find what they are there for."""
import json
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lib"))
sys.dont_write_bytecode = True
import ladder_run  # noqa: E402
import site_api_filter  # noqa: E402
import site_chinese  # noqa: E402
import site_hook  # noqa: E402
import site_links  # noqa: E402
import site_search  # noqa: E402
import site_stage  # noqa: E402
import snippets  # noqa: E402
import story_pages  # noqa: E402
import surface  # noqa: E402
import translations  # noqa: E402


class Links(unittest.TestCase):
    def wrong(self, body, **others):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder).resolve()
            (site / "page.html").write_text(f"<html><body>{body}</body></html>")
            for name, text in others.items():
                (site / f"{name}.html").write_text(text)
            return list(site_links.problems(site))

    def test_a_link_that_leads_somewhere_is_right(self):
        self.assertEqual(self.wrong('<a href="other.html#part">x</a>', other='<h2 id="part">y</h2>'), [])
        self.assertEqual(self.wrong('<a href="https://example.org/">x</a><a href="#here" id="here">y</a>'), [])

    def test_a_link_that_leads_nowhere_is_found(self):
        self.assertEqual(self.wrong('<a href="gone.html">x</a>'), ["page.html: gone.html leads nowhere"])

    def test_an_anchor_that_is_not_there_is_found(self):
        self.assertEqual(self.wrong('<a href="other.html#part">x</a>', other="<h2>y</h2>"),
                         ["page.html: other.html#part has no such anchor"])

    def test_what_another_host_would_send_is_found(self):
        for tag in ('<script src="https://example.org/a.js"></script>', '<img src="//example.org/a.png">',
                    '<link rel="stylesheet" href="http://example.org/a.css">'):
            self.assertIn("from another host", "".join(self.wrong(tag)), tag)


class Staging(unittest.TestCase):
    def setUp(self):
        self.stage = site_stage.Stage(ROOT, pathlib.Path("/nowhere"))

    def test_a_header_becomes_its_page_of_the_reference(self):
        self.assertEqual(self.stage.link("../../include/tyer/multi_mutex.hpp", "guide/x.md", "docs/guide/x.md"),
                         "../reference/multi__mutex_8hpp.html")

    def test_a_file_outside_becomes_a_page(self):
        self.assertEqual(self.stage.link("../examples/election.cpp", "start.md", "docs/start.md"), "code/examples/election.cpp.md")
        self.assertEqual(self.stage.wanted, {"code/examples/election.cpp.md": "examples/election.cpp"})

    def test_code_is_left_alone(self):
        text = "```cpp\na[i](../README.md)\n```\n"
        self.assertEqual(self.stage.relinked(text, "start.md", "docs/start.md"), text)


class Surface(unittest.TestCase):
    def lines(self, text):
        reader = surface.Reader(text)
        reader.scope(0, True)
        return reader.lines

    def test_a_class_is_its_public_part(self):
        self.assertEqual(self.lines("""namespace tyer { inline namespace v1 {
          class x;  // a comment; with {braces
          class TYER_EXPORT x : public y {
            int hidden();
           public:
            explicit x(int a = {}) noexcept : y{a}, b_(a) {}
            template <class T>
            void f(T t) { if (t) { g("}"); } }
           private:
            friend class z;
            int b_ = 0;
          };
          namespace detail { void nobodys(); }
          } }"""), ["class x : public y", "  explicit x(int a = {}) noexcept", "  template <class T> void f(T t)"])

    def test_values_of_plain_data_are_part_of_it(self):
        self.assertEqual(self.lines("struct o { int a{1}; std::string b = {}; }; enum class e { one = 1, two, };"),
                         ["struct o", "  int a{1}", "  std::string b = {}", "enum class e", "  one = 1", "  two"])


class Filter(unittest.TestCase):
    def test_friends_are_not_for_readers_whatever_their_body(self):
        friends = """class a {
  friend class b;
  friend bool operator==(const a& x, int y) { return x.f({y}); }
  template <class T>
  friend T& operator<<(T& out, const a& x) {
    if (x) { out << 1; }
    return out;
  }
  int left;
};
"""
        self.assertEqual(site_api_filter.filtered(friends), "class a {\n  int left;\n};\n")

    def test_a_drawn_table_becomes_a_table(self):
        text = site_api_filter.filtered("// File.\n#pragma once\n// What.\n//\n//   a | b\n//   --+--\n//   1 | 2\n//     | 3\nclass c;\n")
        self.assertIn("/// | a | b |\n/// |---|---|\n/// | 1 | 2 3 |\n", text)

    def test_prose_that_is_set_in_stays_prose(self):
        self.assertNotIn("@code", site_api_filter.filtered("// File.\n\n// Fairness: first come,\n//   first served.\nclass c;\n"))


class Colours(unittest.TestCase):
    def test_a_site_first_seen_by_day_stayed_light_at_night(self):
        # The theme stores the place of the first palette that fits; only this one asks the system again.
        media = re.findall(r'- media: "(.*)"', (ROOT / "mkdocs.yml").read_text())
        self.assertEqual(media, ["(prefers-color-scheme)", "(prefers-color-scheme: light)", "(prefers-color-scheme: dark)"])


    def test_the_reference_of_the_api_stayed_light_at_night(self):
        css = (ROOT / "docs/assets/api.css").read_text()
        roots = re.findall(r":root \{(.*?)\}", css, re.S)
        light, dark = (dict(re.findall(r"(--[\w-]+): (#\w+)", root)) for root in roots)
        self.assertIn("@media (prefers-color-scheme: dark)", css)
        self.assertEqual(set(light) - set(dark), {"--on-bar", "--frame"})  # the same by day and by night
        for root in roots:
            css = css.replace(root, "")
        self.assertEqual(re.findall(r": [^;}]*(?:#[0-9a-f]{3,6}\b|\bwhite\b)", css), [])


class Chinese(unittest.TestCase):
    PAGE = ('<html lang="zh"><meta name="description" content="锁"><a href="x" class="md-tabs__link">{tab}</a>'
            '<input class="md-search__input" name="query" placeholder="搜索">'
            '<label class="md-nav__title" for="__toc"><span class="md-nav__icon md-icon"></span>{toc}</label>')

    def test_a_page_that_is_chinese_throughout_is_right(self):
        self.assertEqual(list(site_chinese.in_page("p", self.PAGE.format(tab="指南", toc="目录"))), [])

    def test_a_tab_or_contents_in_english_are_found(self):
        self.assertEqual(list(site_chinese.in_page("p", self.PAGE.format(tab="Guide", toc="Contents"))),
                         ["p: the tab is not Chinese: Guide", "p: the title of the contents is not Chinese: Contents"])

    def test_a_word_that_the_search_does_not_know_is_found(self):
        index = {"docs": [{"location": "a.html", "title": "\u200b锁\u200b", "text": "即\u200b看门狗\u200b，公平锁"}]}
        self.assertEqual(site_chinese.not_found(index, ["看门狗", "公平锁", "锁"]), ["公平锁"])

    def test_the_search_was_silently_built_without_chinese_words(self):
        # In a Python without jieba the theme goes on, and nothing in Chinese is found.
        hidden = sys.modules.get("jieba")
        sys.modules["jieba"] = None
        try:
            with self.assertRaisesRegex(SystemExit, "jieba"):
                site_hook.on_config(None)
        finally:
            del sys.modules["jieba"]
            if hidden:
                sys.modules["jieba"] = hidden

    def test_the_way_to_the_other_language_is_never_alone_in_a_line(self):
        self.assertEqual(site_hook.on_page_content('differ.\n· <a href="zh/choose.html">中文</a>', None, None, None),
                         'differ.&nbsp;·&nbsp;<a href="zh/choose.html">中文</a>')

    def test_a_long_name_is_broken_where_its_parts_end(self):
        self.assertEqual(site_hook.on_page_content("<code>tyer.engine.request.duration</code>", None, None, None),
                         "<code>tyer.<wbr>engine.<wbr>request.<wbr>duration</code>")

    def test_a_command_is_broken_between_its_words(self):
        self.assertEqual(site_hook.on_page_content("<code>elect NAME -- COMMAND…</code>", None, None, None),
                         '<code>elect NAME <span class="whole">--</span> COMMAND…</code>')

    def test_comments_in_code_are_translated_and_strings_are_not(self):
        missing = set()
        code = 'client c{"redis://a"};  // mine\nint b;  // "redis://b"\nf([] { /* stop */ });\n// other\n'
        self.assertEqual(snippets.translated(code, {"mine": "我的", "stop": "停"}, missing),
                         'client c{"redis://a"};  // 我的\nint b;  // "redis://b"\nf([] { /* 停 */ });\n// other\n')
        self.assertEqual(missing, {"other"})

    def test_a_paragraph_that_is_broken_between_chinese_letters_is_found(self):
        self.assertEqual(list(translations.habits("锁归了别人，\n这里还在写。\n")), ["a paragraph is broken after 锁归了别人，"])
        self.assertEqual(list(translations.habits("任何 守卫")), ["there is a gap in 任何 守卫"])
        for right in ("- 一\n- 二\n", "| 一 |\n| 二 |\n", "**为什么？**\n因为。\n", "一\n\n二\n", "```\n一\n二\n```\n"):
            self.assertEqual(list(translations.habits(right)), [], right)

    def test_a_second_word_for_one_thing_and_a_comment_in_english_are_found(self):
        self.assertEqual(list(translations.habits("每秒续约一次。")), ["续约 is called 续期 elsewhere"])
        code = "```sh\ntyer exporter   # {}\n```\n"
        self.assertEqual(list(translations.habits(code.format("counted by prefix"))), ["a comment is not Chinese: counted by prefix"])
        self.assertEqual(list(translations.habits(code.format("按前缀统计"))), [])

    def test_every_page_is_in_the_navigation(self):
        navigation = (ROOT / "mkdocs.yml").read_text()
        for page in (ROOT / "docs/zh").rglob("*.md"):
            self.assertIn(page.relative_to(ROOT / "docs").as_posix(), navigation)


class Search(unittest.TestCase):
    def test_a_chinese_page_found_english_pages_and_the_other_way_round(self):
        docs = [{"location": where, "title": "", "text": ""} for where in ("a.html", "a.html#b", "zh/a.html", "zh/a.html#乙", "only.html#c")]
        english, chinese = site_search.parted(docs)
        self.assertEqual([doc["location"] for doc in english], ["a.html", "a.html#b", "only.html#c"])
        self.assertEqual([(doc["location"], doc.get("boost", 1)) for doc in chinese],
                         [("a.html", 1), ("a.html#乙", 1), ("../only.html#c", site_search.ONLY_ENGLISH)])

    def test_a_chinese_page_asks_the_search_below_zh(self):
        for base, own in (("..", "."), ("../..", "..")):
            self.assertEqual(site_search.of_its_own(f'{{"base": "{base}", "features": []}}'), f'{{"base": "{own}", "features": []}}')
        with self.assertRaises(SystemExit):
            site_search.of_its_own("{}")


class Snippets(unittest.TestCase):
    PAGE = "Text.\n\n<!-- snippet: examples/ladder/rungs.cpp none -->\n"

    def test_code_that_differs_from_its_program_is_found(self):
        right = snippets.refreshed(self.PAGE)
        self.assertIn("bool none(workplace& w)", right)
        self.assertEqual(snippets.refreshed(right), right)
        self.assertNotEqual(snippets.refreshed(right.replace("none(", "nothing(")), right.replace("none(", "nothing("))

    def test_code_that_nobody_compiles_is_found(self):
        self.assertIsNone(snippets.LOOSE.search(snippets.refreshed(self.PAGE)))
        self.assertIsNotNone(snippets.LOOSE.search("Text.\n\n```cpp\nint a;\n```\n"))


class Examples(unittest.TestCase):
    LINES_MAX = 200

    def test_each_is_short_or_says_why_it_is_not(self):
        for file in (ROOT / "examples").rglob("*.[ch]pp"):
            text = file.read_text()
            if text.count("\n") >= self.LINES_MAX:
                self.assertIn("// Longer than the other examples, since ", text, file)


class Ladder(unittest.TestCase):
    PAGES = ("docs/ladder.md", "docs/zh/ladder.md")

    def setUp(self):
        self.rows = json.loads((ROOT / "docs/pictures/ladder.json").read_text())

    def test_the_last_run_had_all_rungs_and_the_last_one_all_their_faults(self):
        self.assertEqual([(row["rung"], row["fault"]) for row in self.rows[:-1]],
                         [(rung.name, rung.fault) for rung in ladder_run.RUNGS])
        last = self.rows[-1]
        self.assertEqual(last["rung"], "tyer")
        self.assertEqual(set(last["under"]), {rung.fault for rung in ladder_run.RUNGS})
        self.assertEqual([last[what] for what in ("oversold", "stuck", "deleted", "standstill")], [0, 0, 0, 0])

    def test_both_pages_have_the_table_of_the_picture(self):
        for language, page in enumerate(self.PAGES):
            self.assertIn(story_pages.ladder_table(self.rows, language), (ROOT / page).read_text(), page)

    def test_both_pages_show_the_code_of_every_rung(self):
        same_code = {"sentinel"}  # as renewal
        for page in self.PAGES:
            text = (ROOT / page).read_text()
            for rung in (*(r.name for r in ladder_run.RUNGS if r.name not in same_code), "tyer"):
                self.assertRegex(text, rf"<!-- snippet: examples/ladder/\w+.cpp {rung} -->", page)


class Options(unittest.TestCase):
    PAGES = {"lock_options": "guide/options.md", "client_options": "guide/client-options.md"}

    def test_the_table_was_in_an_order_that_did_not_compile(self):
        # A reader writes designated initializers in the order of the table.
        declared = (ROOT / "docs/surface.txt").read_text()
        for struct, page in self.PAGES.items():
            members = re.search(rf"^  struct {struct}\n((?:    .*\n)*)", declared, re.M)[1]
            names = re.findall(r"(\w+)(?: =|\{)", members)
            for folder in ("docs", "docs/zh"):
                table = re.search(r"(?:^\|.*\n)+", (ROOT / folder / page).read_text(), re.M)[0]
                self.assertEqual(re.findall(r"^\| `(\w+)` \|", table, re.M), names, f"{folder}/{page}")


class Index(unittest.TestCase):
    def test_every_decision_is_listed(self):
        listed = (ROOT / "docs/adr/README.md").read_text()
        for record in (ROOT / "docs/adr").glob("0*.md"):
            self.assertIn(f"({record.name})", listed)


if __name__ == "__main__":
    unittest.main()
