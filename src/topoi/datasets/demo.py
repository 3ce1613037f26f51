"""The demo corpus: the docstrings of NumPy, SciPy and scikit-learn as they are installed here.

Real text, and no network.

Each public function or class is a document; its "See Also" section holds links, its subpackage is
its label, and the authors cited under "References" are its authors.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus

__all__ = ["docstring_corpus"]

PACKAGES = ("numpy", "scipy", "sklearn")
SKIPPED = re.compile(
    r"(\._|\.tests?\b|\.testing\b|\.testutils\b|\.dfitpack\b|\.externals\b|\.conftest"
    r"|\.setup\b|\.f2py\b|\.distutils\b|\.misc\b|\.experimental\b|\.typing\b|\.core\b"
    r"|\.compat)"
)
EXPERIMENTAL = "is still **experimental**"
MIN_WORDS = 30
JOURNALS = (
    "Acad Amer Appl Assoc Biol Comp Comput Eng Math Numer Phys Proc Res Roy Sci Soc Stat Statist"
)
STOP = """
array arrays array_like arr ndarray numpy scipy sklearn scikit learn np sp default optional
parameter parameters param params returns return returned attribute attributes method methods
function functions func object objects instance class classes dtype int float bool str string none
true false shape examples example notes note see also type types value values given used use using
set sets new version versionadded versionchanged deprecated added changed ref references doc import
print axis input output element elements number order name names specified case called passed result
results n_samples n_features self kwargs args callable optionally must keyword argument arguments
routing metadata estimator estimators fit request requests scalar following data tuple list dict
like
"""


def docstring_corpus(min_df: int = 8, max_df: float = 0.2) -> Corpus:
    """The corpus.

    Words in fewer than `min_df` documents, or in more than the proportion `max_df`, are left out.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

    found = list(_documents())
    texts = [_prose(text) for _, text in found]
    stop = sorted(ENGLISH_STOP_WORDS.union(STOP.split()))
    vectorizer = CountVectorizer(
        stop_words=stop, min_df=min_df, max_df=max_df, token_pattern=r"(?u)\b[a-zA-Z][a-z]{2,}\b"
    )
    counts = sparse.csr_array(vectorizer.fit_transform(texts))
    names = [name for name, _ in found]
    return Corpus(
        counts.astype(np.float64),
        vectorizer.get_feature_names_out().tolist(),
        authors=[_cited_authors(text) for _, text in found],
        links=_see_also(names, [text for _, text in found]),
        labels=[
            [".".join(name.split(".")[:2]) if name.count(".") > 1 else name.split(".")[0]]
            for name in names
        ],
        doc_names=names,
        vectorizer=vectorizer,
        texts=texts,
    )


def _documents() -> Iterator[tuple[str, str]]:
    """(qualified name, docstring) of every public function and class, each docstring once."""
    seen: set[str] = set()
    for module in _modules():
        for name in sorted(getattr(module, "__all__", ())):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # deprecated namespaces
                try:
                    thing = getattr(module, name, None)
                except (
                    ImportError
                ):  # scikit-learn's experimental parts, unless somebody has enabled them
                    continue
            text = inspect.getdoc(thing) if callable(thing) else None
            if (
                text
                and EXPERIMENTAL not in text
                and text not in seen
                and len(text.split()) >= MIN_WORDS
            ):
                seen.add(text)
                yield f"{module.__name__}.{name}", text


def _modules() -> Iterator[ModuleType]:
    """Public modules of the packages, three levels deep.

    What cannot be imported here is passed over.
    """
    for package in PACKAGES:
        names = [package]
        for depth in range(3):
            for name in [n for n in names if n.count(".") == depth]:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        module = import_module(name)
                    except Exception:  # an optional part of another package may fail in any way
                        continue
                children = [
                    f"{name}.{m.name}"
                    for m in iter_modules(getattr(module, "__path__", ()))
                    if not SKIPPED.search(f"{name}.{m.name}")
                ]
                names += sorted(child for child in children if child not in names)
                yield module


def _prose(text: str) -> str:
    """A docstring without code, formulas, references and links."""
    text = re.split(r"\n(?:References|See Also|Examples)\n-+\n", text)[0]
    lines = [
        line for line in text.splitlines() if not line.lstrip().startswith((">>>", "...", ".."))
    ]
    return re.sub(r"`[^`]*`|:\w+:|\$[^$]*\$|[\w.]+\(", " ", "\n".join(lines))


def _section(text: str, title: str) -> str:
    match = re.search(
        rf"\n{title}\n-+\n(.*?)(?=\n[A-Z][\w ]+\n-{{3,}}\n|\Z)", text, flags=re.DOTALL
    )
    return match.group(1) if match else ""


def _cited_authors(text: str) -> list[str]:
    """Names such as "J. W. Tukey", "John W. Tukey" or "Tukey, J. W." in the references, as
    "J Tukey".
    """
    section = _section(text, "References")
    given = r"\b([A-Z])(?:[a-z]+(?: [A-Z]\.)+|\.(?:[ -]?[A-Z]\.)*)"
    first = re.findall(given + r"\s?([A-Z][a-z]{2,})\b", section)
    last = re.findall(r"\b([A-Z][a-z]{2,}),\s([A-Z])\.", section)
    people = [*first, *((initial, name) for name, initial in last)]
    return sorted({f"{initial} {name}" for initial, name in people if name not in JOURNALS.split()})


def _see_also(names: list[str], texts: list[str]) -> np.ndarray:
    """(m, 2) pairs of documents joined by a "See Also" section."""
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(name.rsplit(".", 1)[1], []).append(i)
    pairs: set[tuple[int, int]] = set()
    for i, text in enumerate(texts):
        for line in _section(text, "See Also").splitlines():
            for word in (
                re.findall(r"[\w.]+", line.split(":")[0])
                if line and not line.startswith(" ")
                else ()
            ):
                targets = [j for j in places.get(word.rsplit(".", 1)[-1], ()) if j != i]
                near = [
                    j for j in targets if names[j].split(".")[:2] == names[i].split(".")[:2]
                ] or targets
                pairs.update((i, j) for j in near[:1])
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
