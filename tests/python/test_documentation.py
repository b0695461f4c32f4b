"""Runs the Python examples of the documentation and of the docstrings."""

import doctest
import pathlib
import re
import traceback

import pytest
import declared
import tenon

ROOT = pathlib.Path(__file__).resolve().parents[2]
# docs/dask.md runs in dask_chunks.py.
PAGES = [page.relative_to(ROOT).as_posix() for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
         if "\n>>> " in page.read_text(encoding="utf-8") and page.name != "dask.md"]  # fmt: skip
ENGLISH = "docs/broadcasting.md"
TRANSLATIONS = [page for page in PAGES if page.startswith("docs/broadcasting.") and page != ENGLISH]


@pytest.fixture(autouse=True)
def errors_without_notes(monkeypatch):
    """Removes notes from errors: doctest compares the last line of an error, which could be a note."""

    class Traceback:
        def __getattr__(self, name):
            return getattr(traceback, name)

        def format_exception_only(self, kind, value):
            value.__notes__ = []
            return traceback.format_exception_only(kind, value)

    monkeypatch.setattr(doctest, "traceback", Traceback())


@pytest.mark.parametrize("page", PAGES)
def test_page(page, root):
    if page == "docs/python.md":
        pytest.importorskip("numpy")
    results = doctest.testfile(str(root / page), module_relative=False, encoding="utf-8")
    assert results.failed == 0 and results.attempted > 0


def examples(text):
    """The code of a page without comments, because comments are translated."""
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    return [re.sub(r" +# .*", "", block) for block in blocks]


@pytest.mark.parametrize("page", TRANSLATIONS)
def test_translations_have_the_same_examples(page, root):
    english = (root / ENGLISH).read_text(encoding="utf-8")
    assert examples((root / page).read_text(encoding="utf-8")) == examples(english)


def test_docstrings():
    results = doctest.testmod(tenon)
    assert results.failed == 0 and results.attempted > 1


def test_help_is_readable():
    for name in declared.NAMES:
        doc = declared.function(name).__doc__
        assert name + "(" in doc and len(doc.strip().splitlines()) >= 3, name
        assert doc.strip().splitlines()[-1].endswith("."), name
    assert "add(Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None)" in tenon.add.__doc__
