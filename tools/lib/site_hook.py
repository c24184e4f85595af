"""What the site needs of MkDocs beyond its settings."""


def on_post_page(output, page, config):
    # The theme has one language for all pages; browsers choose letters, voices and hyphens by this.
    return output.replace('<html lang="en"', '<html lang="zh"', 1) if page.url.startswith("zh/") else output
