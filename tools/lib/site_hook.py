"""What the site needs of MkDocs beyond its settings: two languages, each with its own tabs, words of the theme, description and search."""
import pathlib
import re

import site_search

SHORT = re.compile(r"<code>([^<\s]{1,24})</code>")  # a name or the beginning of a URI, which is not to be broken
LONG = re.compile(r"<code>([^<\s]{25,})</code>")  # which is broken where its parts end, if it must be
WORDS = re.compile(r"<code>([^<\n]* [^<\n]*)</code>")  # a command: broken between its words alone, never inside a `--`
WORD = re.compile(r"(?<![^ ])(?=[^ ]*-)[^ ]{1,24}(?![^ ])")
PART_ENDS = re.compile(r"(?<=[._/])(?=\w)")
OTHER_LANGUAGE = re.compile(r"\s+· (<a [^>]*>(?:中文|English)</a>)")  # never alone in a line
CHINESE = "中文"  # the part of the navigation that has the Chinese pages
DESCRIPTION = "C++20 分布式锁，跑在你已经在用的引擎上：Redis、Valkey、etcd"
PERMALINK = ('title="Link to this part"', 'title="本节的链接"')
chinese_nav = None


def pages_in(nav):
    for item in nav if isinstance(nav, list) else nav.values() if isinstance(nav, dict) else [nav]:
        if isinstance(item, str):
            yield item
        else:
            yield from pages_in(item)


def is_chinese(page):
    return page.url.startswith("zh/")


def on_config(config):
    try:
        import jieba  # noqa: F401  # without it the theme goes on, and no Chinese word is found by the search
    except ImportError:
        raise SystemExit("site: this Python has no jieba, which cuts Chinese into words for the search: build with tools/site")
    # A page that nobody has given a place yet can still be found.
    named = set(pages_in(config.nav))
    new = sorted(p.name for p in pathlib.Path(config.docs_dir).glob("*.md") if p.name not in named)
    if new:
        config.nav.insert(-1, {"More": new})
    return config


def chained(pages):
    for page, before, after in zip(pages, [None, *pages], [*pages[1:], None]):
        page.previous_page, page.next_page = before, after
    return pages


def on_nav(nav, config, files):
    """Takes the Chinese part out, to be the whole navigation of the Chinese pages."""
    global chinese_nav
    part = next(item for item in nav.items if item.title == CHINESE)
    nav.items.remove(part)
    for item in part.children:
        item.parent = None
    chinese_nav = type(nav)(part.children, chained([p for p in nav.pages if is_chinese(p)]))
    chinese_nav.homepage = chinese_nav.pages[0]
    nav.pages = chained([p for p in nav.pages if not is_chinese(p)])
    return nav


def kept(word):
    return f'<span class="whole">{word[0]}</span>'


def on_page_content(html, page, config, files):
    html = SHORT.sub(r'<code class="whole">\1</code>', html)
    html = WORDS.sub(lambda words: f"<code>{WORD.sub(kept, words[1])}</code>", html)
    html = LONG.sub(lambda long: f"<code>{PART_ENDS.sub('<wbr>', long[1])}</code>", html)
    return OTHER_LANGUAGE.sub(r"&nbsp;·&nbsp;\1", html)


def on_page_context(context, page, config, nav):
    # Pages are made one after the other, each with the settings as they are now.
    config.theme["language"] = "zh" if is_chinese(page) else "en"
    twins = {p.url for p in [*nav.pages, *chinese_nav.pages]}
    english = page.url.removeprefix("zh/")
    for choice, url, home in zip(config.extra["alternate"], (english, f"zh/{english}"), ("index.html", "zh/index.html")):
        choice["link"] = url if url in twins else home
    if is_chinese(page):
        context["nav"] = chinese_nav
        page.meta.setdefault("description", DESCRIPTION)
    return context


def on_post_page(output, page, config):
    return site_search.of_its_own(output.replace(*PERMALINK)) if is_chinese(page) else output


def on_post_build(config):
    site_search.split(pathlib.Path(config.site_dir))


on_post_build.mkdocs_priority = -200  # after the plugins that write the index
