"""An extension of Markdown: examples of docstrings, lines from >>> to an empty one, are code."""

from typing import Any

from markdown import Extension
from markdown.preprocessors import Preprocessor


class _Examples(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        """The lines, with fences around the examples that have none."""
        out: list[str] = []
        fenced = example = False
        for line in lines:
            if line.lstrip().startswith("```"):
                fenced = not fenced
            if not fenced and not example and line.startswith(">>> "):
                out.append("```pycon")
                example = True
            elif example and not line.strip():
                out.append("```")
                example = False
            out.append(line)
        return [*out, "```"] if example else out


class _Extension(Extension):
    def extendMarkdown(self, md: Any) -> None:  # noqa: N802
        """Before all that reads fences."""
        md.preprocessors.register(_Examples(md), "doctests", 100)


def makeExtension(**options: Any) -> Extension:  # noqa: N802
    """What Markdown calls."""
    return _Extension(**options)
