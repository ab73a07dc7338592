"""The model client: neutral requests in, proven replies or typed errors out, over HTTP."""
