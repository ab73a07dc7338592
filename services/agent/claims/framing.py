"""The part of an answer in which the coordinator speaks for itself, not the text it was asked to write or read out."""

import re

from services.agent.claims.request import Request
from services.agent.claims.segments import own_words

_INTRODUCES = re.compile(r":\s*(?:\n|§|$)")
_PARAGRAPH = re.compile(r"\n\s*\n")


def framing(answer: str, request: Request) -> str:
    """The coordinator's own words in `answer`.

    After a request for a text alone, what an introduction ("Here it is:") announces is the text, and so is all of an
    answer that introduces nothing; what comes after it in a paragraph of its own is the coordinator's again.
    """
    text = own_words(answer, quotes_count=request.stance == "act" and not request.text_wanted)
    if request.stance != "text" or not request.drafting:
        return text
    paragraphs = _PARAGRAPH.split(text.strip())
    if len(paragraphs) == 1:
        return text.partition(":")[0] if ":" in text else ""
    start = next((i for i, paragraph in enumerate(paragraphs) if _INTRODUCES.search(paragraph)), None)
    if start is None:
        return ""
    own = [_INTRODUCES.split(paragraphs[start])[0]]
    return "\n".join([*own, paragraphs[-1]] if len(paragraphs) > start + 2 else own)
