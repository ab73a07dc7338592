"""The router: answers `route` with the tool groups a message needs; stateless, any number of replicas."""
