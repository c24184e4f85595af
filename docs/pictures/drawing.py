"""Pictures as plain SVG: as wide as a phone, readable on light and dark pages, with words in English or Chinese."""
import html

WIDTH = 440  # in a page of 390 px a letter of 14 is still one of 11

STYLE = """
    .paper { fill: #fbfaf7; } .ink { fill: #1f2430; } .quiet { fill: #5b6270; } .on { fill: #ffffff; }
    .box { fill: #ffffff; stroke: #8b93a3; } .mine { fill: #2f5fb3; } .theirs { fill: #8a6420; } .gone { fill: #b3392f; } .good { fill: #2c7a4b; }
    .soft { fill: #e7ebf3; } .gap { fill: #f3dcd8; } .line { stroke: #5b6270; fill: none; } .faint { stroke: #b9c0cc; fill: none; } .head { fill: #5b6270; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #1b2130; } .ink { fill: #e8ebf2; } .quiet { fill: #a9b2c4; } .box { fill: #262e41; stroke: #7d879b; }
      .mine { fill: #4d7fd6; } .theirs { fill: #a97f35; } .gone { fill: #d0574c; } .good { fill: #3f9a63; } .soft { fill: #2c3549; } .gap { fill: #4d2f30; }
      .line { stroke: #a9b2c4; } .faint { stroke: #4a5468; } .head { fill: #a9b2c4; }
    }
"""
FONTS = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'DejaVu Sans', sans-serif"


class Drawing:
    def __init__(self, title, height, words):
        self.height, self.words, self.parts, self.title = height, words, [], title

    def say(self, text):
        """The words in the picture's language; `words` has every one of them, or is empty for English."""
        return html.escape(self.words[text] if self.words else text, quote=False)

    def text(self, x, y, text, kind="ink", size=14, anchor="start", bold=False):
        weight = ' font-weight="600"' if bold else ""
        for i, line in enumerate(self.say(text).split("\n")):
            self.parts.append(f'<text x="{x}" y="{y + i * (size + 4)}" class="{kind}" font-size="{size}" text-anchor="{anchor}"{weight}>{line}</text>')

    def box(self, x, y, w, h, kind="box", text=None, words="ink", size=14, bold=False):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="5" class="{kind}"/>')
        if text:
            lines = self.say(text).count("\n")
            self.text(x + w / 2, y + h / 2 + size * 0.36 - lines * (size + 4) / 2, text, words, size, "middle", bold)

    def line(self, *points, kind="line", dashed=False, arrow=False):
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        extra = (' stroke-dasharray="4 4"' if dashed else "") + (' marker-end="url(#head)"' if arrow else "")
        self.parts.append(f'<path d="{path}" class="{kind}" stroke-width="1.6"{extra}/>')

    def lanes(self, names, top, bottom):
        """The life lines of a sequence; gives their x by name."""
        step = WIDTH / len(names)
        xs = {name: step * (i + 0.5) for i, name in enumerate(names)}
        for name, x in xs.items():
            self.line((x, top + 30), (x, bottom), kind="faint", dashed=True)
            self.box(x - step / 2 + 5, top, step - 10, 30, "soft", name, size=13, bold=True)
        return xs

    def message(self, y, start, end, text, dashed=False, drop=10):
        """An arrow, and its words above the middle of it."""
        self.text((start + end) / 2, y - 7, text, size=13, anchor="middle")
        self.line((start, y), (end, y + drop), dashed=dashed, arrow=True)

    def svg(self):
        title = self.say(self.title)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" height="{self.height}" role="img" font-family="{FONTS}">',
            f"  <title>{title}</title>",
            f"  <style>{STYLE}  </style>",
            '  <defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
            '<path d="M0 0 L10 5 L0 10 z" class="head"/></marker></defs>',
            f'  <rect width="{WIDTH}" height="{self.height}" rx="8" class="paper"/>',
            *(f"  {p}" for p in self.parts),
            "</svg>", ""])
