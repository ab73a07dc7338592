"""The five services. A service imports `shared` and itself, never another service."""
