"""Replies of judges, and the verdict that a careful reader would write down."""

from __future__ import annotations

import pytest

from creativemath_utils.parsing import parse_verdict, unparsed_reason
from creativemath_utils.reasoning import without_reasoning

INSTRUCTION = (
    "Please output YES if the new solution leads to the same result as the reference solutions; otherwise, output NO."
)

STRICT = [
    # whole words
    ("YES", "YES"),  # the plain case
    ("NO", "NO"),  # the plain case
    ("yes", "YES"),  # case does not matter where the word is the whole reply
    ("no.", "NO"),  # nor does a full stop
    ("  Yes!\n", "YES"),  # white space and an exclamation mark
    ("NOVEL", "UNPARSED"),  # contains NO
    ("NOT NOVEL", "UNPARSED"),  # not in the vocabulary, and never YES
    ("YESTERDAY'S METHOD", "UNPARSED"),  # contains YES
    ("I KNOW IT", "UNPARSED"),  # contains NO
    ("NO-ONE has done this before", "UNPARSED"),  # a hyphenated word
    ("It is a YES-man's solution", "UNPARSED"),  # likewise
    ("NONE", "UNPARSED"),  # begins with NO
    ("YES_IT_IS", "UNPARSED"),  # one token
    # markdown and other wrappings
    ("**NO**", "NO"),  # bold
    ("**Yes**", "YES"),  # bold, mixed case
    ("__NO__", "NO"),  # the other bold
    ("# YES", "YES"),  # a heading
    ("- NO", "NO"),  # a list item
    ("`YES`", "YES"),  # inline code around the verdict alone
    ('"NO"', "NO"),  # quotation marks around the whole reply
    ("(YES)", "YES"),  # brackets
    ("[NO]", "NO"),  # brackets
    ("\\boxed{YES}", "YES"),  # boxed
    ("$\\boxed{\\text{NO}}$", "NO"),  # boxed text in mathematics
    ("\\[\n\\boxed{\\textbf{YES}}\n\\]", "YES"),  # a displayed box
    ("The two results agree, therefore $\\boxed{YES}$.", "YES"),  # a box that ends a sentence
    ("\\text{NO}", "NO"),  # text command alone
    ('{"verdict": "YES"}', "YES"),  # JSON
    ('```json\n{"verdict": "NO", "reason": "the candidate says YES"}\n```', "NO"),  # JSON in a fence; other fields no
    ('Here is it: {"reason": "Output: NO", "answer": "yes"}', "YES"),  # other fields never decide
    ('{"result": {"final verdict": "NO"}}', "NO"),  # nested, with a space in the key
    ('{"reason": "YES"}', "UNPARSED"),  # no field for a verdict
    ("```\nYES\n```", "YES"),  # the whole reply in a fence
    ("<answer>NO</answer>", "NO"),  # tags
    ("I compared both.\n<verdict>\nYES\n</verdict>", "YES"),  # tags over three lines
    ("<b>NO</b>", "NO"),  # HTML
    ("ＹＥＳ", "YES"),  # full-width letters
    ("Output：NO。", "NO"),  # full-width colon and full stop
    ("答案：YES", "YES"),  # a Chinese label
    ("✅ YES", "YES"),  # a sign before it
    ("| Verdict | NO |", "NO"),  # a row of a table
    ("~~YES~~ NO", "NO"),  # struck out
    # labels
    ("Answer - No", "NO"),  # a hyphen as the separator
    ("Output: NO", "NO"),  # a colon
    ("**Verdict:** YES", "YES"),  # bold label
    ("Final decision: **NO**, because step 3 fails.", "NO"),  # with a reason
    ("Final answer: Yes", "YES"),  # mixed case behind a label
    ("Therefore, the final answer is **NO**.", "NO"),  # a label in words
    ("Judgement => YES", "YES"),  # an arrow
    ("FINAL VERDICT NO", "NO"),  # nothing between label and verdict
    ("Is the new solution novel? YES", "YES"),  # the question is the label
    ("Answer: no solution exists", "UNPARSED"),  # "no" is an adjective here
    ("Verdict: NO new idea is used", "UNPARSED"),  # in capitals too
    ("Conclusion: not YES", "UNPARSED"),  # denied
    ("Candidate's answer: YES", "UNPARSED"),  # the candidate's, not the judge's
    ("Initial verdict: YES\nFinal verdict: NO", "NO"),  # only the final one is final
    # a verdict line outranks a sentence, and the last one wins
    ("At first glance YES, the sum matches. But step 3 divides by zero.\nOutput: NO", "NO"),  # turned round
    ('The candidate writes "YES, it is shown". It is not.\nNO', "NO"),  # quotes the candidate's YES
    ("Output: NO\nThe YES of the candidate is not justified.", "NO"),  # a word in a later sentence is outranked
    ("Output: YES\nLet me check step 3 once more: it divides by zero.\nOutput: NO", "NO"),  # reconsidered
    ("YES\n\nThe methods are the same, only the letters were changed.\n\nNO", "NO"),  # the last explicit verdict
    ("YES, the sum matches.\nOutput: NO", "NO"),  # the label outranks the opening
    ("NO\nNO", "NO"),  # said twice
    ("Output: YES\nOutput: NO", "UNPARSED"),  # two final lines contradict
    ("Verdict: NO\n\nFinal answer: YES", "UNPARSED"),  # likewise
    ("Verdict: YES. Verdict: NO.", "UNPARSED"),  # on one line
    ("YES\nNO", "UNPARSED"),  # likewise
    ("Output: YES\nOn reflection, my answer is NO.", "UNPARSED"),  # taken back in a sentence
    ("YES, it is novel.\nNO, it is known.", "UNPARSED"),  # two openings contradict
    # sentences
    ("YES, the new solution leads to the same result as the references.", "YES"),  # the usual form
    ("**NO**. The new solution divides by zero.", "NO"),  # the usual form, bold
    ("No, because the reference gives 41.", "NO"),  # capital letter at the head of the reply
    ("Yes. Both give 41.", "YES"),  # likewise
    ("YES - the two answers agree", "YES"),  # a dash
    ("YES the results agree", "YES"),  # nothing between
    ("NO the results differ", "NO"),  # NO before the beginning of a reason
    ("The results agree, so YES.", "YES"),  # the conclusion of a sentence
    ("I would say NO.", "NO"),  # the judge's own words
    ("Both give 41, so the answer is yes.", "YES"),  # small letters behind "the answer is"
    ("YES, the start is sound. In the end the answer is NO.", "NO"),  # the last explicit verdict
    ("Looks like YES at step 1, but step 2 fails, so NO.", "NO"),  # the sentence turns round
    ("It is a YES. It is a NO.", "UNPARSED"),  # no sign which one holds
    ("The answer for the new solution is NO.", "NO"),  # "solution" alone does not make it the candidate's word
    ("There is no doubt that the proof works.", "UNPARSED"),  # everyday "no"
    ("Then, yes, we see that the sum is 41.", "UNPARSED"),  # everyday "yes"
    ("yes, we see that the sum is 41", "UNPARSED"),  # likewise at the head
    ("No problem, I will compare them.", "UNPARSED"),  # an idiom
    ("No. 5 of the list is used.", "UNPARSED"),  # numero
    ("THERE IS NO DIFFERENCE BETWEEN THEM", "UNPARSED"),  # capitals throughout
    ("Segment NO is perpendicular to AB.", "UNPARSED"),  # geometry
    ("The line meets $NO$ at P.", "UNPARSED"),  # geometry in mathematics
    # denied, conditional, offered
    ("This is not YES.", "UNPARSED"),  # denied
    ("It isn't a YES.", "UNPARSED"),  # denied
    ("Neither YES nor NO.", "UNPARSED"),  # both denied
    ("It is not a YES, it is a NO.", "NO"),  # one denied, one said
    ("I don't think the answer is YES.", "UNPARSED"),  # denied at a distance
    ("YES or NO", "UNPARSED"),  # a choice
    ("YES/NO", "UNPARSED"),  # a choice
    ("**YES** or **NO**?", "UNPARSED"),  # a question
    ("Is it YES?", "UNPARSED"),  # a question
    ("Yes and no.", "UNPARSED"),  # both
    ("If the last step were right, the answer would be YES.", "UNPARSED"),  # a condition
    ("YES if the step holds.", "UNPARSED"),  # a condition
    ("A generous reader might say YES.", "UNPARSED"),  # not this judge
    ("1. Different method: YES\n2. Different steps: NO", "UNPARSED"),  # two criteria, no verdict
    (INSTRUCTION, "UNPARSED"),  # an echo
    (f"{INSTRUCTION}\n\nNO", "NO"),  # an echo, then the verdict
    (f"**Task.** {INSTRUCTION}\nOutput: YES", "YES"),  # likewise
    ('I should output "YES" if it is novel; otherwise, "NO".', "UNPARSED"),  # an echo in other words
    # what never decides
    ("<think>It is a YES.\nYES</think>\nNO", "NO"),  # reasoning
    ("<think>YES\nOutput: YES", "UNPARSED"),  # reasoning never closed
    ("I lean to YES\n</think>\n\nNO", "NO"),  # reasoning never opened
    ("<think>NO</think>", "UNPARSED"),  # nothing but reasoning
    ("> YES\n\nThe quoted line is unproven.", "UNPARSED"),  # a block quotation
    ("```python\nprint('YES')\nYES\n```\nThe program fails.", "UNPARSED"),  # code
    ("```\nYES\n```\nNO", "NO"),  # code, then the verdict
    ("The candidate concludes: YES.", "UNPARSED"),  # the candidate's word
    ('The solution ends with "YES".', "UNPARSED"),  # likewise
    ("The candidate's final verdict is YES, which is not proven.", "UNPARSED"),  # likewise
    # nothing
    ("", "UNPARSED"),  # empty
    (None, "UNPARSED"),  # no text
    ("I'm unable to judge this.", "UNPARSED"),  # refusal
    ("word " * 30, "UNPARSED"),  # thirty words without a verdict
]


@pytest.mark.parametrize(("reply", "verdict"), STRICT)
def test_strict(reply, verdict):
    assert parse_verdict(reply) == verdict
    assert (unparsed_reason(reply) is None) == (verdict != "UNPARSED")


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("YES", "YES"),  # agrees with the strict rule
        ("yes", "NO"),  # only capitals count
        ("YESTERDAY'S METHOD", "YES"),  # a substring counts
        ("Output: NO, though the candidate says YES", "YES"),  # anywhere
        ("NOT NOVEL", "NO"),  # all else
        ("", "NO"),  # all else
        (None, "NO"),  # all else
    ],
)
def test_release_rule(reply, verdict):
    assert parse_verdict(reply, rule="release") == verdict


def test_release_rule_reads_truncated_replies():
    assert parse_verdict("YES, beca", "length", rule="release") == "YES"


def test_unknown_rule():
    with pytest.raises(ValueError, match="relaxed"):
        parse_verdict("YES", rule="relaxed")


@pytest.mark.parametrize("finish_reason", ["length", "max_tokens", "MAX_TOKENS", "content_filter"])
def test_truncated_reply_has_no_verdict(finish_reason):
    assert parse_verdict("Output: YES\nHowever", finish_reason) == "UNPARSED"  # what followed may take it back
    assert unparsed_reason("Output: YES\nHowever", finish_reason) == "truncated"


@pytest.mark.parametrize("finish_reason", ["stop", "end_turn", None])
def test_complete_reply(finish_reason):
    assert parse_verdict("Output: YES", finish_reason) == "YES"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),  # nothing
        (None, "empty"),  # no text
        (" \n", "empty"),  # white space
        ("<think>It could be.</think>", "empty"),  # nothing behind the reasoning
        ("I'm unable to judge this.", "refusal"),  # says so
        ("I’m sorry, but I cannot help with that.", "refusal"),  # curly apostrophe
        ("Output: YES\nOutput: NO", "contradiction"),  # both
        ("It is a YES. It is a NO.", "contradiction"),  # both
        ("The methods have much in common.", "no verdict"),  # takes no side
        (INSTRUCTION, "no verdict"),  # only the question
        ("NO", None),  # there is a verdict
    ],
)
def test_unparsed_reason(reply, reason):
    assert unparsed_reason(reply) == reason


def test_refusal_with_a_verdict_is_a_verdict():
    assert parse_verdict("I cannot verify step 3.\nOutput: NO") == "NO"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a<think>b</think>c", "a\nc"),  # a closed block
        ("a<think>b", "a"),  # never closed
        ("b</think>c", "c"),  # never opened
        ("<think>a<think>b</think>c</think>d", "d"),  # one inside another
        ("if a < think then", "if a < think then"),  # no tag
    ],
)
def test_without_reasoning(text, rest):
    assert without_reasoning(text) == rest
