"""What the services agree on and nothing else: vocabulary (subjects, messages) and plumbing (bus, log, settings)."""
