"""Writes the table of protobuf fields that the embedded API server reads request bodies with.

Numbers, JSON names and what an empty field looks like in JSON all stand in the struct tags of the Go types, so those
are read. To follow another Kubernetes version, or after a kind was added to the registry:

    go mod download k8s.io/api@VERSION k8s.io/apimachinery@VERSION k8s.io/apiextensions-apiserver@VERSION
    go mod download k8s.io/kube-aggregator@VERSION
    python -m scripts.protobuf_fields VERSION
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from mooring.registry.resources import builtin_resources

TABLE: Final = Path(__file__).parent.parent / "src/mooring/apiserver/protobuf/data/fields.txt"

# Package, module, folder in it, API group and version. Kinds of meta.v1 are sent under every version.
PACKAGES: Final = """
meta.v1 apimachinery pkg/apis/meta/v1 *
admissionregistration.v1 api admissionregistration/v1 admissionregistration.k8s.io/v1
apiextensions.v1 apiextensions-apiserver pkg/apis/apiextensions/v1 apiextensions.k8s.io/v1
apiregistration.v1 kube-aggregator pkg/apis/apiregistration/v1 apiregistration.k8s.io/v1
apps.v1 api apps/v1 apps/v1
authentication.v1 api authentication/v1 authentication.k8s.io/v1
authorization.v1 api authorization/v1 authorization.k8s.io/v1
autoscaling.v1 api autoscaling/v1 autoscaling/v1
autoscaling.v2 api autoscaling/v2 autoscaling/v2
batch.v1 api batch/v1 batch/v1
certificates.v1 api certificates/v1 certificates.k8s.io/v1
coordination.v1 api coordination/v1 coordination.k8s.io/v1
core.v1 api core/v1 v1
discovery.v1 api discovery/v1 discovery.k8s.io/v1
events.v1 api events/v1 events.k8s.io/v1
flowcontrol.v1 api flowcontrol/v1 flowcontrol.apiserver.k8s.io/v1
networking.v1 api networking/v1 networking.k8s.io/v1
node.v1 api node/v1 node.k8s.io/v1
policy.v1 api policy/v1 policy/v1
rbac.v1 api rbac/v1 rbac.authorization.k8s.io/v1
resource.v1 api resource/v1 resource.k8s.io/v1
scheduling.v1 api scheduling/v1 scheduling.k8s.io/v1
storage.v1 api storage/v1 storage.k8s.io/v1
"""

# Kinds that are sent though no resource is named after them.
ALSO_SENT: Final = (
    "authentication.v1.SelfSubjectReview",
    "authentication.v1.TokenRequest",
    "authentication.v1.TokenReview",
    "authorization.v1.LocalSubjectAccessReview",
    "authorization.v1.SelfSubjectAccessReview",
    "authorization.v1.SelfSubjectRulesReview",
    "authorization.v1.SubjectAccessReview",
    "autoscaling.v1.Scale",
    "core.v1.Binding",
    "meta.v1.DeleteOptions",
    "meta.v1.PartialObjectMetadata",
    "meta.v1.PartialObjectMetadataList",
    "meta.v1.Status",
    "policy.v1.Eviction",
)

# Types with a JSON form of their own, and Go's plain ones.
SIMPLE: Final = {
    "bool": "bool",
    "float64": "double",
    "int32": "int32",
    "int64": "int64",
    "string": "string",
    "types.UID": "string",
    "intstr.IntOrString": "int-or-string",
    "resource.Quantity": "quantity",
    "runtime.RawExtension": "raw",
    "meta.v1.FieldsV1": "raw",
    "meta.v1.MicroTime": "micro",
    "meta.v1.Time": "time",
    "apiextensions.v1.JSON": "raw",
    "apiextensions.v1.JSONSchemaPropsOrArray": "schema-or-list",
    "apiextensions.v1.JSONSchemaPropsOrBool": "schema-or-bool",
    "apiextensions.v1.JSONSchemaPropsOrStringArray": "schema-or-strings",
}
# Those of them that Go keeps as structs, which are never left out for being empty.
STRUCTS: Final = frozenset(SIMPLE.values()) - {"bool", "double", "int32", "int64", "string"}

_STRUCT: Final = re.compile(r"^type (\w+) struct ?\{(\})?$")
_NAMED: Final = re.compile(r"^type (\w+) ([\w.\[\]*]+)$")
_FIELD: Final = re.compile(r"^\t(?:\w+ +)?([\w.\[\]*]+) +`(.*)`")
_TAG: Final = re.compile(r'(\w+):"([^"]*)"')
_IMPORT: Final = re.compile(r'^\t(\w+) "k8s\.io/(?:api|apimachinery/pkg/apis)/(\w+)/(\w+)"$', re.MULTILINE)


class Package(NamedTuple):
    name: str
    version: str
    structs: dict[str, list[str]]
    # Named types that are no structs: name, and the type it stands for.
    named: dict[str, str]
    # Local import name, and the package it stands for.
    imports: dict[str, str]


def read_package(name: str, folder: Path, version: str) -> Package:
    package = Package(name, version, {}, {}, {})
    for file in sorted(folder.glob("*.go")):
        if not file.name.endswith("_test.go") and not file.name.startswith(("zz_", "generated.")):
            read_types(package, file.read_text(encoding="utf-8"))
    return package


def read_types(package: Package, text: str) -> None:
    package.imports.update({local: f"{group}.{version}" for local, group, version in _IMPORT.findall(text)})
    fields: list[str] | None = None
    comment = ""
    for line in text.splitlines():
        if fields is not None:
            fields.append(line)
            fields = None if line == "}" else fields
        elif struct := _STRUCT.match(line):
            package.structs[struct[1]] = []
            fields = None if struct[2] else package.structs[struct[1]]
        elif named := _NAMED.match(line):
            # A list that can be null travels in a message around it.
            package.named[named[1]] = "words" if "+protobuf.nullable=true" in comment else named[2]
        comment = comment + line if line.startswith("//") else ""


class Writer:
    """Walks from the kinds that are sent to every type they contain."""

    def __init__(self, packages: dict[str, Package]) -> None:
        self._packages = packages
        self.lines: dict[str, str] = {}

    def add(self, full_name: str) -> None:
        if full_name in self.lines:
            return
        package, name = self._split(full_name)
        self.lines[full_name] = ""
        fields = package.structs[name]
        head = f"{full_name} @{package.version}" if any("TypeMeta `" in field for field in fields) else full_name
        found = sorted(self._fields(package, fields))
        self.lines[full_name] = f"{head}: " + "; ".join(f"{number} {text}" for number, text in found)

    def _split(self, full_name: str) -> tuple[Package, str]:
        package, _, name = full_name.rpartition(".")
        return self._packages[package], name

    def _fields(self, package: Package, fields: list[str]) -> Iterator[tuple[int, str]]:
        for field in filter(None, map(_FIELD.match, fields)):
            go_type, tags = field[1], dict(_TAG.findall(field[2]))
            if "protobuf" not in tags:
                continue
            number = int(tags["protobuf"].split(",")[1])
            name, *options = tags["json"].split(",")
            kind = self._type(package, go_type.removeprefix("*"))
            if not name:
                yield number, f"+ {kind}"
                continue
            pointer = go_type.startswith("*")
            omitted = ("omitempty" in options and (pointer or not self._is_struct(kind))) or "omitzero" in options
            yield number, f"{name} {kind}{'*' if pointer else ''}{'' if omitted else '!'}"

    def _is_struct(self, kind: str) -> bool:
        return kind in STRUCTS or ("." in kind and kind[0] not in "[{")

    def _type(self, package: Package, go_type: str) -> str:
        if go_type == "[]byte":
            return "bytes"
        if go_type.startswith("[]"):
            return f"[{self._type(package, go_type[2:])}]"
        if go_type.startswith("map["):
            return f"{{{self._type(package, go_type.partition(']')[2])}}}"
        if go_type in SIMPLE:
            return SIMPLE[go_type]
        local, dot, name = go_type.rpartition(".")
        if dot:
            package = self._packages[package.imports[local]]
        full_name = f"{package.name}.{name}"
        if full_name in SIMPLE:
            return SIMPLE[full_name]
        if name in package.named:
            target = package.named[name]
            return target if target == "words" else self._type(package, target)
        self.add(full_name)
        return full_name


def sent_kinds(packages: dict[str, Package]) -> Iterator[str]:
    by_version = {package.version: package for package in packages.values()}
    for resource in builtin_resources():
        package = by_version[resource.api_version]
        yield f"{package.name}.{resource.kind}"
        yield f"{package.name}.{resource.list_kind}"
    yield from ALSO_SENT


def main(version: str) -> None:
    cache = Path(subprocess.check_output(("go", "env", "GOMODCACHE"), text=True).strip()) / "k8s.io"
    packages = {}
    for line in PACKAGES.strip().splitlines():
        name, module, folder, api_version = line.split()
        packages[name] = read_package(name, cache / f"{module}@{version}" / folder, api_version)
    writer = Writer(packages)
    for kind in sent_kinds(packages):
        writer.add(kind)
    head = f"# Protobuf fields of the API types, made by scripts/protobuf_fields.py from k8s.io/api {version}.\n"
    TABLE.write_text(head + "\n".join(writer.lines[name] for name in sorted(writer.lines)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
