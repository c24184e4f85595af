"""What the site needs of MkDocs beyond its settings."""
import pathlib


def pages_in(nav):
    for item in nav if isinstance(nav, list) else nav.values() if isinstance(nav, dict) else [nav]:
        if isinstance(item, str):
            yield item
        else:
            yield from pages_in(item)


def on_config(config):
    # A page that nobody has given a place yet can still be found.
    named = set(pages_in(config.nav))
    new = sorted(p.name for p in pathlib.Path(config.docs_dir).glob("*.md") if p.name not in named)
    if new:
        config.nav.append({"More": new})
    return config


def on_post_page(output, page, config):
    # The theme has one language for all pages; browsers choose letters, voices and hyphens by this.
    return output.replace('<html lang="en"', '<html lang="zh"', 1) if page.url.startswith("zh/") else output
