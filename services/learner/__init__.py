"""The learner: reads finished turns from `conv.*.log`, queues those worth studying on `playbook.<scope>`.

It teaches the router, too: utterances that nothing had named a group for go into `$KV.routing.>`.

This is the first step of the playbook's pipeline (capture); reflecting on what was captured comes with the playbook.
"""
