"""The policy: what a repository may choose for itself."""

POLICY_PATH = "configs/policy.yaml"  # the default place of a repository's policy
REPOSITORY_NAME = r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+"  # owner/name
