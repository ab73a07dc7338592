"""Run the agent service, with its HTTP API, as this process."""

from services.agent.api.app import make_app
from services.agent.service import build_service
from shared.lifecycle import main

main("agent", build_service, make_app)
