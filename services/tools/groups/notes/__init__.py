"""Notes: short texts a person wants kept, per user."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from services.tools.context import ToolContext, ToolError
from services.tools.declare import Group
from shared.errors import FenceLost
from shared.text import clean, fold

MAX_CHARS = 8000
_ID = Annotated[str, Meta(description="The note's id, as note_list or note_search shows it.", max_length=40)]
_TEXT = Annotated[str, Meta(description="The note's text, as the person said it.", min_length=1, max_length=MAX_CHARS)]
_LIMIT = Annotated[int, Meta(description="How many notes at most.", ge=1, le=100)]

group = Group("notes", titles={"es": "Notas", "en": "Notes"}, folder=Path(__file__).parent)


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note as stored; times are UTC."""

    text: str
    created_at: datetime
    updated_at: datetime


@group.tool(side_effects="reversible")
async def note_save(context: ToolContext, text: _TEXT) -> Any:
    """Save a new note for the user."""
    note = Note(text=clean(text).strip(), created_at=context.now, updated_at=context.now)
    if not note.text:
        raise ToolError("the note is empty; ask what it should say")
    documents = context.documents(Note)
    for note_id in context.short_ids("n"):
        if await documents.create(note_id, note):
            return {"saved": _shown(context, note_id, note)}
    raise ToolError("there was no free id for the note; try once more")


@group.tool()
async def note_list(context: ToolContext, limit: _LIMIT = 20) -> Any:
    """List the user's notes, the most recently changed first."""
    return _listing(context, await _all(context), limit)


@group.tool()
async def note_search(
    context: ToolContext,
    query: Annotated[str, Meta(description="Words to look for.", min_length=1, max_length=200)],
    limit: _LIMIT = 20,
) -> Any:
    """Find the user's notes that contain all of the words, in any order, accents and case aside."""
    words = fold(query).split()
    hits = [(note_id, note) for note_id, note in await _all(context) if all(w in fold(note.text) for w in words)]
    return _listing(context, hits, limit)


@group.tool(side_effects="reversible")
async def note_update(context: ToolContext, id: _ID, text: _TEXT) -> Any:  # noqa: A002 - the name models expect
    """Replace the text of a note."""
    documents = context.documents(Note)
    found = await documents.get(id)
    if found is None:
        raise ToolError(f"there is no note {id!r}; look its id up with note_list or note_search")
    note, revision = found
    if not clean(text).strip():
        raise ToolError("the new text is empty; to remove the note use note_delete")
    changed = msgspec.structs.replace(note, text=clean(text).strip(), updated_at=context.now)
    try:
        await documents.replace(id, changed, revision=revision)
    except FenceLost as exc:
        raise ToolError("the note was changed by somebody else just now; read it again") from exc
    return {"updated": _shown(context, id, changed), "before": note.text}


@group.tool(side_effects="irreversible")
async def note_delete(context: ToolContext, id: _ID) -> Any:  # noqa: A002 - the name models expect
    """Delete a note."""
    documents = context.documents(Note)
    found = await documents.get(id)
    if found is None:
        raise ToolError(f"there is no note {id!r}; look its id up with note_list or note_search")
    await documents.delete(id)
    return {"deleted": {"id": id, "text": found[0].text}}


async def _all(context: ToolContext) -> list[tuple[str, Note]]:
    return list(reversed(await context.documents(Note).list()))


def _listing(context: ToolContext, notes: list[tuple[str, Note]], limit: int) -> dict[str, Any]:
    return {"notes": [_shown(context, *note) for note in notes[:limit]], "total": len(notes)}


def _shown(context: ToolContext, note_id: str, note: Note) -> dict[str, str]:
    local = note.updated_at.astimezone(ZoneInfo(context.time_zone))
    return {"id": note_id, "text": note.text, "updated_at": f"{local:%Y-%m-%d %H:%M}"}
