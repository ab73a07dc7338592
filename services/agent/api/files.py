"""`/v1/files`: upload and download."""

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData, UploadFile

from services.agent.api.backend import Backend
from services.agent.api.bodies import limited
from services.agent.api.door import KnownFiles
from services.agent.api.replies import json_response, responses
from services.agent.api.shapes import FileView
from shared.blobs import BlobMissing, get_blob, put_blob
from shared.errors import Rejected
from shared.intake import check_file, check_hash, clean_name, describe, file_too_large
from shared.settings.schema import Intake

# What a form needs around its file: boundaries and part headers.
_ENVELOPE_BYTES = 16 * 1024
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


def routes(backend: Backend, files: KnownFiles) -> APIRouter:
    """The endpoints of files."""
    router = APIRouter(tags=["files"])
    limits = backend.settings.intake
    max_bytes = min(backend.settings.http.max_upload_bytes, limits.max_blob_bytes)

    @router.post(
        "/v1/files",
        summary="Upload a file to attach to messages",
        openapi_extra=_FORM,
        responses=responses({200: FileView}),
    )
    async def upload(request: Request) -> Response:
        """What it is is told by its bytes. The answer can be attached to a message as it is."""
        backend.bus()
        form = await limited(request, max_bytes + _ENVELOPE_BYTES, file_too_large(max_bytes)).form(
            max_files=1, max_fields=4
        )
        try:
            data, name, declared = await _file_of(form, max_bytes)
        finally:
            await form.close()
        facts = check_file(data, name=name, declared=declared, limits=limits)
        sha256 = await put_blob(backend.bus(), data)
        files.learn(sha256, facts)
        return json_response(
            FileView(
                sha256=sha256,
                media_type=facts.media_type,
                bytes=facts.bytes,
                name=clean_name(name),
                width=facts.width,
                height=facts.height,
            )
        )

    @router.get("/v1/files/{sha256}", summary="Download a file", response_class=Response, responses=responses({}))
    async def download(sha256: str) -> Response:
        """Images may be shown; anything else is to be saved, for it may carry scripts."""
        try:
            data = await get_blob(backend.bus(), check_hash(sha256))
        except (BlobMissing, Rejected) as exc:
            if isinstance(exc, Rejected) and exc.code != "invalid-attachment":
                raise
            raise Rejected("unknown-file", "no file of this hash is stored", status=404) from exc
        media_type = _served_as(data, limits)
        headers = {"Cache-Control": "private, max-age=31536000, immutable", "ETag": f'"{sha256}"'}
        if not media_type.startswith("image/"):
            headers["Content-Disposition"] = f'attachment; filename="{sha256[:16]}"'
        return Response(data, media_type=media_type, headers=headers)

    return router


async def _file_of(form: FormData, max_bytes: int) -> tuple[bytes, str, str]:
    """The bytes, name and declared type of the form's file."""
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise Rejected("file-missing", "the form has no file in a part named `file`")
    if (file.size or 0) > max_bytes:
        raise file_too_large(max_bytes)
    return await file.read(), file.filename or "", file.content_type or ""


def _served_as(data: bytes, limits: Intake) -> str:
    """The type to serve bytes with, from themselves. Markup is served as plain text, so that no browser runs it."""
    try:
        media_type = describe(data, limits=limits).media_type
    except Rejected:
        return "application/octet-stream"  # stored under other limits, or by a tool
    return "text/plain; charset=utf-8" if media_type.startswith("text/") else media_type
