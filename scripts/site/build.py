# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Builds the site of the documents: the pages of docs/, a page for each RTL module, the C++ reference, the sources that pages link to.

The pages are staged first, so that they may stay as GitHub shows them: a link out of docs/ becomes a link to a listing of that file,
docs/index.md is the table of contents. Any warning of Sphinx or Doxygen and any broken link or anchor fails.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import check_links
import rtl_pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?\)")  # its text may be on the line before
TEXT_NAMES = {"CMakeLists.txt": "cmake", "Makefile": "make", "Doxyfile": "text"}
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".cmake": "cmake", ".py": "python", ".sv": "systemverilog", ".v": "verilog", ".sh": "bash", ".yaml": "yaml",
             ".js": "javascript", ".json": "json", ".xml": "xml", ".html": "html", ".css": "css", ".hlo": "text"}
PICTURES = {".svg", ".png"}
MAX_LISTING = 400_000  # bytes
CPP = "cpp"  # folder of the C++ reference


class SiteError(Exception):
    """A page that cannot be built."""


class Stage:
    """Writes pages below `folder`, and those that they link to."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.done = {}  # path of the project -> path below the folder

    def target(self, path):
        """Where a file or folder of the project is on the site, as it is staged."""
        path = path.resolve()
        if not path.is_relative_to(self.root) or not path.exists():
            raise SiteError(f"{path} is not a file of the project")
        if path not in self.done:
            name = path.relative_to(self.root)
            if name.parts[0] == "docs" and path.suffix in {".md", *PICTURES}:
                self.done[path] = pathlib.Path(*name.parts[1:])
            elif path.suffix == ".md" and len(name.parts) == 1:
                self.done[path] = pathlib.Path(name.name)
            else:
                self.done[path] = pathlib.Path("source") / (name if path.suffix in {".md", *PICTURES} else f"{name}.md")
            self.write(path, self.folder / self.done[path])
        return self.done[path]

    def write(self, path, output):
        output.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in PICTURES:
            shutil.copyfile(path, output)
        elif path.suffix == ".md":
            output.write_text(self.rewrite(path, output))
        elif path.is_dir():
            output.write_text(self.listing(path, output))
        else:
            self.write_source(path, output)

    def write_source(self, path, output):
        title = f"---\norphan: true\n---\n\n# {path.relative_to(self.root)}\n\n"
        text = path.read_text(errors="replace") if path.stat().st_size <= MAX_LISTING else ""
        if "\0" in text or not text.strip():
            output.write_text(f"{title}{path.stat().st_size} bytes that are no text, or too many to show.\n")
            return
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        language = TEXT_NAMES.get(path.name) or LANGUAGES.get(path.suffix, "text")
        output.write_text(f"{title}{fence}{language}\n{text.rstrip()}\n{fence}\n")

    def listing(self, path, output):
        readme = path / "README.md"
        out = [f"---\norphan: true\n---\n\n# {path.relative_to(self.root)}\n"]
        if readme.exists():
            out.append(f"[{readme.name}]({self.link(readme, output)})\n")
        for item in sorted(path.iterdir()):
            if item.is_file() and item != readme:
                out.append(f"- [{item.name}]({self.link(item, output)})")
        return "\n".join(out) + "\n"

    def link(self, path, output):
        return os.path.relpath(self.folder / self.target(path), output.parent)

    def rewrite(self, path, output):
        """The page with links as they are on the site; what stands in code stays."""
        out, fence = [], None
        for line in path.read_text().splitlines():
            mark = re.match(r"\s*(`{3,}|~{3,})", line)
            if mark and (fence is None or line.strip().startswith(fence)):
                fence = mark[1] if fence is None else None
            elif fence is None:
                line = LINK.sub(lambda m: self.rewrite_link(m, path, output), line)
            out.append(line)
        if not path.is_relative_to(self.root / "docs"):
            out.insert(0, "---\norphan: true\n---\n")
        return "\n".join(out) + "\n"

    def rewrite_link(self, match, path, output):
        before, link, anchor = match.groups()
        if re.match(r"\w+:", link):
            return match[0]
        try:
            return f"{before}{self.link(path.parent / link, output)}{anchor or ''})"
        except SiteError as error:
            raise SiteError(f"{path.relative_to(self.root)}: link to {link}: {error}") from error


def contents(text):
    """docs/index.md with a table of contents for Sphinx behind each of its sections: the pages that its list links to."""
    out = []
    for section in re.split(r"(?m)^(?=## )", text):
        out.append(section.rstrip() + "\n")
        pages = [page.removesuffix(".md") for page in re.findall(r"^- \[[^\]]*\]\(([\w./-]+\.md)\)", section, re.M)]
        if section.startswith("## ") and pages:
            caption = section.splitlines()[0].removeprefix("## ")
            out.append("```{toctree}\n:hidden:\n:caption: " + caption + "\n\n" + "\n".join(pages) + "\n```\n")
    return "\n".join(out)


def stage(root, folder):
    shutil.rmtree(folder, ignore_errors=True)
    staged = Stage(root, folder)
    for page in sorted((root / "docs").rglob("*.md")):
        staged.target(page)
    texts, index = rtl_pages.pages(root)
    (folder / "rtl").mkdir()
    for name, text in texts.items():
        (folder / "rtl" / f"{name}.md").write_text(text)
    for path in sorted((root / "rtl").rglob("*.sv")):
        staged.target(path)
    (folder / "rtl" / "index.md").write_text(index)
    main_page = folder / "index.md"
    generated = ("## Generated reference\n\n- [RTL modules](rtl/index.md): header comments, parameters and ports.\n"
                 "- <a href=\"cpp/index.html\">C++ interface</a>: the headers of the host, the simulators and the test bench.\n")
    main_page.write_text(contents(main_page.read_text() + "\n" + generated))


def run(command, root, **options):
    result = subprocess.run([str(part) for part in command], cwd=root, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode:
        raise SiteError(f"{pathlib.Path(command[0]).name} failed:\n{result.stdout.rstrip()}")


def doxygen(root, folder, site):
    """The C++ reference; what Doxygen wrote stays in `folder` as long as the headers do."""
    sources = [root / "scripts/site/Doxyfile", root / "scripts/site/doxygen_filter.py",
               *sorted(path for name in ("host", "sim", "verif") for path in (root / name).rglob("*.h"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp = folder / "stamp"
    if not stamp.exists() or stamp.read_text() != digest:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run(["doxygen", "-"], root, input=f'{sources[0].read_text()}\nOUTPUT_DIRECTORY = "{folder}"\nHTML_OUTPUT = cpp\n')
        stamp.write_text(digest)
    shutil.copytree(folder / "cpp", site / "cpp")


def sphinx(root, folder, site):
    config = root / "scripts/site"
    (folder / "_static").mkdir(exist_ok=True)
    shutil.copyfile(config / "site.css", folder / "_static" / "site.css")
    run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2", "-b", "html", "-c", config, "-D", "html_static_path=" + str(folder / "_static"),
         "-d", folder.parent / "site_doctrees", folder, site], root)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="root of the project")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="build folder; the site is in its folder site")
    parser.add_argument("--no-cpp", action="store_true", help="without the C++ reference: links to it are not checked")
    args = parser.parse_args()

    root, build = args.root.resolve(), args.build.resolve()
    folder, site = build / "site_pages", build / "site"
    try:
        stage(root, folder)
        shutil.rmtree(site, ignore_errors=True)
        site.mkdir(parents=True)
        sphinx(root, folder, site)
        if not args.no_cpp:
            doxygen(root, build / "site_cpp", site)
    except (SiteError, rtl_pages.HeaderError, OSError) as error:
        print(f"site: {error}", file=sys.stderr)
        return 1
    problems, pages = check_links.check(site, CPP)
    if args.no_cpp:
        problems = [problem for problem in problems if f": {CPP}/" not in problem]
    for problem in problems:
        print(f"site: {problem}", file=sys.stderr)
    print(f"site: {pages} pages, {len(problems)} broken links: {site / 'index.html'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
