"""Drawn devices: slices of nodes, claims whose expressions select some of them, and what is allocated already."""

from __future__ import annotations

from mooring.kube.objects import Object
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.pods import Nodes

DRIVER = "gpu.example.com"
API = "resource.k8s.io/v1"
MODELS = ("A100", "H100", "L4")
MEMORY = ("16Gi", "40Gi", "80Gi")


class Devices:
    """The objects of a world's devices, and what pods may claim, by namespace."""

    def __init__(self, dice: Dice, nodes: Nodes, *, odd_pools: bool = False) -> None:
        self.dice = dice
        self.objects: list[Object] = []
        self.free: list[tuple[str, str]] = []
        self.templates: dict[str, list[str]] = {}
        self.claims: dict[str, list[str]] = {}
        self._classes()
        for node in nodes:
            if dice.chance(0.7):
                self._slice(node)
        if odd_pools:
            self._odd_pools(nodes)
        for namespace in ("default", "shop", "lab"):
            for number in range(dice.randint(1, 3)):
                self._asked_for(namespace, number)

    def _add(self, kind: str, name: str, namespace: str, spec: Object) -> Object:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        found: Object = {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}
        self.objects.append(found)
        return found

    def _classes(self) -> None:
        driver = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
        small = {"cel": {"expression": f'device.attributes["{DRIVER}"].model == "L4"'}}
        self._add("DeviceClass", "gpu", "", {"selectors": [driver]})
        self._add("DeviceClass", "small", "", {"selectors": [driver, small]})

    def _odd_pools(self, nodes: Nodes) -> None:
        """Pools of several nodes, of an older generation, with a slice missing, and with a device named twice."""
        dice = self.dice
        for number in range(dice.randint(1, 3)):
            name, generation = f"odd-{number}", dice.pick((1, 2))
            pool = {"name": dice.pick(("odd", name)), "generation": generation}
            pool["resourceSliceCount"] = dice.pick((1, 1, 2))
            spec: Object = {"driver": DRIVER, "pool": pool}
            spec["devices"] = self._offered(name if dice.chance(0.8) else "odd", dice.randint(1, 3))
            match dice.randrange(3):
                case 0:
                    spec["allNodes"] = True
                case 1:
                    expression = {"key": "disk", "operator": "In", "values": ["ssd"]}
                    spec["nodeSelector"] = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
                case 2:
                    spec["nodeName"] = dice.pick(nodes)["metadata"]["name"]
            self._add("ResourceSlice", name, "", spec)

    def _offered(self, name: str, count: int) -> list[Object]:
        dice = self.dice
        return [
            {
                "name": f"{name}-{number}",
                "attributes": {
                    f"{DRIVER}/model": {"string": dice.pick(MODELS)},
                    "slot": {"int": number},
                    "healthy": {"bool": True},
                },
                "capacity": {"memory": {"value": dice.pick(MEMORY)}},
            }
            for number in range(count)
        ]

    def _slice(self, node: Object) -> None:
        dice, name = self.dice, node["metadata"]["name"]
        devices = []
        for number in range(dice.randint(1, 4)):
            attributes = {
                "model": {"string": dice.pick(MODELS)},
                "slot": {"int": number // 2},
                "healthy": {"bool": dice.chance(0.8)},
                "driverVersion": {"version": dice.pick(("1.2.0", "2.0.1"))},
            }
            devices.append(
                {
                    "name": f"gpu-{number}",
                    "attributes": attributes,
                    "capacity": {"memory": {"value": dice.pick(MEMORY)}},
                }
            )
            self.free.append((name, f"gpu-{number}"))
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec: Object = {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}
        self._add("ResourceSlice", f"{name}-devices", "", spec)

    def _exact(self) -> Object:
        dice = self.dice
        found: Object = {"deviceClassName": dice.pick(("gpu", "gpu", "small"))}
        if dice.chance(0.15):
            found["allocationMode"] = "All"
        elif dice.chance(0.5):
            found |= {"allocationMode": "ExactCount", "count": dice.pick((1, 2, 3))}
        prefix = f'device.attributes["{DRIVER}"]'
        expressions = (
            f'{prefix}.model == "{dice.pick(MODELS)}"',
            f'device.capacity["{DRIVER}"].memory.compareTo(quantity("{dice.pick((*MEMORY, "60Gi"))}")) >= 0',
            f"{prefix}.healthy",
            f"{prefix}.slot < 1",
            f'{prefix}.driverVersion.compareTo(semver("2.0.0")) >= 0',
        )
        if dice.chance(0.6):
            found["selectors"] = [{"cel": {"expression": each}} for each in dice.some(expressions, 1, 2)]
        return found

    def _spec(self) -> Object:
        dice = self.dice
        requests: list[Object] = []
        for number in range(dice.pick((1, 1, 2))):
            if dice.chance(0.2):
                choices = [{"name": f"choice-{i}", **self._exact()} for i in range(2)]
                requests.append({"name": f"request-{number}", "firstAvailable": choices})
            else:
                requests.append({"name": f"request-{number}", "exactly": self._exact()})
        devices: Object = {"requests": requests}
        if dice.chance(0.25):
            devices["constraints"] = [{"matchAttribute": f"{DRIVER}/{dice.pick(('model', 'slot'))}"}]
        return {"devices": devices}

    def _asked_for(self, namespace: str, number: int) -> None:
        template, claim = f"template-{number}", f"devices-{number}"
        self._add("ResourceClaimTemplate", template, namespace, {"spec": self._spec()})
        self.templates.setdefault(namespace, []).append(template)
        self._add("ResourceClaim", claim, namespace, self._spec())
        self.claims.setdefault(namespace, []).append(claim)

    def hold(self, pod: Object) -> None:
        """Let a pod that is there have a device of its node."""
        node, name = pod["spec"]["nodeName"], pod["metadata"]["name"]
        here = [each for each in self.free if each[0] == node]
        if not here:
            return
        taken = self.dice.pick(here)
        self.free.remove(taken)
        spec = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
        claim = self._add("ResourceClaim", f"{name}-gpu", pod["metadata"]["namespace"], spec)
        result = {"request": "gpu", "driver": DRIVER, "pool": node, "device": taken[1]}
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        claim["status"] = {
            "allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}},
            "reservedFor": [{"resource": "pods", "name": name, "uid": f"uid-{name}"}],
        }
        self._claimed(pod, {"name": "gpu", "resourceClaimName": f"{name}-gpu"})

    def use(self, pod: Object) -> None:
        dice, namespace = self.dice, pod["metadata"]["namespace"]
        if dice.chance(0.6):
            reference = {"name": "gpu", "resourceClaimTemplateName": dice.pick(self.templates[namespace])}
        else:
            reference = {"name": "gpu", "resourceClaimName": dice.pick(self.claims[namespace])}
        self._claimed(pod, reference)

    def _claimed(self, pod: Object, reference: Object) -> None:
        pod["spec"].setdefault("resourceClaims", []).append(reference)
        resources = pod["spec"]["containers"][0].setdefault("resources", {})
        resources["claims"] = [{"name": reference["name"]}]
