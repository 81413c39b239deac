"""Runs the notebook and holds it, and the guide's chapter, to what came out.

The notebook is `docs/notebooks/moescape.ipynb`; `docs/guide/python.md` is the same as Markdown.
With `--write` both are written anew, and without it a difference is an error. The code is also
written to a file for mypy, which is printed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "docs" / "notebooks" / "moescape.ipynb"
CHAPTERS = [ROOT / "docs" / "guide" / "python.md"]
CHINESE = ROOT / "docs" / "zh" / "guide" / "python.md"


def run(code: str, names: dict[str, Any]) -> str:
    """What a cell prints, and its last expression as a notebook shows it."""
    tree = ast.parse(code)
    shown = io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(shown):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if value is not None:
                print(repr(value))
    return shown.getvalue()


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> int:
    text = NOTEBOOK.read_text(encoding="utf-8")
    notebook = json.loads(text)
    names: dict[str, Any] = {"__name__": "__main__"}
    chapter: list[str] = []
    code: list[str] = []
    for count, cell in enumerate(notebook["cells"], start=1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            chapter.append(source)
            continue
        output = run(source, names)
        stream = {"name": "stdout", "output_type": "stream", "text": lines(output)}
        cell["outputs"] = [stream] if output else []
        cell["execution_count"] = None
        chapter.append(f"```python\n{source}\n```")
        if output:
            chapter.append(f"```text\n{output.rstrip()}\n```")
        code.append(source)
    script = Path(sys.argv[-1])
    script.write_text("\n\n".join(code) + "\n", encoding="utf-8")
    wanted = {
        NOTEBOOK: json.dumps(notebook, indent=1, ensure_ascii=False) + "\n",
        CHAPTERS[0]: "\n\n".join(chapter) + "\n",
    }
    if "--write" in sys.argv:
        for path, content in wanted.items():
            path.write_text(content, encoding="utf-8")
    stale = [path for path, text in wanted.items() if path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} isn't what its code gives: --write writes it")
    blocks = [part for part in chapter if part.startswith("```")]
    translated = CHINESE.read_text(encoding="utf-8")
    missing = [block for block in blocks if block not in translated]
    for block in missing:
        print(f"{CHINESE.relative_to(ROOT)} lacks a block of the notebook:\n{block}")
    return 1 if stale or missing else 0


if __name__ == "__main__":
    sys.exit(main())
