"""Expressions and the values that their variables take: texts that are almost right, and numbers at the edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mooring.kube.cel.values import CelOptional, Duration, Timestamp, Uint

INTS: Final = (0, 1, -1, 2, 3, 7, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1)
UINTS: Final = tuple(map(Uint, (0, 1, 2, 7, 2**53, 2**63, 2**64 - 1)))
DOUBLES: Final = (
    *(0.0, -0.0, 1.0, -1.5, 0.1, 2.5, 1e300, -1e300, 1e-320, 9007199254740992.0, 9007199254740993.0),
    *(
        9223372036854774784.0,
        9223372036854775808.0,
        -9223372036854775808.0,
        -9223372036854777856.0,
        18446744073709549568.0,
    ),
    *(18446744073709551616.0, float("nan"), float("inf"), float("-inf"), 123456.789, 1e21, 1e20, 0.000001, 1e-7),
)
TEXTS: Final = ("", "a", "abc", "a,b,,c", "é👑x", "Abc DEF", " \ta\n ", "aXbXc", "abcabc", "\x00\x7f", "ß")
NANOS: Final = (0, 1, -1, 999, 1_500_000, 90 * 10**9, -(3600 * 10**9) + 5, 2**63 - 1, -(2**63))
MOMENTS: Final = tuple(
    Timestamp(each) for each in (0, -1, 1_709_251_199_123_456_789, -62_135_596_800 * 10**9, 253_402_300_799 * 10**9)
)
SPANS: Final = tuple(map(Duration, NANOS))
LISTS: Final[tuple[list[Any], ...]] = (
    [],
    [1],
    [3, 1, 2],
    [2, 2, 1, 2],
    ["b", "a"],
    [1.5, 1],
    [True, False],
    [[1, [2]], [3]],
    [1, "a"],
)
MAPS: Final[tuple[dict[Any, Any], ...]] = ({}, {"a": 1}, {"a": 2, "b": 1}, {1: "x"}, {"a": {"b": [1]}})

READ: Final[dict[str, Sequence[str]]] = {
    "ip": (
        "1.2.3.4", "255.255.255.255", "::", "::1", "1::2:3", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:1.2.3.4", "fe80::1%eth0", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7::", "1::2::3", "12345::", "1.2.3.4:5", "::1.2.3.4.5", "1:2:3:4:5:6:7:1.2.3.4", "1:1.2.3.4",
        "1:2:3:4:5:6:7:8:9", ":1", "1:", ":::", "::g", "::1 ",
    ),
    "cidr": (
        "10.0.0.0/8", "10.1.2.3/8", "::/0", "fe80::/128", "fe80::/129", "1.2.3.4/33", "1.2.3.4/08", "1.2.3.4/00",
        "1.2.3.4/", "1.2.3.4", "::ffff:1.2.3.4/96", "fe80::1%a/10", "1.2.3/8", "/8",
    ),
    "url": (
        "https://u:p@h.com:80/p/q?a=1&b=2&a=3#f", "/p", "http://[::1]:8080/", "http://h:x/", "http://h/%zz",
        "mailto:a@b", "http://h?a=%20&b", "//h/p", "http://a b", "http://h/p#f%41", ":", "http://[::1", "1http://h",
        "?a=1", "http://h:/",
    ),
    "duration": (
        "1h30m1.5s", "-1.5ms", "0", "100us", "5ns", "1h-1m", "2562047h47m16.854775807s", "2562047h47m16.854775808s",
        "-2562047h47m16.854775808s", "1.h", ".5s", "1", "", "+1s", "1d",
    ),
    "timestamp": (
        "2024-02-29T23:59:59Z", "2024-02-29T23:59:59.123456789+01:30", "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999999Z", "2023-02-29T00:00:00Z", "2024-02-29t23:59:59z", "2024-02-29 23:59:59Z",
        "2024-02-29T24:00:00Z", "0000-01-01T00:00:00Z", "2024-1-1T00:00:00Z",
    ),
    "quantity": (
        "1.5Gi", "-100m", "1e3", "+1", "1Zi", "", "9223372036854775808", "0.0000000001",
    ),
    "semver": (
        "1.2.3", "1.0.0-rc.1+b", "v1.2.3", "1.2", "01.2.3", "1.2.3-", "18446744073709551616.0.0",
    ),
    "int": (
        "0", "-12", "+5", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1.5", "", "0x1F",
        "1_0", " 1",
    ),
    "uint": (
        "0", "12", "-1", "18446744073709551615", "18446744073709551616", "1.0", "",
    ),
    "double": (
        "0", "-1.5", "1e300", "1e400", "NaN", "inf", "-Infinity", "+Inf", "0x1p-2", "1_0", "", ".5", "5.", "1e-400",
    ),
    "bool": (
        "true", "True", "TRUE", "t", "T", "1", "false", "0", "f", "F", "tRue", "yes", "",
    ),
    "bytes": (
        "a", "é", "",
    ),
}  # fmt: skip
ASKED: Final[dict[str, Sequence[str]]] = {
    "ip": (
        "isIP(text)", "ip(text)", "ip.isCanonical(text)", "string(ip(text))", "ip(text).family()",
        "ip(text).isLoopback()", "ip(text).isUnspecified()", "ip(text).isGlobalUnicast()",
        "ip(text).isLinkLocalMulticast()", "ip(text).isLinkLocalUnicast()",
    ),
    "cidr": (
        "isCIDR(text)", "cidr(text)", "string(cidr(text).masked())", "cidr(text).prefixLength()", "cidr(text).ip()",
        "cidr(text).containsIP('10.1.2.3')", "cidr(text).containsIP(ip('fe80::1'))",
        "cidr(text).containsCIDR('10.1.0.0/16')", "cidr(text).containsCIDR(cidr('::/0'))",
        "cidr(text) == cidr('10.0.0.0/8')", "cidr(text).containsIP('x')",
    ),
    "url": (
        "isURL(text)", "url(text).getScheme()", "url(text).getHost()", "url(text).getHostname()",
        "url(text).getPort()", "url(text).getEscapedPath()", "url(text).getQuery()", "url(text) == url('/p')",
    ),
    "duration": (
        "duration(text)", "string(duration(text))", "duration(text).getMilliseconds()", "duration(text).getHours()",
        "duration(text).getMinutes()", "duration(text).getSeconds()", "duration(text) < duration('1h')",
    ),
    "timestamp": (
        "timestamp(text)", "string(timestamp(text))", "int(timestamp(text))", "timestamp(text) + duration('1h')",
    ),
    "quantity": (
        "isQuantity(text)", "quantity(text).asInteger()", "quantity(text).sign()", "sign(quantity(text))",
        "quantity(text).isInteger()", "quantity(text).asApproximateFloat()", "quantity(text).add(1)",
        "quantity(text).sub(quantity('1'))",
    ),
    "semver": (
        "isSemver(text)", "isSemver(text, true)", "semver(text)", "semver(text, true)",
        "semver(text).compareTo(semver('1.0.0'))",
    ),
    "int": (
        "int(text)",
    ),
    "uint": (
        "uint(text)",
    ),
    "double": (
        "double(text)", "string(double(text))",
    ),
    "bool": (
        "bool(text)",
    ),
    "bytes": (
        "string(bytes(text))", "size(bytes(text))",
    ),
}  # fmt: skip
NAMED: Final = (
    "dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "labelValue", "uri", "uuid", "byte", "date",
    "datetime", "dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix",
)  # fmt: skip
NAMES: Final = (
    "a-b",
    "a.b",
    "A",
    "a-",
    "1a",
    "a/b",
    "x" * 64,
    "x" * 254,
    "https://a/b",
    "a b",
    "YQ==",
    "2024-02-29",
    "2024-02-29T00:00:00Z",
    "",
)
ARITHMETIC: Final = ("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=")
OF_NUMBERS: Final = (
    "int(n)",
    "uint(n)",
    "double(n)",
    "string(n)",
    "-(n)",
    "type(n)",
    "bool(n)",
    "timestamp(n)",
    "duration(n)",
    "'%s'.format([n])",
    "'%d'.format([n])",
    "'%f'.format([n])",
    "'%.2f'.format([n])",
    "'%.0f'.format([n])",
    "'%e'.format([n])",
    "'%.3e'.format([n])",
    "'%b'.format([n])",
    "'%x'.format([n])",
    "'%X'.format([n])",
    "'%o'.format([n])",
)
GRIDS: Final[tuple[tuple[dict[str, Sequence[Any]], tuple[str, ...]], ...]] = (
    ({"s": TEXTS}, (
        "s.upperAscii()", "s.lowerAscii()", "s.trim()", "s.reverse()", "size(s)", "bytes(s)", "s.split('')",
        "s.split(',')",
    )),
    ({"s": TEXTS, "i": (-1, 0, 1, 2, 3, 9)}, (
        "s.charAt(i)", "s.substring(i)", "s.split(',', i)", "s.indexOf('b', i)", "s.lastIndexOf('b', i)",
    )),
    ({"s": TEXTS, "i": (-1, 0, 1, 3), "j": (-1, 0, 1, 3, 9)}, (
        "s.substring(i, j)", "s.replace('X', s, i)", "s.replace('', '-', j)",
    )),
    ({"s": TEXTS, "t": ("", "a", "b", "abc", "X", "é")}, (
        "s.contains(t)", "s.startsWith(t)", "s.endsWith(t)", "s.indexOf(t)", "s.lastIndexOf(t)", "s.replace(t, '')",
        "s + t", "s < t", "s.matches(t)", "s.find(t)", "s.findAll(t)",
    )),
    ({"l": LISTS}, (
        "size(l)", "l.isSorted()", "l.sum()", "l.min()", "l.max()", "l.distinct()", "l.reverse()", "l.sort()",
        "l.flatten()", "l.join()", "l.join('-')", "l.first()", "l.last()", "l + l", "l == l", "'%s'.format([l])",
        "l.indexOf(1)", "l.lastIndexOf(2)", "sets.contains(l, [1])", "sets.intersects(l, [1, 2])",
        "sets.equivalent(l, [1, 2])",
    )),
    ({"l": LISTS, "i": (-1, 0, 1, 3)}, (
        "l[i]", "l.flatten(i)", "lists.range(i)", "l[?i]", "i in l", "l.slice(0, i)", "l.slice(i, 2)",
    )),
    ({"m": MAPS}, (
        "size(m)", "m.a", "has(m.a)", "m[?'a']", "m.?a.orValue(5)", "'a' in m", "1 in m", "m == {'a': 1.0}",
        "m.all(k, k == 'a')", "'%s'.format([m])", "m.?a.?b[?0]", "m.map(k, m[k])",
    )),
    ({"t": MOMENTS}, (
        "t.getFullYear()", "t.getFullYear('+05:30')", "t.getFullYear('America/New_York')", "t.getFullYear('-2:00')",
        "t.getFullYear('+25:00')", "t.getFullYear('Nowhere')", "t.getFullYear('00:60')", "t.getMonth()",
        "t.getMonth('+05:30')", "t.getMonth('America/New_York')", "t.getMonth('-2:00')", "t.getMonth('+25:00')",
        "t.getMonth('Nowhere')", "t.getMonth('00:60')", "t.getDate()", "t.getDate('+05:30')",
        "t.getDate('America/New_York')", "t.getDate('-2:00')", "t.getDate('+25:00')", "t.getDate('Nowhere')",
        "t.getDate('00:60')", "t.getDayOfMonth()", "t.getDayOfMonth('+05:30')",
        "t.getDayOfMonth('America/New_York')", "t.getDayOfMonth('-2:00')", "t.getDayOfMonth('+25:00')",
        "t.getDayOfMonth('Nowhere')", "t.getDayOfMonth('00:60')", "t.getDayOfWeek()", "t.getDayOfWeek('+05:30')",
        "t.getDayOfWeek('America/New_York')", "t.getDayOfWeek('-2:00')", "t.getDayOfWeek('+25:00')",
        "t.getDayOfWeek('Nowhere')", "t.getDayOfWeek('00:60')", "t.getDayOfYear()", "t.getDayOfYear('+05:30')",
        "t.getDayOfYear('America/New_York')", "t.getDayOfYear('-2:00')", "t.getDayOfYear('+25:00')",
        "t.getDayOfYear('Nowhere')", "t.getDayOfYear('00:60')", "t.getHours()", "t.getHours('+05:30')",
        "t.getHours('America/New_York')", "t.getHours('-2:00')", "t.getHours('+25:00')", "t.getHours('Nowhere')",
        "t.getHours('00:60')", "t.getMinutes()", "t.getMinutes('+05:30')", "t.getMinutes('America/New_York')",
        "t.getMinutes('-2:00')", "t.getMinutes('+25:00')", "t.getMinutes('Nowhere')", "t.getMinutes('00:60')",
        "t.getSeconds()", "t.getSeconds('+05:30')", "t.getSeconds('America/New_York')", "t.getSeconds('-2:00')",
        "t.getSeconds('+25:00')", "t.getSeconds('Nowhere')", "t.getSeconds('00:60')", "t.getMilliseconds()",
        "t.getMilliseconds('+05:30')", "t.getMilliseconds('America/New_York')", "t.getMilliseconds('-2:00')",
        "t.getMilliseconds('+25:00')", "t.getMilliseconds('Nowhere')", "t.getMilliseconds('00:60')",
    )),
    ({"t": MOMENTS, "d": SPANS}, (
        "t + d", "t - d", "d + d", "d - d", "t - t", "d == d", "string(t)", "string(d)", "'%s'.format([t])",
        "'%s'.format([d])",
    )),
    ({"n": INTS}, OF_NUMBERS),
    ({"n": UINTS}, OF_NUMBERS),
    ({"n": DOUBLES}, OF_NUMBERS),
    ({"n": TEXTS}, (
        "'%s'.format([n])", "'%d'.format([n])", "'%f'.format([n])", "'%.2f'.format([n])", "'%.0f'.format([n])",
        "'%e'.format([n])", "'%.3e'.format([n])", "'%b'.format([n])", "'%x'.format([n])", "'%X'.format([n])",
        "'%o'.format([n])",
    )),
    ({"n": (True, False, None)}, (
        "'%s'.format([n])", "'%d'.format([n])", "'%f'.format([n])", "'%.2f'.format([n])", "'%.0f'.format([n])",
        "'%e'.format([n])", "'%.3e'.format([n])", "'%b'.format([n])", "'%x'.format([n])", "'%X'.format([n])",
        "'%o'.format([n])",
    )),
    ({"o": (CelOptional(), CelOptional(1, True), CelOptional("abc", True), CelOptional({"a": 1}, True))}, (
        "o.hasValue()", "o.value()", "o.orValue(7)", "o.or(optional.of(2))", "optional.ofNonZeroValue(o.orValue(0))",
        "o.optMap(x, [x])", "o.optFlatMap(x, optional.none())", "o == optional.of(1)", "'%s'.format([o])", "o.?a",
    )),
)  # fmt: skip
