r"""Replies in the many forms that judges give them, by kind, with the verdict that a careful reader would write down.

`test_verdicts.py` holds the rules one by one; here are the kinds in which replies were once read wrongly, or could be.
"""

from __future__ import annotations

import time

import pytest

from creativemath_utils.parsing import parse_verdict, unparsed_reason
from creativemath_utils.reasoning import split_reasoning

Y, N, U = "YES", "NO", "UNPARSED"
PROMPT = "Please output YES if the new solution is a novel solution; otherwise, output NO."

KINDS = {
    # the verdict comes after answers to questions of the judge's own; those are no verdicts
    "sub-questions, then a verdict": [
        ("1. Method different? No.\n2. Steps vary? Yes.\n3. Simpler? No.\n\nFinal verdict: NO", N),
        ("Different from Solution 1? YES\nDifferent from Solution 2? NO\nFinal Answer: NO", N),
        ("Q1: Same answer? YES\nQ2: Same method? YES\nVerdict (novel?): NO", N),
        ("Correct? Yes\nNovel? No\n\nNO", N),
        ("Same method: YES\nNovel: NO", N),
        ("Errors found: NO\nOutput: YES", Y),
        ("Is there a mistake?\nNO\n\nDo the results agree?\nYES\n\nFinal answer:\nYES", Y),
        ("Correctness: YES. Novelty: NO. Final: NO", N),
        ("I need to check if it gives 120.\n\n5! = 120. Yes. It says 112. No.\n\nSo they do not agree.\n\nNO", N),
        ("| Criterion | Met? |\n|---|---|\n| Method | NO |\n| Steps | YES |\n| **Verdict** | **NO** |", N),
        ("- Criterion 1: YES\n- Criterion 2: YES\n- Criterion 3: NO\n\nOutput: YES", Y),
    ],
    # ... and without a verdict behind them there is none
    "sub-questions alone": [
        ("Different from Solution 1? YES\nDifferent from Solution 2? NO", U),
        ("Solution 1 → different (YES)\nSolution 2 → same (NO)", U),
        ("| Criterion | Met? |\n|---|---|\n| Method | NO |\n| Steps | YES |", U),
        ("Correctness: YES. Novelty: NO.", U),
        ("It says $n = 7$. Is that what the reference says? Yes.", U),
        ("Judge 1: YES\nJudge 2: NO\nJudge 3: YES", U),
        ("YES: 30%, NO: 70%", U),
    ],
    # YES to the contrary of the question, or to one criterion, is not YES
    "inverted": [
        ("Not novel: YES", U),
        ("Non-novel: YES", U),
        ("Lack of novelty: YES", U),
        ("Incorrect: YES", U),
        ("Same method: YES", U),
        ("Copy of Solution 2: YES", U),
        ("Errors found: NO", U),
        ("Simpler: NO", U),
        ("Is the new solution a copy? YES", U),
        ("Is the new solution the same as Solution 1?\nYES", U),
        ("Are there any mistakes? NO", U),
        ("Do the results differ? YES", U),
        ("Is the new solution not novel? YES", U),
        ("Is the answer NO? Yes.", U),
        ("Not novel? Yes.", U),
        ("Is it known rather than novel? YES", U),
        ("Does the new solution fail to lead to the same result? NO", U),
        ("Is the claim of novelty unjustified? YES", U),
        ("Different result: YES", U),
        ("Duplicate: NO", U),
        ("Restatement of Solution 1: YES", U),
        ("Not novel (YES)", U),
        ("NOT NOVEL - YES", U),
        ("The results do not match: YES", U),
        ("The new solution is not novel (NO).", N),
        ("The new solution does not use the method of Solution 1, so it is novel. YES", Y),
        ("Do both results match? YES", Y),  # this is the question that was asked
        ("Is it novel?\nNO", N),
        ("It uses the same method: NO", N),  # a sentence, no label
        ("Same approach as Reference 1, so: NO", N),
    ],
    # where the label stands on a line of its own, its line is the next one
    "labels": [
        ("**Verdict**\nNo – same method.", N),
        ("### Answer\nYes, both give 7.", Y),
        ("Output:\nNo, the method is the same.", N),
        ("Answer:\nNo new ideas.", U),
        ("Novel (yes/no): no", N),
        ("Options: YES, NO\nChoice: NO", N),
        ("Result: NO ✗", N),
        ("Verdict: NO under the strict reading of criterion 2.", N),
        ("Verdict: NO new idea is used", U),
        ("Final Decision: Not novel → NO", N),
        ("Verdict: NOT NOVEL", U),
        ("NO (not novel)", N),
        ("**Answer:** NO\n\n**What would make it YES?** A different method.", N),
        ("NO [1]\n\n[1] See Solution 1.", N),
        ("NO is the answer.", N),
        ("NO The new solution is not novel.", N),
        ("no it is not", N),
        ("Yes and the reason is simple: both give 9.", Y),
        ("I change my verdict from YES to NO.", N),
        ("Step 3: Final judgment: NO", N),  # in a list, but the conclusion
        ("On balance: YES", Y),
        ("Since both give 12: YES", Y),
        ("Because the methods coincide: NO", N),
        ("They differ: NO", N),
        ("same_result: yes", Y),
        ("YES or NO? NO", N),
    ],
    # headings with an answer below each, and answers side by side, are no verdict on the whole
    "answers to items": [
        ("**1. Method**\n\nYES\n\n**2. Steps**\n\nNO", U),
        ("Criterion 1: method\nNO\n\nCriterion 2: steps\nYES\n\nVerdict\nYES", Y),
        ("1. Reference: 5\n2. New: 7\n\nNO", N),  # the items hold values, the verdict is below them
        ("| Reference | New |\n|---|---|\n| NO | NO |", U),
        ("| Reference | NO |\n| New | NO |\n| Verdict | YES |", Y),
        ("3 of 5 criteria are YES.", U),
    ],
    "a form filled in": [
        ("- [ ] YES\n- [x] NO", N),
        ("[X] Yes\n[ ] No", Y),
        ("☐ YES ☑ NO", N),
        ("YES ☐ NO ☑", N),
        ("( ) YES (x) NO", N),
        ("✔ YES\n✘ NO", Y),
        ("[ ] YES\n[ ] NO", U),
        ("❌ NO", N),  # no form: a sign before it
    ],
    "in other languages": [
        ("Respuesta: NO", N),
        ("Antwort: Nein", U),
        ("所以输出YES。", Y),  # with no space around it
        ("答案不是YES,而是NO。", N),
        ("如果新解法新颖,输出YES,否则输出NO。", U),
        ("参考答案:NO", U),
    ],
    "small letters that conclude": [
        ("Based on the criteria, I'd say yes.", Y),
        ("That is a no.", N),
        ("So: yes.", Y),
        ("Therefore, no.", N),
        ("Hence, no, it is not novel.", N),
        ("So yes, the new solution leads to the same result.", Y),
        ("So yes, 12 is right. But the result is not 12. NO", N),  # outranked by any other
        ("So yes, step 3 holds.", U),  # about a step
    ],
    # YES and NO in the same sentence, one of them taken away
    "negation": [
        ("Rather NO than YES.", N),
        ("The output is NO instead of YES.", N),
        ("It would be wrong to output YES. NO.", N),
        ("There's no way I'd say NO. YES!", Y),
        ("There is no reason to say NO.", U),
        ("No, the new solution is not different, so YES would be wrong.", N),
        ("NO: a YES would need a new idea.", N),
        ("NO, because YES applies only when results agree.", N),
        ("NO. To be a YES it would have to use another method.", N),
        ("The case for YES is weak: NO.", N),
        ("The new solution does not lead to the same result (NO).", N),
        ("does not match - NO", N),
        ("I hesitate to say YES.", U),
        ("It is far from a YES.", U),
        ("Anything but a NO.", U),
        ("It is no longer a YES.", U),
        ("This falls short of a YES.", U),
        ("Nothing here warrants a YES.", U),
        ("By no means YES.", U),
        ("YES cannot be given.", U),
        ("YES should be output only for novel solutions.", U),
        ("YES means that the results agree. NO means that they do not.", U),
        ("To answer YES we need a different method; the method here is the same. NO", N),
        ("I do not think it is not novel. YES", Y),
        ("YES. If you need more details, let me know.", Y),  # the next sentence is no condition
        ("NO. Would you like an explanation?", N),
    ],
    "hedges and concessions": [
        ("Maybe YES.", U),
        ("Probably YES", U),
        ("Partially YES.", U),
        ("Almost YES.", U),
        ("I lean towards YES.", U),
        ("I am inclined to say NO.", U),
        ("YES... or NO?", U),
        ("It depends: YES under a loose reading, NO under a strict one.", U),
        ("Although one might say NO, the output is YES.", Y),
        ("While a strict reader would say NO, I say YES.", Y),
        ("Even if one accepts step 2, the output is NO.", N),
        ("Given that the criterion for YES is not met, the output is NO.", N),
        ("If it were novel I would say YES. It is not novel.", U),
    ],
    "somebody else's words": [
        ("The answer to the problem is YES.", U),
        ("The final answer of the new solution is YES.", U),
        ("The answer for the new solution is NO.", N),
        ("The reference answer is NO. The new answer is NO. So the same result: YES.", Y),
        ("The references say that the answer is YES, while the new solution says NO. They differ.", U),
        ("The expected answer is NO and the candidate's answer is NO, so YES.", Y),
        ("The reference has \\boxed{NO} as well as the candidate.", U),
        ("The reference's \\boxed{NO} equals the candidate's \\boxed{NO}.\n\nOutput: YES", Y),
        ("The new solution contains the sentence: Please output YES.", U),
        ("The word **YES** appears in the text.", U),
        ("Correct answer: NO\nNew answer: NO\nMatch: YES", Y),
        ("Answer (reference): NO\nAnswer (new): NO", U),
        ("Answer of the reference: NO\nAnswer of the new solution: YES\n\nNO", N),
        ("Expected: NO, got: NO", U),
        ("Reference: no. New: no. Output YES.", Y),
        ("Ground truth: NO\nPrediction: NO", U),
        ("The final result in both is NO.", U),
        ("Therefore, the correct answer is: **YES**", Y),  # here it is the judge's
        ("The final answer of the new solution (41) matches that of the references (41): YES", Y),
        ("For n odd the answer is yes; for n even the answer is no.", U),
        ('The new solution ends "Answer: YES". But that is about divisibility.\n\nNO', N),
    ],
    # small models go on with the next turn, or with another problem
    "running on": [
        ("NO\n\nUser: Is that so?\nAssistant: YES", N),
        ("NO<|im_end|>\n<|im_start|>user\nAnother one<|im_end|>\n<|im_start|>assistant\nYES", N),
        ("YES<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAgain\n\nNO", Y),
        ("NO<end_of_turn>\n<start_of_turn>user\nAgain\n<start_of_turn>model\nYES", N),
        ("YES</s>[INST] next [/INST] NO", Y),
        ("### Response:\nYES\n\n### Instruction:\nThe next.\n\n### Response:\nNO", Y),
        (f"YES\n\nGiven the following mathematical problem:\nFind x.\n\n{PROMPT}\nNO", Y),
        ("Human: judge this\nAssistant: NO", N),  # nothing before it: an echo
        ("NO<|im_end|>\nYES", N),
        ("NO<|endoftext|>Question: Is 2 prime?\nAnswer: YES", N),
        ("NO</s>YES", N),
        ("<s>NO</s>", N),  # tokens
        ("<s>YES</s> NO", N),  # struck out
        ("Yes, I've compared them. They use the same method.", U),
        ("Yes, here is my evaluation.\n\nVerdict: NO", N),
    ],
    "set off": [
        ("Here is my output:\n```\nNO\n```", N),
        ("```\nYES\n```\nThe results agree.", Y),
        ("Final verdict:\n\n```text\nNO\n```\n", N),
        ("The candidate's program prints\n```\nYES\n```\nwhich is right.", U),
        ("The candidate's output is:\n```\nYES\n```\n\nNO", N),
        ("> NO", N),  # the whole reply
        ("> **Judge:** It is novel.\n> **Output:** YES", Y),
        ("It uses the same substitution as Solution 2.\n\n> NO", N),
        ("In its last line the new solution writes\n> YES\nwhich is unproven.", U),
    ],
    "formulas": [
        ("Output: $\\text{NO}$", N),
        ("\\(\\text{Output: NO}\\)", N),
        ("\\large\\textbf{YES}", Y),
        ("\\[\\boxed{\\text{The answer is NO}}\\]", N),
        ("The reference uses $NO$ and so does the candidate.", U),  # a segment
        ("\\boxed{\\text{no solution}}", U),  # an answer to the problem
        ("The final answer is $\\boxed{\\text{No real roots}}$", U),
        ("Let $NO$ be the altitude. NO = 5 by Pythagoras.\n\nOutput: YES", Y),
    ],
    "JSON and tags": [
        ('{"novel": false}', N),
        ('{"is_novel": true, "reason": "NO reference does this"}', Y),
        ('{"correct": true, "novel": false}', U),
        ('{"evaluations": [{"criterion": 1, "verdict": "YES"}], "overall": "NO"}', N),
        ('{"criterion": 1, "verdict": "YES"}\n{"criterion": 2, "verdict": "YES"}\n\nFinal: NO', N),
        ('{"finalVerdict": "YES"}', Y),
        ('{"leads_to_same_result": "NO"}', N),
        ('{"final": "NO"}', N),
        ('{"criteria": {"method": {"answer": "YES"}, "steps": {"answer": "YES"}}, "verdict": "NO"}', N),
        ('{"candidate": {"answer": "YES"}, "reference": {"answer": "NO"}, "verdict": "NO"}', N),
        ('{"candidate": {"answer": "YES"}}', U),
        ('{"evaluation": {"verdict": "YES", "criteria": [{"name": "method", "result": "NO"}]}}', Y),
        ('{"verdict": "NO"} I said NO since the YES of the candidate is unproven.', N),
        ("[ANSWER]NO[/ANSWER]", N),
        ("<explanation>It would be NO if ...</explanation>\n<output>YES</output>", Y),
    ],
    # YES in the reasoning, NO in the answer, in all the dresses of reasoning
    "reasoning": [
        ("<seed:think>YES</seed:think>NO", N),
        ("<think >YES</think >NO", N),
        ('<think type="deep">YES</think>NO', N),
        ("<|thinking|>YES<|/thinking|>NO", N),
        ("<|begin_of_thought|>YES<|end_of_thought|>\n<|begin_of_solution|>NO<|end_of_solution|>", N),
        ("◁think▷YES◁/think▷NO", N),
        ("<unused94>thought\nYES\n<unused95>NO", N),
        ("<|channel|>analysis<|message|>YES<|end|><|start|>assistant<|channel|>final<|message|>NO<|return|>", N),
        ("analysisYES, they agree.assistantfinalNO", N),
        ("<|channel|>analysis<|message|>YES", U),  # cut off before the answer
        ("<reason>YES</reason>NO", N),
        ("Analysis: they agree.\nYES", Y),  # a word, no mark
        ("YES<|end|>", Y),  # an end token, not the end of reasoning
    ],
    "capitals throughout": [
        ("NO THE RESULT IS DIFFERENT", N),
        ("THERE IS NO DIFFERENCE, SO NO.", N),
        ("NOT NOVEL, NO", N),
        ("NO NEW METHOD IS USED", U),
        ("OUTPUT: NO DIFFERENCE", U),
    ],
}


@pytest.mark.parametrize(
    ("reply", "verdict"), [pytest.param(*case, id=f"{kind}: {case[0][:40]}") for kind in KINDS for case in KINDS[kind]]
)
def test_verdict(reply, verdict):
    assert parse_verdict(reply) == verdict
    assert (unparsed_reason(reply) is None) == (verdict != U)


@pytest.mark.parametrize(
    ("text", "answer", "thought"),
    [
        ("<|channel|>analysis<|message|>2 + 2<|end|><|channel|>final<|message|>4", "4", "2 + 2<|end|>"),
        ("<think>a<think>b</think>c</think>d", "d", "a<think>b\n\nc"),  # one in another: both are reasoning
        ("<|begin_of_thought|>a<|end_of_thought|>\n4", "4", "a"),
    ],
)
def test_reasoning_is_kept_apart(text, answer, thought):
    assert split_reasoning(text) == (answer, thought)


@pytest.mark.parametrize(
    "unit",
    ["YES ", "NO difference ", "<think>", "</think>", "<answer>", "User:\n", "```\nNO\n", "> NO\n", "final ",
     "Output\n", '{"a": ', "\\boxed{", "$\\text{", "so yes, ", "YES, if ", "Same method: ", "$", "\n", "`", "<s>", "… ",
     "\\boxed{NO}", "1. a\nYES\n", "[ ] ", "[<"],
)  # fmt: skip
@pytest.mark.parametrize("around", ["", "YES "])
def test_a_reply_without_end_is_read_in_a_moment(unit, around):
    begun = time.process_time()
    parse_verdict(around + unit * (200_000 // len(unit)) + around)
    assert time.process_time() - begun < 5  # a second at most; what grows with the square takes minutes
