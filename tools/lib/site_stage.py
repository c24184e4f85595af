"""The folder that MkDocs reads: docs/, the API reference, and the few files elsewhere that pages link to.

Pages are written to be read in the repository, so they link to headers, examples and CONTRIBUTING.md where these lie. A site has to
carry them itself: a header becomes its page of the reference, any other file a page of its own under `code/`.
"""
import os
import pathlib
import posixpath
import re
import shutil

LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
FENCED = re.compile(r"^(```.*?^```)", re.M | re.S)
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".lua": "lua", ".tla": "text", ".sh": "sh"}
HOMES = {"README.md": "index.md", "README.zh-CN.md": "zh/index.md"}
NOT_PAGES = shutil.ignore_patterns("*.py", "comments.json", "__pycache__", "make", "*.dox", "api-*.html")


class Stage:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.wanted = {}  # page under code/ -> the file it shows

    def build(self):
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.copytree(self.root / "docs", self.out, ignore=NOT_PAGES)
        for page in sorted(self.out.rglob("*.md")):
            name = page.relative_to(self.out).as_posix()
            page.write_text(self.relinked(page.read_text(), name, f"docs/{name}"))
        done = set()
        while todo := [w for w in self.wanted if w not in done]:  # a page that is added may want others
            for name in todo:
                done.add(name)
                target = self.out / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(self.shown(name, self.wanted[name]))

    def relinked(self, text, page, source):
        """The page's links as they are in the site; `source` is where the text lies in the repository."""
        parts = FENCED.split(text)  # every second one is code
        for i in range(0, len(parts), 2):
            parts[i] = LINK.sub(lambda m: self.link(m[1], page, source), parts[i])
        return "".join(parts)

    def link(self, target, page, source):
        if re.match(r"[a-z]+:|#", target):
            return target
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if not (self.root / path).exists() and not path.startswith("docs/reference/"):
            return target  # MkDocs will say so
        found = self.place(path)
        return os.path.relpath(found, posixpath.dirname(page) or ".") + (f"#{anchor}" if anchor else "")

    def place(self, path):
        """Where something of the repository is in the site."""
        if path in HOMES:
            return HOMES[path]
        if path.startswith("docs/"):
            inside = path.removeprefix("docs/")
            return f"{inside}/README.md" if (self.root / path).is_dir() else inside
        if path.startswith("include/tyer/"):
            return "reference/" + pathlib.PurePath(path).name.replace("_", "__").replace(".", "_8") + ".html"
        name = f"code/{path}/index.md" if (self.root / path).is_dir() else f"code/{path.removesuffix('.md')}.md"
        self.wanted[name] = path
        return name

    def shown(self, name, path):
        file = self.root / path
        if file.is_dir():
            rows = [f"- [{f.name}]({f.name})" for f in sorted(file.iterdir()) if f.suffix in (".cpp", ".md")]
            return self.relinked(f"# {path}\n\n" + "\n".join(rows) + "\n", name, f"{path}/index.md")
        if file.suffix == ".md":
            return self.relinked(file.read_text(), name, path)
        fence = f"```{LANGUAGES.get(file.suffix, 'text')}\n{file.read_text()}```\n"
        return f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n{fence}"
