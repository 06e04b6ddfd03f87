"""Image references: the tag on which the pull policy hangs."""

import pytest

from mooring.kube.images import image_tag


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("nginx", "latest"),
        ("nginx:1.27", "1.27"),
        ("nginx:latest", "latest"),
        ("docker.io/nginx", "latest"),
        ("index.docker.io/nginx:1", "1"),
        ("localhost/web:2", "2"),
        ("registry:5000/team/web", "latest"),
        ("registry:5000/team/web:v1", "v1"),
        ("team/web", "latest"),
        ("Registry/web", "latest"),
        (f"web@sha256:{'a' * 64}", ""),
        (f"web:v1@sha256:{'a' * 64}", "v1"),
        (f"web@md5:{'a' * 32}", ""),
        ("a" * 64, ""),
        ("team/Web", ""),
        ("web:", ""),
        ("a//b", ""),
        ("", ""),
        (f"x/{'a/' * 130}b", ""),
    ],
)
def test_the_tag_of_an_image(image: str, tag: str) -> None:
    assert image_tag(image) == tag
