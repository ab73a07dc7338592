"""Run the tools service as this process."""

from services.tools.service import build_service
from shared.lifecycle import main

main("tools", build_service)
