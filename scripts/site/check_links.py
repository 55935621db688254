# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Checks a site on disk: every link, image, style and script of every page leads to a file of the site, every anchor to an id.

Anchors between pages of the folder `foreign` are its generator's own matter: Doxygen 1.9.4 writes some to members that it leaves out.
"""

import argparse
import html.parser
import pathlib
import sys
import urllib.parse

ATTRIBUTES = {"a": "href", "img": "src", "script": "src", "link": "href", "object": "data", "iframe": "src"}


class Page(html.parser.HTMLParser):
    """The ids and links of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), set()
        self.feed(path.read_text(errors="replace"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        link = attributes.get(ATTRIBUTES.get(tag, ""))
        if link:
            self.links.add(link)


def problems_of(site, foreign):
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            where = f"{path.relative_to(site)}: {link}"
            if not target.is_file():
                yield f"{where}: leads to no file"
            elif foreign and path.is_relative_to(site / foreign) and target.is_relative_to(site / foreign):
                continue
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
                yield f"{where}: there is no such anchor"


def check(site, foreign=None):
    """The problems, and how many pages there are."""
    site = site.resolve()
    return list(problems_of(site, foreign)), sum(1 for _ in site.rglob("*.html"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--foreign", help="folder of the site that another generator wrote")
    args = parser.parse_args()
    problems, pages = check(args.site, args.foreign)
    for problem in problems:
        print(f"site: {problem}", file=sys.stderr)
    print(f"site: {pages} pages, {len(problems)} broken links")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
