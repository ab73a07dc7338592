"""Run the learner service as this process."""

from services.learner.service import build_service
from shared.lifecycle import main

main("learner", build_service)
