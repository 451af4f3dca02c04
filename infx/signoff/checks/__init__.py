"""The numbered checks: facts and policy in, a `CheckOutcome` out."""
