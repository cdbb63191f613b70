# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a page of --explain=html: check_page.py FILE.

Every element is closed in order, every link inside the page has its place, nothing
is loaded from outside, boxes lie inside the picture. Prints the texts of the
pictures, one per line.
"""

import html.parser
import sys

VOID = {"meta"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.texts, self.size = [], set(), [], [], None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert tag not in ("script", "link", "iframe", "img"), tag
        assert "src" not in attributes, attributes
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes and tag != "marker":
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if tag == "a":
            assert not attributes["href"].startswith(("http:", "https:", "//")), attributes
            self.links.append(attributes["href"])
        if tag == "svg":
            self.size = int(attributes["width"]), int(attributes["height"])
        if tag == "rect":
            assert 0 <= int(attributes["x"]) and int(attributes["x"]) + int(attributes["width"]) <= self.size[0]
            assert 0 <= int(attributes["y"]) and int(attributes["y"]) + int(attributes["height"]) <= self.size[1]

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data):
        if self.open and self.open[-1] == "text":
            self.texts.append(data)


page = Page()
with open(sys.argv[1], encoding="utf-8") as file:
    page.feed(file.read())
page.close()
assert not page.open, page.open
for link in page.links:
    assert not link.startswith("#") or link[1:] in page.ids, link
print("\n".join(page.texts))
