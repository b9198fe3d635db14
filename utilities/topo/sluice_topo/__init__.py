# SPDX-License-Identifier: Apache-2.0
"""sluice-topo: topologies of switches and hosts from one file.

From the lowest module up: errors, document (YAML with lines), values, model
(what the file means), config (labels to a switch's configuration), expect,
state (what was created), system, netns and docker (the runtimes), rpc, lab
(up, down, show), traffic (run), report, graph, plot, cli.
"""
