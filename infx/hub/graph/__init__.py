"""The part of GitHub's GraphQL that infx uses: parse, check, price and answer queries as GitHub does."""

from infx.hub.graph.execute import answer
from infx.hub.graph.price import Price

__all__ = ["Price", "answer"]
