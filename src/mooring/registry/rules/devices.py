"""The rules of resource.k8s.io: classes of devices, claims to them, and what drivers offer."""

from collections.abc import Mapping
from typing import Final

from mooring.api.resource import claims, slices
from mooring.registry.rules.names import long_name
from mooring.registry.strategies import Strategy, spec_of

__all__ = ["DEVICES"]

DEVICES: Final[Mapping[str, Strategy]] = {
    "deviceclasses.resource.k8s.io": Strategy(
        default=claims.default_device_class, validate=claims.validate_device_class, name_texts=long_name, intent=spec_of
    ),
    "resourceclaims.resource.k8s.io": Strategy(
        default=claims.default_claim,
        prepare_status=claims.prepare_claim_status,
        validate=claims.validate_claim,
        validate_update=claims.validate_claim_update,
        validate_status=claims.validate_claim_status,
        update_is_whole=True,
    ),
    "resourceclaimtemplates.resource.k8s.io": Strategy(
        default=claims.default_claim_template,
        validate=claims.validate_claim_template,
        validate_update=claims.validate_claim_template_update,
    ),
    "resourceslices.resource.k8s.io": Strategy(
        default=slices.default_slice,
        validate=slices.validate_slice,
        validate_update=slices.validate_slice_update,
        intent=spec_of,
    ),
}
