"""Memory: what was said in the person's own earlier conversations, and the rest of results that were cut."""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from services.tools.compress import fitting
from services.tools.context import ToolContext, ToolError
from services.tools.declare import Group
from services.tools.groups.memory.search import search_conversations
from shared.blobs import get_output

PAGE_CHARS = 4000
# What stands beside the text of a page; a page that is cut itself could not be read on.
PAGE_NOTE_CHARS = 100

group = Group("memory", titles={"es": "Memoria", "en": "Memory"}, folder=Path(__file__).parent)


@group.tool()
async def recall(
    context: ToolContext,
    query: Annotated[str, Meta(description="Words to look for.", min_length=1, max_length=200)],
    limit: Annotated[int, Meta(description="How many passages at most.", ge=1, le=50)] = 8,
) -> Any:
    """Search what the user and you said in this user's own conversations, the best and newest matches first."""
    return await search_conversations(context, query, limit)


@group.tool()
async def read_result(
    context: ToolContext,
    ref: Annotated[str, Meta(description="The `ref` of a result that says it was truncated.", max_length=200)],
    offset: Annotated[int, Meta(description="Character to start at.", ge=0)] = 0,
) -> Any:
    """Read more of a tool result that was truncated, page by page."""
    text = await get_output(context.bus, context.conversation_id, ref)
    if text is None:
        raise ToolError("there is no such result in this conversation (any more); run the tool again if you need it")
    room = context.settings.tools.max_result_chars - PAGE_NOTE_CHARS
    page = fitting(text[offset : offset + PAGE_CHARS], room) or text[offset : offset + 1]
    end = offset + len(page)
    return {
        "text": page,
        "offset": offset,
        "total_chars": len(text),
        "next_offset": end if end < len(text) else None,
    }
