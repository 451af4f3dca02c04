"""The part of GitHub's GraphQL that infx uses: it parses, checks, prices and answers queries as GitHub does."""

from infx.hub.graph.execute import answer
from infx.hub.graph.price import Price

__all__ = ["Price", "answer"]
