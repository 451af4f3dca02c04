"""Check a container image in the form in which a cluster's importer gets it.

enroot reads `[user@][registry#]image[:tag]`, and takes Docker Hub for the registry where there is no `#`. pyxis passes its
references to enroot. Docker reads `[registry/]image[:tag][@digest]`.
"""

from __future__ import annotations

from infx.matrix.image import has_host_form
from infx.records import record

ENROOT = "docker://"
_DIGESTS = ("sha256:", "sha384:", "sha512:")


@record
class FormFault:
    """Why an importer reads another image than the configuration means."""

    message: str
    hint: str


def find_enroot_fault(image: str, address: str) -> FormFault | None:
    """Return why enroot does not import the image, or None.

    image: as the configuration names it. address: as the cluster writes it for enroot.
    """
    reference = address.removeprefix(ENROOT)
    registry, mark, rest = reference.rpartition("#")
    if "#" in registry:
        return FormFault(
            message=f'enroot gets "{address}", which has # more than once',
            hint="Use {image} or {image-with-hash} in the cluster's image.uri.",
        )
    _, at, digest = rest.rpartition("@")
    if at and digest.startswith(_DIGESTS):
        return FormFault(
            message=f'enroot gets "{address}" and does not read a digest',
            hint="Name a tag alone, or import the image once by hand.",
        )
    first, slash, _ = rest.partition("/")
    if mark or not slash or not has_host_form(first):
        return None
    hint = f'Write "{rest.replace("/", "#", 1)}".'
    if "#" in image:
        hint = "Use {image} in the cluster's image.uri, which keeps the #."
    return FormFault(
        message=f'enroot gets "{address}" and takes {first} for a folder of Docker Hub; expected # after the registry',
        hint=hint,
    )


def find_docker_fault(reference: str) -> FormFault | None:
    """Return why Docker does not run the image, or None. reference: as the cluster writes it for Docker."""
    if reference.startswith("/"):
        return FormFault(
            message=f'Docker gets "{reference}" and does not run squash files',
            hint="Name an image of a registry, or another runner.",
        )
    if "#" in reference:
        return FormFault(
            message=f'Docker gets "{reference}" and does not read #; expected / after the registry',
            hint="Use {image-with-slash} in the cluster's image.reference.",
        )
    return None
