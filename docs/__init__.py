"""The documentation, and what makes its generated pages (`python -m docs.generate`)."""
