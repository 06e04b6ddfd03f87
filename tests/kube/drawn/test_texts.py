"""Drawn texts of every sort that has rules: what is said of each, and what is read from it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from random import Random
from typing import Any

from mooring.kube import domains, durations, errors, images, intorpercent, json_errors, names, versions, words
from mooring.kube.errors import FieldError
from mooring.kube.near_names import did_you_mean
from tests.kube.drawn.drawing import answer, answers, of_lengths, variants
from tests.support.golden import same_as_recorded

_LETTERS = "aZ0-_./:@=%*, é\n\ud800"
_NAMES = variants(
    1,
    [
        *("web-1", "a.b-c.d", "example.com/name", "_tcp.example.com", "A_b.c", "..a", "..", ".", "my-PORT", "x", ""),
        *("0", "-7", "07", "+7", "-0", "10", "X-Header", "C:\\x", "a b", "ReasonA,B:c", "a--", "a--b", "-", "--", "1a"),
        *("a/b/c", "/x", "a/", "'", "=", "~", "\x7f"),
    ],
    _LETTERS,
    8,
) + of_lengths(15, 63, 253)
_CHECKS = (
    *(names.is_dns1123_label, names.is_dns1123_subdomain, names.is_condition_reason, names.is_long_name),
    *(names.is_dns1123_subdomain_with_underscore, names.is_dns1035_label, names.is_valid_name),
    *(names.is_label_value, names.is_c_identifier, names.is_env_var_name, names.is_config_map_key, names.byte_length),
    *(names.is_http_header_name, names.is_port_name, names.is_decimal_integer, names.path_segment_texts),
)
_LONG = of_lengths(63, 253)
_QUALIFIED = [*_NAMES, *(f"{each}/a" for each in _LONG), *(f"a.b/{each}" for each in _LONG)]


def _field_errors(check: Callable[..., object], value: str, **more: int) -> list[tuple[str, str]]:
    found: list[FieldError] = []
    check(found, value, "spec.it", **more)
    return [(each.cause, str(each)) for each in found]


def test_what_is_said_of_names() -> None:
    said = {check.__name__: answers(check, _NAMES) for check in _CHECKS}
    said["is_qualified_name"] = answers(names.is_qualified_name, _QUALIFIED)
    for check in (names.is_long_name, names.is_valid_name, names.path_segment_texts):
        said[f"{check.__name__} of a prefix"] = answers(check, _NAMES, prefix=True)
    for ranged in (names.is_port_number, names.is_user_id, names.is_group_id):
        said[ranged.__name__] = answers(ranged, (-1, 0, 1, 2, 65534, 65535, 65536, 2**31 - 2, 2**31 - 1, 2**31))
    said["is_in_range"] = answers(names.is_in_range, product(range(4), (1, 2), (1, 2)))
    same_as_recorded("kube-names", said)


def test_what_is_said_of_domains() -> None:
    paths = variants(
        2, ["acme.io/foo", "acme.io/a/b~c%20", "acme.io", "/foo", "acme.io/", "Acme.io/", ""], _LETTERS, 12
    )
    samples = [
        "webhook.acme.io",
        "acme.io",
        "acme.io.",
        "io",
        "io.",
        "a.b.c.d",
        "",
        ".",
        f"a.{'b' * 64}.{'c' * 64}",
        f"{'é' * 127}.io",
    ]
    full = variants(3, samples, _LETTERS, 12)
    wild = variants(4, ["*.acme.io", "*.io", "*.", "*", "a.*.io", ""], _LETTERS, 12)
    said = {
        "path": answers(lambda each: _field_errors(domains.check_domain_path, each), paths),
        "two parts": answers(lambda each: _field_errors(domains.check_full_domain, each), full),
        "three parts": answers(lambda each: _field_errors(domains.check_full_domain, each, parts=3), full),
        "wildcard": answers(domains.is_wildcard_domain, [*wild, *of_lengths(253, before="*.")]),
    }
    same_as_recorded("kube-domains", said)


def test_what_is_read_of_images_versions_durations_and_percentages() -> None:
    digest = f"sha256:{'a' * 64}"
    pictures = [
        *(
            "nginx",
            "nginx:1.27",
            "docker.io/nginx",
            "index.docker.io/nginx:1",
            "index.docker.io/a/b",
            "localhost/web:2",
        ),
        *("registry:5000/team/web:v1", "team/web", "Registry/web", "a.b/web", f"web@{digest}", f"web:v1@{digest}"),
        *("a" * 64, "a" * 63, "team/Web", "[::1]:5000/a:b", f"web@md5:{'a' * 32}", f"web@sha512:{'a' * 128}", "web:"),
        *(f"a.b/{'x' * (254 + more)}" for more in range(4)),
        *(
            f"{before}{'x' * (size + more)}:1"
            for before, size in (
                *(("", 246), ("docker.io/", 246), ("index.docker.io/", 246), ("docker.io/a/", 252), ("xx/", 251)),
                *(
                    ("localhost/", 254),
                    ("a.b/", 254),
                    ("a:1/", 254),
                    ("A/", 254),
                    ("a/", 252),
                    ("index.docker.io/a/", 252),
                ),
            )
            for more in range(3)
        ),
        *("x_y/web", "a:b/web", "a:/web", "docker.io/", "localhost", "localhost/Web:1"),
        *(f"web:{'t' * (127 + more)}" for more in range(3)),
    ]
    written = [
        "1.2.3",
        "v1.2.3",
        "1.2",
        "1",
        "1.2.3-rc.1+b.2",
        "1.2.3-a.b-c.10",
        "1.02.3",
        "0.0.0",
        "1.2.3+a_b",
        "1..3",
        "1.x",
        "x",
    ]
    written += [f"{2**64 - 1 + more}.0.0" for more in (-1, 0, 1)] + [
        "1.2.3-01",
        "1.2.3-0",
        "00.1.2",
        "v1-a",
        "1.2+b",
        "",
    ]
    texts = variants(6, written, "019.-+vaZ_", 12)
    spans = variants(
        7, ["90s", "5m", "1h30m", "1.5h", "100ms", "0s", "1h1m1s1ms", "2562047h47m16s", ""], "019.hms -", 10
    )
    spans += ["2562047h47m17s", "2562048h", "9223372036.854774s", "9223372036.854776s"]
    parts = [1, 0, -3, *variants(8, ["25%", "100%", "0%", "-5%", "+10%", "3", "%", "101%", ""], "019%+-.", 6)]
    said = {
        "images": answers(images.image_tag, variants(5, pictures, "aZ0:/@.-_[]", 6)),
        "versions": answers(versions.parse_version, texts),
        "versions as people write them": answers(versions.normalised_version, texts),
        "durations": answers(durations.parse_duration, spans),
        "seconds": answers(
            durations.duration_text,
            [timedelta(seconds=each) for each in (-3661, -60, -1, 0, 1, 59, 60, 61, 3599, 3600, 3661.9, 86400)],
        ),
        "rounded up": answers(intorpercent.resolve, product(parts, (0, 1, 3, 100)), up=True),
        "rounded down": answers(intorpercent.resolve, product(parts, (0, 1, 3, 100)), up=False),
    }
    same_as_recorded("kube-readings", said)


def test_versions_compare_as_they_are_ordered() -> None:
    ordered = (
        "0.9.9",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-a",
        "1.0.0-a.1",
        "1.0.0-a.b",
        "1.0.0",
        "1.0.1",
        "1.1.0",
    )
    found = [versions.parse_version(each) for each in ordered]
    for (one, left), (other, right) in product(enumerate(found), repeat=2):
        assert left.compare(right) == (one > other) - (one < other), (str(left), str(right))
        assert (left < right) is (one < other)
        assert (left == right) is (one == other)
    assert versions.Semver(1, 0, 0).__lt__("1.0.1") is NotImplemented


def test_what_is_wrong_with_texts_that_should_be_json() -> None:
    samples = [
        '{"a": [1, -2.5e+3, {"b": null}], "c": "x\\u00e9\\n"}',
        '[true, false, null, "", {}, [], [[1, 2], {"a": {"b": 0}}]]',
        ' { "a" : "\\"" , "b" : -0.1E-7 } ',
        '"\\\\/b"',
        "-12.0",
    ]
    texts = [
        each.encode("utf-8", "surrogatepass") for each in variants(9, samples, "{}[]\",:.-+eEutfn\\0189 \x01é'", 150)
    ]
    texts += [b"\xff", b'"\xff"', b"[" * 10_000 + b"]" * 10_000, b"[" * 10_001]
    values: tuple[Any, ...] = ({}, [], "", True, 1, 1.5, None)
    said = {
        "complaints": answers(json_errors.json_complaint, texts),
        "types": answers(json_errors.unmarshal_complaint, [(each, "x") for each in values]),
    }
    same_as_recorded("kube-json-complaints", said)


def test_how_values_are_shown_in_errors() -> None:
    texts = [
        "a",
        "",
        'say "x"',
        'an "a"',
        'x"',
        "a\\b",
        "\a\b\f\n\r\t\v",
        "\x00\x1f\x20\x7e\x7f\x80\x9f\xa0",
        "é漢\u200b\u2028\u2029",
        "\ud800",
    ]
    texts += ["\udfff\ue000\uffff\U00010000\U000e0001", "<&>'"]
    values = [
        *texts,
        5,
        -1,
        1.5,
        True,
        None,
        ["x", {"b": None, "a": [True]}],
        {"b": "<", "a": {}},
        [],
        errors.Enum("<x>"),
    ]
    made = {
        "invalid": lambda value: errors.invalid("a.b", value, "is bad"),
        "type": lambda value: errors.type_invalid("a.b", value, ""),
        "duplicate": lambda value: errors.duplicate("a.b", value),
        "not found": lambda value: errors.not_found("a.b", value),
        "not supported": lambda value: errors.not_supported("a.b", value, ("x", "y")),
        "required": lambda value: errors.required("a.b", str(value)),
        "forbidden": lambda value: errors.forbidden("a.b", str(value)),
        "internal": lambda value: errors.internal("a.b", str(value)),
        "plainly": lambda value: errors.plainly("a.b", str(value)),
    }
    said = {
        kind: answers(lambda value, make=make: (str(make(value)), make(value).body, make(value).cause), values)
        for kind, make in made.items()
    }
    for function in (errors.go_quote, errors.one_line, errors.paragraphs):
        said[function.__name__] = answers(function, texts)
    for shown in (errors.go_json, errors.go_text):
        said[shown.__name__] = answers(shown, values)
    said["too long"] = answers(lambda limit: str(errors.too_long("a", limit)), (0, 1, 2))
    said["too many"] = answers(lambda *given: str(errors.too_many("a", *given)), product((-1, 0, 3), (0, 1, 2)))
    few = [errors.required("a", ""), errors.required("b", ""), errors.required("a", "")]
    for count in range(4):
        said[f"{count} errors"] = answer(errors.invalid_message, "Pod", "p", few[:count])
    said["object"] = answer(lambda: str(errors.InvalidObjectError("Pod", "p", few)))
    assert errors.InvalidObjectError("Pod", "p", ()).path == ""
    same_as_recorded("kube-shown-errors", said)


def test_counts_spans_and_lists_in_words() -> None:
    counts = (0, 1, 2, 999, 1000, 12345)
    listed = [
        [f"n{each}" * width for each in range(length)] for length in range(7) for width in (1, 9, 12, 13, 18, 36, 40)
    ]
    known = ("gpu", "gpu-a", "gpu-b", "gpu-c", "node", "notebook", "workspace")
    said = {
        "counted": answers(words.counted, [(each, "pod") for each in counts]),
        "nodes": answers(words.nodes, counts),
        "share": answers(words.share, [(*each, "pods") for each in product(counts, counts)]),
        "and more": answers(words.and_more, product(listed, (1, 2, 3, 5))),
        "spell": answers(
            words.spell,
            [
                None,
                *(timedelta(seconds=each) for each in (0, 0.9, 1, 59, 60, 61, 3599, 3600, 3601, 3660, 3661, 90061)),
            ],
        ),
        "near": answers(
            did_you_mean, [(each, known) for each in ("gp", "gpu-", "gpu", "nod", "notbook", "x", "", "wrkspace")]
        ),
    }
    same_as_recorded("kube-words", said)


def test_enough_is_drawn_that_is_right_and_enough_that_is_not() -> None:
    draw = Random(0)
    chosen = draw.sample(_NAMES, 100)
    for check in _CHECKS[:4]:
        right = sum(not check(each) for each in chosen)
        assert 5 < right < 95, check.__name__
