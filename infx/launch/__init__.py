"""Render a planned row as the steps that run it on a cluster.

Clusters are data (`configs/clusters.yaml`). A pure function makes steps from a row, a cluster and what is known about the
machine; `infx.rowfile` executes them.
"""
