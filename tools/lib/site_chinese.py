"""What is not Chinese in the Chinese pages of a built site, and which words of the field the search does not find."""
import html
import json
import pathlib
import re

WORDS = pathlib.Path(__file__).with_name("site_words.txt")
HAN = re.compile(r"[\u4e00-\u9fff]")
PARTS = {  # what the theme and the navigation say around the text
    "tab": re.compile(r'class="md-tabs__link">\s*(.*?)\s*</a>', re.S),
    "title of the contents": re.compile(r'for="__toc">\s*(?:<span[^>]*></span>)?\s*(\S+)\s*</label>', re.S),
    "field of the search": re.compile(r'class="md-search__input"[^>]*placeholder="([^"]*)"'),
    "description": re.compile(r'<meta name="description" content="([^"]*)"'),
}


def in_page(name, text):
    if '<html lang="zh"' not in text:
        yield f"{name}: its language is not zh"
    for what, pattern in PARTS.items():
        found = [html.unescape(re.sub("<[^>]*>", "", f)).strip() for f in pattern.findall(text)]
        if not found and what != "title of the contents":  # a short page has none
            yield f"{name}: no {what}"
        yield from (f"{name}: the {what} is not Chinese: {f}" for f in found if not HAN.search(f))


def not_found(index, words):
    """`index` is the file that the search of the Chinese pages reads; Chinese words in it are told apart by U+200B."""
    known = {token for doc in index["docs"] if not doc["location"].startswith("../") for part in ("title", "text")
             for token in re.split(r"[\s\u200b<>]+", doc[part])}
    return [word for word in words if word not in known]


def problems(site):
    for page in sorted((site / "zh").rglob("*.html")):
        yield from in_page(page.relative_to(site), page.read_text())
    index = json.loads((site / "zh/search/search_index.json").read_text())
    yield from (f"the search does not find {word}" for word in not_found(index, WORDS.read_text().split()))
