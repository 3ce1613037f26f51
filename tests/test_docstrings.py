"""Docstrings of the public classes and functions: complete, typed, alike, and with an example."""

from __future__ import annotations

import inspect
import re

import pytest

import topoi
from topoi import evaluate, rules

MODELS = [
    topoi.LDA,
    topoi.LatentDirichletAllocation,
    topoi.AuthorTopicModel,
    topoi.RelationalTopicModel,
    topoi.LabeledLDA,
    topoi.TopicModel,
]
SEVEN = ["doc_topic_prior", "topic_word_prior", "max_iter", "tol", "n_jobs", "random_state"]
# Parameters whose text differs where a model means something else by them.
OWN_TEXT = {
    "LDA": {"max_iter", "callbacks"},
    "AuthorTopicModel": {"doc_topic_prior"},
    "RelationalTopicModel": set(),
    "LabeledLDA": {"seeds"},
    "TopicModel": {"n_components"},
}


def entries(thing, section):
    """Name to (type, text) of the entries of a numpydoc section."""
    doc = inspect.getdoc(thing) or ""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=\n\n\w[^\n]*\n-+\n|\Z)", doc, re.S | re.M)
    if found is None:
        return {}
    heads = re.findall(
        r"^(\*{0,2}\w[\w, ]*?)(?: : ([^\n]+))?\n((?:    [^\n]*\n?)+)", found[1], re.M
    )
    return {
        name: (kind, " ".join(text.split()))
        for names, kind, text in heads
        for name in names.split(", ")
    }


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_class_documents_every_parameter_with_its_type_and_default(model):
    documented, signature = entries(model, "Parameters"), inspect.signature(model).parameters
    assert list(documented) == list(signature)
    for name, (kind, text) in documented.items():
        default = signature[name].default
        shown = f'"{default}"' if isinstance(default, str) else str(default)
        given = re.search(r"default=(\S+)$", kind)
        assert given is not None, f"{name} : {kind}"
        assert given[1] == shown or float(given[1]) == default, f"{name} : {kind}"
        assert text.endswith(".")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_class_documents_what_it_learns(model):
    attributes = entries(model, "Attributes")
    assert {"components_", "topic_word_", "doc_topic_", "history_", "n_iter_"} <= set(attributes)
    public = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    assert set(public) <= set(attributes)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_what_is_documented_is_learned(model):
    corpus = topoi.Corpus(
        [[2, 1, 0], [0, 1, 2], [1, 0, 1]],
        authors=[["a"], ["b"], ["a"]],
        links=[(0, 1)],
        labels=[["x"], ["y"], ["x"]],
    )
    made = model([topoi.Words(corpus.counts)], 2) if model is topoi.TopicModel else model()
    few = made.set_params(
        max_iter=1, **({"n_components": 2} if hasattr(made, "n_components") else {})
    )
    fitted = few.fit(corpus)
    for name in entries(model, "Attributes"):
        assert name == "feature_names_in_" or hasattr(fitted, name)


def test_shared_parameters_are_described_alike():
    common = entries(topoi.LDA, "Parameters")
    for model in MODELS:
        if model is topoi.LatentDirichletAllocation:  # scikit-learn's parameters
            continue
        for name, described in entries(model, "Parameters").items():
            own = OWN_TEXT[model.__name__] | OWN_TEXT["LDA"]
            if name in common and name not in own:
                assert described == common[name], f"{model.__name__}.{name}"


def test_the_parameters_that_matter_come_first():
    for model in MODELS:
        if model is not topoi.LatentDirichletAllocation:
            names = inspect.signature(model).parameters
            first = [
                name for name in names if names[name].kind is not inspect.Parameter.KEYWORD_ONLY
            ]
            assert list(names)[len(first) :][: len(SEVEN)] == SEVEN
            assert first[-1] in ("n_components", "background_topics")


PUBLIC_MODULES = [
    *(topoi, topoi.datasets, topoi.distributed, evaluate, topoi.formats, topoi.paper, topoi.plot),
    rules,
]
PUBLIC = {
    f"{module.__name__}.{name}": thing
    for module in PUBLIC_MODULES
    for name in module.__all__
    if callable(thing := getattr(module, name))
}
METHODS = {
    f"{thing.__name__}.{name}": method
    for thing in PUBLIC.values()
    if inspect.isclass(thing)
    for name, method in inspect.getmembers(thing, inspect.isfunction)
    if not name.startswith("_")
    and method.__module__.startswith("topoi.")
    and name != "add_to"  # of factors, which models call: `Factor.add_to` describes it
}


def parameters(thing):
    """Names as a docstring gives them."""
    for name, parameter in inspect.signature(thing).parameters.items():
        if name != "self":
            yield f"**{name}" if parameter.kind is parameter.VAR_KEYWORD else name


@pytest.mark.parametrize("module", PUBLIC_MODULES, ids=lambda module: module.__name__)
def test_a_public_module_shows_public_names_only(module):
    assert [name for name in dir(module) if not name.startswith("_")] == sorted(module.__all__)


@pytest.mark.parametrize("thing", PUBLIC.values(), ids=PUBLIC)
def test_there_is_an_example(thing):
    assert re.search(r"^Examples\n-+\n(.*\n)*?>>> ", inspect.getdoc(thing) or "", re.M)


@pytest.mark.parametrize("thing", [*PUBLIC.values(), *METHODS.values()], ids=[*PUBLIC, *METHODS])
def test_every_parameter_is_documented(thing):
    documented = {**entries(thing, "Parameters"), **entries(thing, "Attributes")}
    assert set(parameters(thing)) <= set(documented)
