from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.model_server import Call, Fault, Reply, Rule, Script, When
from tests.support.system import System, running_system

SCRIPT = Script(
    rules=(
        Rule(when=When(last_user="cuelgate"), fault=Fault(hang=True)),
        Rule(when=When(last_user="despacio"), reply=Reply(text="con calma"), fault=Fault(delay_s=0.7)),
        Rule(
            when=When(last_user="poema"),
            reply=Reply(text=" ".join(f"verso{n}" for n in range(60))),
            fault=Fault(chunk_delay_s=0.02),
        ),
        Rule(
            when=When(last_user="tropieza"),
            reply=Reply(text="uno dos tres cuatro"),
            fault=Fault(cut_after_chunks=3),
            times=1,
        ),
        Rule(when=When(last_user="tropieza"), reply=Reply(text="uno dos tres cuatro")),
        Rule(
            when=When(last_user="guarda una nota", tool_results_since_user=0, offered="note_save"),
            reply=Reply(text="Voy.", calls=(Call(name="note_save", arguments={"text": "comprar leche"}),)),
        ),
        Rule(when=When(last_user="guarda una nota"), reply=Reply(text="Guardada.")),
        Rule(
            when=When(last_user="prepara", tool_results_since_user=0, offered="note_list"),
            reply=Reply(calls=(Call(name="note_list"),)),
            fault=Fault(delay_s=0.5),
        ),
        Rule(when=When(last_user="falla"), fault=Fault(status=401)),
        Rule(reply=Reply(text="Hola.")),
    )
)


@pytest.fixture
async def system(tmp_path: Path) -> AsyncIterator[System]:
    async with running_system(tmp_path, SCRIPT) as system:
        yield system
