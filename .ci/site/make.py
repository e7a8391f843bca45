"""Makes the site: make.py EXPLORER FOLDER. EXPLORER is the explorer's page. Needs requirements.txt.

Every page is a file of the repository: nothing is written for the site but the list of the package's modules.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
MODULES = {"belsim": "belsim", "torch": "belsim.torch", "sklearn": "belsim.sklearn"}


def copy(docs: Path) -> None:
    """Copies all pages and notebooks, and each file that one of them links to."""
    pages = [p for p in ROOT.rglob("*.md") if not any(part.startswith(".") for part in p.relative_to(ROOT).parts)]
    pages += sorted((ROOT / "notebooks").glob("*.ipynb"))
    wanted: set[Path] = set()
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for _, link, _ in LINK.findall(text):
            target = (page.parent / link).resolve()
            if target.is_file() and target.is_relative_to(ROOT):
                wanted.add(target)
        to = docs / page.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(LINK.sub(lambda found, page=page: link_of_site(page, *found.groups()), text), encoding="utf-8")
    for path in wanted.difference(pages):
        to = docs / path.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)


def link_of_site(page: Path, text: str, link: str, place: str | None) -> str:
    """A link as the site has it: folders have no pages, and mkdocs does not read the links of notebooks."""
    if (page.parent / link).is_dir():
        return text
    if page.suffix == ".ipynb":
        link = re.sub(r"README\.md$", "index.html", link)
        link = re.sub(r"\.(md|ipynb)$", ".html", link)
    return f"[{text}]({link}{place or ''})"


def main() -> None:
    """Builds the site, strictly: a link that leads nowhere is an error."""
    explorer, out = (Path(name).resolve() for name in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder)
        copy(docs)
        for place in (docs, docs / "notebooks"):  # notebook 2 shows it
            shutil.copy(explorer, place / "explorer.html")
        style = """.md-grid { max-width: 82rem }
.md-sidebar { width: 10rem }
.md-typeset pre > code { font-size: 0.75em }
.md-typeset .doc-signature code { white-space: pre-wrap }
.md-typeset math { font-size: 1.15em; margin: 1em 0 }
"""  # room for terminals of 100 columns
        (docs / "site.css").write_text(style, encoding="utf-8")
        (docs / "reference").mkdir()
        for name, module in MODULES.items():
            (docs / "reference" / f"{name}.md").write_text(f"# {module}\n\n::: {module}\n", encoding="utf-8")
        here = Path(__file__).parent
        told = {
            **os.environ,
            "PYTHONPATH": str(here),
            "PYTHONDONTWRITEBYTECODE": "1",
            "BELSIM_DOCS": folder,
            "BELSIM_PACKAGE": str(ROOT / "notebooks"),
            "NO_MKDOCS_2_WARNING": "1",
        }
        config = here / "mkdocs.yml"
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", f"--config-file={config}", f"--site-dir={out}"]
        subprocess.run(command, check=True, env=told)


if __name__ == "__main__":
    main()
