"""What should be on a pull request, as a function of facts, and the difference to what is there.

Reconciling twice, two at once, late, or after a lost event or reply ends in the same state.
"""
