"""What is wrong with a built site: links and anchors that lead nowhere, and anything that another host would have to send."""
import html.parser
import pathlib
import re
import urllib.parse

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "embed": "src"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        self.anchors.update(has[a] for a in ("id", "name") if has.get(a))
        if tag == "a" and has.get("href"):
            self.links.append(has["href"])
        elif tag == "link" and has.get("href") and has.get("rel") not in ("canonical", "prev", "next", "alternate"):
            self.loads.append(has["href"])
        elif has.get(LOADS.get(tag, "")):
            self.loads.append(has[LOADS[tag]])


def problems(site):
    pages = {p: Page(p) for p in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for url in page.loads + page.links:
            where = urllib.parse.urlsplit(url)
            if where.scheme in ("http", "https") or where.netloc:
                if url in page.loads:
                    yield f"{name}: loads {url} from another host"
                continue
            if where.scheme:  # data:, mailto:, javascript:
                continue
            target = path if not where.path else (path.parent / urllib.parse.unquote(where.path)).resolve()
            if where.path.startswith("/"):
                yield f"{name}: {url} works only at the root of a host"
                continue
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                yield f"{name}: {url} leads nowhere"
            elif where.fragment and target in pages and urllib.parse.unquote(where.fragment) not in pages[target].anchors:
                yield f"{name}: {url} has no such anchor"
    for sheet in sorted(site.rglob("*.css")):
        for url in re.findall(r"(?:url\(|@import)\s*[\"']?(https?:)?//([^\"')]+)", sheet.read_text(encoding="utf-8")):
            yield f"{sheet.relative_to(site)}: loads {url[1]} from another host"


if __name__ == "__main__":
    import sys

    wrong = list(problems(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(wrong) or "site: every link leads somewhere")
    sys.exit(bool(wrong))
