"""The numbered checks, one module each: facts and policy in, an `Outcome` out."""
