"""Run the router service as this process."""

from services.router.service import build_service
from shared.lifecycle import main

main("router", build_service)
