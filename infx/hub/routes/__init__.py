"""The REST API's routes, by subject; importing this fills the table in `router`."""

from infx.hub.routes import actions, commits, graphql, people, pulls, talk

__all__ = ["actions", "commits", "graphql", "people", "pulls", "talk"]
