# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Sphinx's options for the site of the documents; scripts/site/build.py stages what it reads."""

project = "Systole"
author = "Systole contributors"
copyright = author  # pylint: disable=redefined-builtin
extensions = ["myst_parser"]
root_doc = "index"
nitpicky = True

# The pages are written for GitHub's dialect of Markdown: the same anchors, nothing that only Sphinx reads.
myst_heading_anchors = 4


html_theme = "furo"
html_title = "Systole"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
html_css_files = ["site.css"]
