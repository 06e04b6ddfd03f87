"""The objects that external clients work on."""

from __future__ import annotations

from mooring.kube.objects import Object


def config_map(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def pod_template(app: str, image: str = "registry.example/app:1") -> Object:
    """Pods of the least grace, because simulated nodes take the whole of it."""
    return {
        "metadata": {"labels": {"app": app}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": image}]},
    }


def deployment(name: str, replicas: int = 2, image: str = "registry.example/app:1") -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": pod_template(name, image),
        },
    }


def stateful_set(name: str, replicas: int = 2) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "selector": {"matchLabels": {"app": name}},
            "template": pod_template(name),
        },
    }


def job(name: str) -> Object:
    template = pod_template(name)
    template["spec"]["restartPolicy"] = "Never"
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}}


def service(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    }


def definition(group: str, kind: str = "Boat", **fields: Object) -> Object:
    """A custom kind with columns, a short name, status and scale; a Boat unless told otherwise."""
    plural = f"{kind.lower()}s"
    fields = fields or {
        "length": {"type": "integer", "minimum": 1, "description": "From bow to stern."},
        "crew": {"type": "integer", "default": 2},
    }
    first = next(iter(fields))
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": fields, "required": [first]},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.crew", "statusReplicasPath": ".status.crew"},
        },
        "additionalPrinterColumns": [{"name": first.title(), "type": "integer", "jsonPath": f".spec.{first}"}],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "shortNames": [plural[:2]]},
            "versions": [version],
        },
    }


def custom(group: str, kind: str, name: str, **spec: object) -> Object:
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
