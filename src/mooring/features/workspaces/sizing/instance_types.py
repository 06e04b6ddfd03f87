"""Instance types of clouds whose GPUs are known without a look at a node: how many, and their memory in all."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["InstanceType", "find_instance_type", "instance_types"]


class InstanceType(NamedTuple):
    """`nvme`: the type has fast local disks, on which weights can be kept."""

    name: str
    gpus: int
    memory_gib: int
    gpu_model: str
    nvme: bool = False


_AZURE: Final = (
    InstanceType("Standard_NV36ads_A10_v5", 1, 24, "NVIDIA A10"),
    InstanceType("Standard_NV72ads_A10_v5", 2, 48, "NVIDIA A10"),
    InstanceType("Standard_NC24ads_A100_v4", 1, 80, "NVIDIA A100", nvme=True),
    InstanceType("Standard_NC48ads_A100_v4", 2, 160, "NVIDIA A100", nvme=True),
    InstanceType("Standard_NC96ads_A100_v4", 4, 320, "NVIDIA A100", nvme=True),
    InstanceType("Standard_ND96asr_A100_v4", 8, 320, "NVIDIA A100"),
    InstanceType("Standard_ND96amsr_A100_v4", 8, 640, "NVIDIA A100", nvme=True),
    InstanceType("Standard_NC40ads_H100_v5", 1, 94, "NVIDIA H100", nvme=True),
    InstanceType("Standard_NC80adis_H100_v5", 2, 188, "NVIDIA H100", nvme=True),
    InstanceType("Standard_ND96isr_H100_v5", 8, 640, "NVIDIA H100", nvme=True),
    InstanceType("Standard_NCC40ads_H100_v5", 1, 94, "NVIDIA H100"),
    InstanceType("Standard_ND96isr_H200_v5", 8, 1128, "NVIDIA H200", nvme=True),
    InstanceType("Standard_NG32ads_V620_v1", 1, 32, "AMD Radeon PRO V620"),
    InstanceType("Standard_NG32adms_V620_v1", 1, 32, "AMD Radeon PRO V620"),
)
_AWS: Final = (
    InstanceType("p4d.24xlarge", 8, 320, "NVIDIA A100"),
    InstanceType("p4de.24xlarge", 8, 640, "NVIDIA A100"),
    InstanceType("p5.48xlarge", 8, 640, "NVIDIA H100"),
    InstanceType("p5e.48xlarge", 8, 1128, "NVIDIA H200"),
    InstanceType("p5en.48xlarge", 8, 1128, "NVIDIA H200"),
    *(InstanceType(f"g6.{size}xlarge", 1, 24, "NVIDIA L4") for size in ("", "2", "4", "8", "16")),
    InstanceType("g6.12xlarge", 4, 96, "NVIDIA L4"),
    InstanceType("g6.24xlarge", 4, 96, "NVIDIA L4"),
    InstanceType("g6.48xlarge", 8, 192, "NVIDIA L4"),
    InstanceType("gr6.4xlarge", 1, 24, "NVIDIA L4"),
    InstanceType("gr6.8xlarge", 1, 24, "NVIDIA L4"),
    *(InstanceType(f"g5.{size}xlarge", 1, 24, "NVIDIA A10G") for size in ("", "2", "4", "8", "16")),
    InstanceType("g5.12xlarge", 4, 96, "NVIDIA A10G"),
    InstanceType("g5.24xlarge", 4, 96, "NVIDIA A10G"),
    InstanceType("g5.48xlarge", 8, 192, "NVIDIA A10G"),
    *(InstanceType(f"g4ad.{size}xlarge", 1, 8, "AMD Radeon Pro V520") for size in ("", "2", "4")),
    InstanceType("g4ad.8xlarge", 2, 16, "AMD Radeon Pro V520"),
    InstanceType("g4ad.16xlarge", 4, 32, "AMD Radeon Pro V520"),
    InstanceType("trn1.2xlarge", 1, 32, "AWS Trainium"),
    InstanceType("trn1.32xlarge", 16, 512, "AWS Trainium"),
    InstanceType("trn1n.32xlarge", 16, 512, "AWS Trainium"),
    InstanceType("inf2.xlarge", 1, 32, "AWS Inferentia2"),
    InstanceType("inf2.8xlarge", 1, 32, "AWS Inferentia2"),
    InstanceType("inf2.24xlarge", 6, 192, "AWS Inferentia2"),
    InstanceType("inf2.48xlarge", 12, 384, "AWS Inferentia2"),
)
_ARC: Final = tuple(
    InstanceType(f"Standard_NC{size}_{model}", gpus, memory, f"NVIDIA {model}")
    for model in ("A2", "A16")
    for size, gpus, memory in ((4, 1, 16), (8, 1, 16), (16, 2, 32), (32, 2, 32))
)
_CLOUDS: Final = {
    cloud: {each.name.lower(): each for each in types}
    for cloud, types in (("azure", _AZURE), ("aws", _AWS), ("arc", _ARC))
}


def find_instance_type(cloud: str, name: str) -> InstanceType | None:
    """The type of that name, in whatever case it is written."""
    return _CLOUDS[cloud].get(name.lower())


def instance_types(cloud: str) -> tuple[str, ...]:
    """The names of a cloud's types, sorted."""
    return tuple(sorted(each.name for each in _CLOUDS[cloud].values()))
