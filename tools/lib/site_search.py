"""One search for each language: the Chinese pages have an index of their own.

The theme loads the index from search/ in the folder that it takes for the site. For Chinese pages that is zh/.
"""
import json
import re

CHINESE = "zh/"
BASE = re.compile(r'("base": ?")([^"]*)"')
ONLY_ENGLISH = 1e-9  # the weight of a page that has no Chinese twin: it comes after all that are Chinese


def folder_below(base):
    """From a page in zh/ to zh/, where `base` leads from it to the site."""
    if base == "..":
        return "."
    if base.startswith("../"):
        return base.removeprefix("../")
    raise SystemExit(f"site: a Chinese page is not below the site, but at {base}")


def of_its_own(page):
    """The same page with the search of the Chinese pages."""
    found, count = BASE.subn(lambda base: f'{base[1]}{folder_below(base[2])}"', page, count=1)
    if not count:
        raise SystemExit("site: the theme does not say any more where its search is")
    return found


def parted(docs):
    """What either search finds: the English one what is English; the Chinese one also pages that are in English only, after the others."""
    english = [doc for doc in docs if not doc["location"].startswith(CHINESE)]
    chinese = [{**doc, "location": doc["location"].removeprefix(CHINESE)} for doc in docs if doc["location"].startswith(CHINESE)]
    translated = {doc["location"].partition("#")[0] for doc in chinese}
    others = [{**doc, "location": "../" + doc["location"], "boost": ONLY_ENGLISH} for doc in english
              if doc["location"].partition("#")[0] not in translated]
    return english, chinese + others


def write(folder, index):
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(index, separators=(",", ":"))
    (folder / "search_index.json").write_text(text)
    (folder / "search_index.js").write_text(f"var __index = {text}")  # for who reads the site without a server


def split(site):
    index = json.loads((site / "search/search_index.json").read_text())
    english, chinese = parted(index["docs"])
    write(site / "search", {"config": {**index["config"], "lang": ["en"]}, "docs": english})
    write(site / CHINESE / "search", {**index, "docs": chinese})
