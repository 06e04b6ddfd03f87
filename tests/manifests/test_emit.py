"""Objects are written as kubectl writes them; the sample was recorded from `kubectl label --local -o yaml`."""

from __future__ import annotations

from mooring.manifests.emit import to_yaml
from mooring.manifests.loader import load

RECORDED = """\
apiVersion: v1
data:
  bool: "true"
  bracket: '{a'
  colon: a:b
  colon-end: 'a:'
  colon-space: 'a: b'
  comment: 'a #b'
  dash: -x
  empty: ""
  float: "1.5"
  int: "8"
  lines: |-
    a
    b
  lines-end: |
    a
    b
  lines-ends: |+
    a

  octal: "0755"
  quote: 'a''b c: d'
  sixty: "22:22"
  tab: "tab\\there"
  time: "2024-01-01T00:00:00Z"
  word: "y"
items:
- - 1
  - 2
- - - 3
- a: []
- {}
- null
- b:
    c: 1.5
    d:
    - e: null
      f: false
kind: ConfigMap
"""

VALUE = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "data": {
        "bool": "true",
        "bracket": "{a",
        "colon": "a:b",
        "colon-end": "a:",
        "colon-space": "a: b",
        "comment": "a #b",
        "dash": "-x",
        "empty": "",
        "float": "1.5",
        "int": "8",
        "lines": "a\nb",
        "lines-end": "a\nb\n",
        "lines-ends": "a\n\n",
        "octal": "0755",
        "quote": "a'b c: d",
        "sixty": "22:22",
        "tab": "tab\there",
        "time": "2024-01-01T00:00:00Z",
        "word": "y",
    },
    "items": [[1, 2], [[3]], {"a": []}, {}, None, {"b": {"c": 1.5, "d": [{"e": None, "f": False}]}}],
}


def test_yaml_looks_as_kubectl_prints_it() -> None:
    assert to_yaml(VALUE) == RECORDED
    assert load(RECORDED) == VALUE


def test_a_key_that_would_merge_is_quoted() -> None:
    assert to_yaml({"<<": "x"}) == '"<<": x\n'


def test_characters_beyond_sixteen_bits_survive() -> None:
    assert load(to_yaml({"key": "\U0001f6a2"})) == {"key": "\U0001f6a2"}
