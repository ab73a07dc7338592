"""An answer may only claim what the log contains."""

from pathlib import Path

from tests.support.model_server import Call, Reply, Rule, Script, When
from tests.support.system import running_system

CLAIM = Rule(reply=Reply(text="Nota guardada ✅"))
TOLD_SO = "ninguna herramienta lo ha hecho"


async def test_a_false_claim_is_put_right_by_the_model(tmp_path: Path) -> None:
    """Told that no tool did it, the model calls the tool; the person sees only the true answer and its receipt."""
    script = Script(
        rules=(
            Rule(
                when=When(last_user=TOLD_SO, tool_results_since_user=0),
                reply=Reply(calls=(Call(name="note_save", arguments={"text": "comprar leche"}),)),
            ),
            Rule(when=When(has_result_of="note_save"), reply=Reply(text="Guardé la nota.")),
            CLAIM,
        )
    )
    async with running_system(tmp_path, script) as system:
        turn = (await system.say("guarda una nota: comprar leche")).json()

        assert turn["status"] == "answered"
        assert turn["answer"] == "Guardé la nota."
        assert [(action["name"], action["status"]) for action in turn["actions"]] == [("note_save", "ok")]
        assert len(system.model.received) == 3

        await system.say("gracias")
        assert "guardada ✅" not in str(system.model.received[-1].body["messages"])


async def test_a_claim_that_is_repeated_is_replaced_by_the_truth(tmp_path: Path) -> None:
    async with running_system(tmp_path, Script(rules=(CLAIM,))) as system:
        turn = (await system.say("guarda una nota: comprar leche")).json()

        assert turn["status"] == "answered"
        assert "ninguna herramienta lo ha confirmado" in turn["answer"]
        assert turn["actions"] == []
        assert turn["reason"] == "unbacked_claim"
        assert len(system.model.received) == 2


async def test_an_honest_answer_is_nobodys_business(tmp_path: Path) -> None:
    script = Script(rules=(Rule(reply=Reply(text="¿Quieres que la guarde?")),))
    async with running_system(tmp_path, script) as system:
        turn = (await system.say("tengo una idea para una nota")).json()

        assert turn["answer"] == "¿Quieres que la guarde?"
        assert len(system.model.received) == 1


async def test_what_is_only_implied_is_questioned_once_and_then_passes(tmp_path: Path) -> None:
    """Other words of it could be honest: it is not replaced by ours."""
    script = Script(rules=(Rule(reply=Reply(text="Ahora te la guardo.")),))
    async with running_system(tmp_path, script) as system:
        turn = (await system.say("guarda una nota: comprar leche")).json()

        assert turn["answer"] == "Ahora te la guardo."
        assert len(system.model.received) == 2
