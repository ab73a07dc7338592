"""The command line: starts everything on one machine, talks to the API, shows what happened."""
