# SPDX-License-Identifier: Apache-2.0

dist_doc_DATA += \
	CONTRIBUTING.md \
	README.md \
	docs/architecture.md \
	docs/coding-style.md \
	docs/flows.md \
	docs/host.md \
	docs/openflow.md \
	docs/performance.md \
	docs/pfc.md \
	docs/rpc.md
docimgdir = $(docdir)/img
dist_docimg_DATA = \
	docs/img/frame.svg \
	docs/img/layers.svg

# The RPC reference is made from the daemon's tables; `make rpc-docs` writes it
# into the source tree, and a test says when that has been forgotten.
EXTRA_DIST += docs/gen-rpc-docs.py
dist_check_SCRIPTS += docs/check_rpc_docs.py
TESTS += docs/check_rpc_docs.py
rpc-docs: vswitchd/sluiced
	vswitchd/sluiced --dump-openrpc | \
		python3 $(srcdir)/docs/gen-rpc-docs.py > docs-rpc.tmp
	mv docs-rpc.tmp $(srcdir)/docs/rpc.md
CLEANFILES += docs-rpc.tmp
.PHONY: rpc-docs

# Programs for people to start from.
exampledir = $(docdir)/examples
dist_example_DATA = \
	docs/examples/README.md \
	docs/examples/config_db.json \
	docs/examples/container-switch.json \
	docs/examples/sluice.py
dist_example_SCRIPTS = \
	docs/examples/lossless_setup.py \
	docs/examples/rpc.sh \
	docs/examples/watch_pfc.py
dist_check_SCRIPTS += tests/system/test_examples.py
TESTS += tests/system/test_examples.py

# The format of topology files, and ready ones with a page each.
dist_doc_DATA += docs/containers.md docs/topology-format.md
topologydir = $(docdir)/topologies
dist_topology_DATA = \
	docs/topologies/README.md \
	docs/topologies/asymmetric.clab.yml \
	docs/topologies/asymmetric.md \
	docs/topologies/deadlock-uncured.clab.yml \
	docs/topologies/deadlock.clab.yml \
	docs/topologies/deadlock.md \
	docs/topologies/watchdog.clab.yml \
	docs/topologies/watchdog.md \
	docs/topologies/five-hops.clab.yml \
	docs/topologies/five-hops.md \
	docs/topologies/lossless-host.clab.yml \
	docs/topologies/lossless-host.md \
	docs/topologies/headroom.clab.yml \
	docs/topologies/headroom.md \
	docs/topologies/incast.clab.yml \
	docs/topologies/incast.md \
	docs/topologies/leaf-spine.clab.yml \
	docs/topologies/leaf-spine.md \
	docs/topologies/victim.clab.yml \
	docs/topologies/victim.md
