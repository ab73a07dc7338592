"""Pages made from the code: subjects, messages, metrics, settings, AsyncAPI. A test keeps them current."""
