"""Run the scheduler service as this process."""

from services.scheduler.service import build_service
from shared.lifecycle import main

main("scheduler", build_service)
