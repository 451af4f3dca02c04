"""GraphQL as GitHub serves it, as far as infx asks: queries are read, checked, priced and answered like GitHub's."""

from infx.hub.graph.execute import answer
from infx.hub.graph.price import Price

__all__ = ["Price", "answer"]
