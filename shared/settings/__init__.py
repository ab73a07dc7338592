"""The configuration: one schema, checked when it is loaded, documented from itself."""

from shared.settings.load import SettingsError, load
from shared.settings.schema import Settings

__all__ = ["Settings", "SettingsError", "load"]
