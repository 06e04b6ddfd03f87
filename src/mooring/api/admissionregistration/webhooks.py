"""Webhook configurations: what the API server adds to them, and what it says about them, in its order."""

from typing import Final
from urllib.parse import urlsplit

from mooring.api.core.validation.meta import check_label_key, check_label_selector
from mooring.kube.domains import check_full_domain
from mooring.kube.errors import Enum, FieldError, duplicate, invalid, not_supported, required, too_many
from mooring.kube.names import is_dns1035_label, is_dns1123_subdomain, is_port_number
from mooring.kube.objects import Object

__all__ = [
    "check_client",
    "check_conditions",
    "check_rule",
    "check_selectors",
    "default_rules",
    "default_webhooks",
    "expression_errors",
    "validate_webhooks",
    "validate_webhooks_update",
]

Errors = list[FieldError]

_VERSIONS: Final = ("v1", "v1beta1")
_FAILURE_POLICIES: Final = ("Fail", "Ignore")
_MATCH_POLICIES: Final = ("Equivalent", "Exact")
_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_REINVOCATIONS: Final = ("IfNeeded", "Never")
_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_MAX_CONDITIONS: Final = 64


def default_webhooks(obj: Object) -> None:
    for hook in obj.get("webhooks", ()):
        hook.setdefault("failurePolicy", "Fail")
        hook.setdefault("matchPolicy", "Equivalent")
        hook.setdefault("namespaceSelector", {})
        hook.setdefault("objectSelector", {})
        hook.setdefault("timeoutSeconds", 10)
        if obj["kind"] == "MutatingWebhookConfiguration":
            hook.setdefault("reinvocationPolicy", "Never")
        default_rules(hook.get("rules", ()))
        service = hook["clientConfig"].get("service")
        if service is not None:
            service.setdefault("port", 443)


def default_rules(rules: list[Object] | tuple[()]) -> None:
    for rule in rules:
        rule.setdefault("scope", "*")


def validate_webhooks(obj: Object) -> list[FieldError]:
    errors: Errors = []
    _check_hooks(errors, obj, True)
    return errors


def validate_webhooks_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    same = [each.get("matchConditions") for each in new.get("webhooks", ())] == [
        each.get("matchConditions") for each in old.get("webhooks", ())
    ]
    _check_hooks(errors, new, not same)
    return errors


def _check_hooks(errors: Errors, obj: Object, conditions: bool) -> None:
    names: set[str] = set()
    for index, hook in enumerate(obj.get("webhooks", ())):
        path, name = f"webhooks[{index}]", hook["name"]
        _check_hook(errors, hook, path, conditions)
        _check_versions(errors, hook["admissionReviewVersions"] or [], f"{path}.admissionReviewVersions")
        if name and name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)


def _check_hook(errors: Errors, hook: Object, path: str, conditions: bool) -> None:
    check_full_domain(errors, hook["name"], f"{path}.name", parts=3)
    for index, rule in enumerate(hook.get("rules", ())):
        check_rule(errors, rule, f"{path}.rules[{index}]")
    for name, known in (("failurePolicy", _FAILURE_POLICIES), ("matchPolicy", _MATCH_POLICIES)):
        if hook[name] not in known:
            errors.append(not_supported(f"{path}.{name}", Enum(hook[name]), known))
    effects = hook["sideEffects"]
    if effects is None:
        errors.append(required(f"{path}.sideEffects", f"must specify one of {', '.join(_SIDE_EFFECTS)}"))
    elif effects not in _SIDE_EFFECTS:
        errors.append(not_supported(f"{path}.sideEffects", Enum(effects), _SIDE_EFFECTS))
    if not 1 <= hook["timeoutSeconds"] <= 30:
        detail = "the timeout value must be between 1 and 30 seconds"
        errors.append(invalid(f"{path}.timeoutSeconds", hook["timeoutSeconds"], detail))
    check_selectors(errors, hook, path)
    reinvocation = hook.get("reinvocationPolicy")
    if reinvocation is not None and reinvocation not in _REINVOCATIONS:
        errors.append(not_supported(f"{path}.reinvocationPolicy", Enum(reinvocation), _REINVOCATIONS))
    check_client(errors, hook["clientConfig"], f"{path}.clientConfig")
    if conditions:
        check_conditions(errors, hook.get("matchConditions", ()), f"{path}.matchConditions")


def check_selectors(errors: Errors, owner: Object, path: str) -> None:
    for name in ("namespaceSelector", "objectSelector"):
        check_label_selector(errors, owner[name], f"{path}.{name}")


def check_client(errors: Errors, client: Object, path: str) -> None:
    """Where to call: a URL or a Service, and not both."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        errors.append(required(path, "exactly one of url or service is required"))
    elif url is not None:
        _check_url(errors, url, f"{path}.url")
    elif service is not None:
        _check_service(errors, service, f"{path}.service")


def _check_url(errors: Errors, url: str, path: str) -> None:
    form = "; desired format: https://host[/path]"
    try:
        parts = urlsplit(url)
    except ValueError as error:
        errors.append(required(path, f"url must be a valid URL: {error}{form}"))
        return
    if parts.scheme != "https":
        errors.append(invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{form}"))
    user, at, host = parts.netloc.rpartition("@")
    if not host:
        errors.append(invalid(path, host, f"host must be specified{form}"))
    if at:
        errors.append(invalid(path, user, "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))


def _check_service(errors: Errors, service: Object, path: str) -> None:
    # The API has these two the wrong way round.
    for name, other in (("namespace", "name"), ("name", "namespace")):
        if not service[name]:
            errors.append(required(f"{path}.{other}", ""))
    if texts := is_port_number(service["port"]):
        errors.append(invalid(f"{path}.port", service["port"], f"port is not valid: {', '.join(texts)}"))
    target, here = service.get("path", "/"), f"{path}.path"
    if target in ("", "/"):
        return
    if target == "//":
        errors.append(invalid(here, target, "segment[0] may not be empty"))
        return
    if not target.startswith("/"):
        errors.append(invalid(here, target, "must start with a '/'"))
    for index, step in enumerate(target[1:].removesuffix("/").split("/")):
        if not step:
            errors.append(invalid(here, target, f"segment[{index}] may not be empty"))
            continue
        errors += [invalid(here, target, f"segment[{index}]: {text}") for text in is_dns1123_subdomain(step)]


def check_conditions(errors: Errors, conditions: list[Object] | tuple[()], path: str, *, params: bool = False) -> None:
    """Conditions on requests; those of policies may use `params`."""
    if len(conditions) > _MAX_CONDITIONS:
        errors.append(too_many(path, len(conditions), _MAX_CONDITIONS))
    names: set[str] = set()
    for index, condition in enumerate(conditions):
        here, name = f"{path}[{index}]", condition["name"]
        expression = condition["expression"].strip()
        if not expression:
            errors.append(required(f"{here}.expression", ""))
        else:
            errors += expression_errors(expression, f"{here}.expression", ("bool",), params=params)
        if name:
            check_label_key(errors, name, f"{here}.name")
        else:
            errors.append(required(f"{here}.name", ""))
        if name and name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)


def expression_errors(
    expression: str, path: str, kinds: tuple[str, ...], *, params: bool, authorizer: bool = True
) -> list[FieldError]:
    """Why an expression about requests does not compile to one of some types."""
    # Few configurations have expressions, and nobody else waits for what compiles them.
    from mooring.kube.cel.admission import admission_environment, compile_to
    from mooring.kube.cel.errors import CelCompileError

    try:
        compile_to(admission_environment(params=params, authorizer=authorizer), expression, kinds)
    except CelCompileError as error:
        return [invalid(path, expression, error.message)]
    return []


def _check_versions(errors: Errors, versions: list[str], path: str) -> None:
    if not versions:
        errors.append(required(path, f"must specify one of {', '.join(_VERSIONS)}"))
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            errors.append(invalid(f"{path}[{index}]", version, "duplicate version"))
            continue
        errors += [invalid(f"{path}[{index}]", version, text) for text in is_dns1035_label(version)]
    if not set(versions) & set(_VERSIONS):
        errors.append(invalid(path, versions, f"must include at least one of {', '.join(_VERSIONS)}"))


# Rules, which policies have too


def check_rule(errors: Errors, rule: Object, path: str) -> None:
    operations = rule.get("operations", [])
    if not operations:
        errors.append(required(f"{path}.operations", ""))
    if len(operations) > 1 and "*" in operations:
        detail = "if '*' is present, must not specify other operations"
        errors.append(invalid(f"{path}.operations", operations, detail))
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            errors.append(not_supported(f"{path}.operations[{index}]", Enum(operation), _OPERATIONS))
    for name, told in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(name, [])
        if not values:
            errors.append(required(f"{path}.{name}", ""))
        if len(values) > 1 and "*" in values:
            errors.append(invalid(f"{path}.{name}", values, f"if '*' is present, must not specify other {told}"))
    for index, version in enumerate(rule.get("apiVersions", ())):
        if not version:
            errors.append(required(f"{path}.apiVersions[{index}]", ""))
    _check_resources(errors, rule.get("resources", []), f"{path}.resources")
    if rule["scope"] not in _SCOPES:
        errors.append(not_supported(f"{path}.scope", Enum(rule["scope"]), _SCOPES))


def _check_resources(errors: Errors, resources: list[str], path: str) -> None:
    if not resources:
        errors.append(required(path, ""))
    whole: set[str] = set()
    everywhere: set[str] = set()
    plain = False
    for index, each in enumerate(resources):
        if not each:
            errors.append(required(f"{path}[{index}]", ""))
            continue
        name, slash, part = each.partition("/")
        if not slash:
            plain = each != "*"
            continue
        if name in whole:
            errors.append(invalid(f"{path}[{index}]", each, f"if '{name}/*' is present, must not specify {each}"))
        if part in everywhere:
            errors.append(invalid(f"{path}[{index}]", each, f"if '*/{part}' is present, must not specify {each}"))
        if part == "*":
            whole.add(name)
        if name == "*":
            everywhere.add(part)
    if len(resources) > 1 and "*/*" in resources:
        errors.append(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    if "*" in resources and plain:
        detail = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, resources, detail))
