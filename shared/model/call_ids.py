"""Our call ids on the wire."""

import base64
import hashlib

from shared.model.dialects import Dialect


def wire_call_id(call_id: str, dialect: Dialect) -> str:
    """`call_id` in the dialect's pattern: the same for a call and its result, in every request.

    Ours are long and hold dots. Nine characters of base 32 are 45 bits: two of a million calls of one conversation
    meet with a chance of about one in seventy.
    """
    digest = hashlib.blake2b(call_id.encode("utf-8", "surrogatepass"), digest_size=20).digest()
    return dialect.call_id_prefix + base64.b32encode(digest).decode("ascii").lower()[: dialect.call_id_length]
