"""The routes of the API, by subject; importing this package fills the table in `router`."""

from infx.hub.routes import actions, branches, commits, graphql, people, pulls, settings, talk

__all__ = ["actions", "branches", "commits", "graphql", "people", "pulls", "settings", "talk"]
