"""What drawn expressions are made of: literals, texts that mean something to a function, and a template per overload."""

from __future__ import annotations

from typing import Final

LITERALS: Final = {
    "int": (
        "0", "1", "2", "3", "-1", "7", "10", "42", "-5", "100", "255", "1000000", "9223372036854775807", "0x1F", "-0x10",
        "-9223372036854775808", "4611686018427387904", "9007199254740993", "1700000000", "-62135596801", "253402300800",
    ),
    "uint": ("0u", "1u", "2u", "3u", "10u", "18446744073709551615u", "9223372036854775808u", "0xFFu", "7u"),
    "double": (
        "0.0", "1.0", "-1.5", "2.5", "3.25", "1e3", "1e21", "1e-7", "123456.789", "1e300", "-0.0", "0.1", "100000.0",
        "1000000.0", "1234567.0", "9.223372036854775807e18", "1.8446744073709552e19", "double('NaN')", "double('inf')", "1e-5", ".5",
    ),
    "string": ("'a'", "''", "'abc'", "'b'", "'x'", "'hello'", "r'a\\b'", "'\\u00e9'", "'a b'", "'Z'", "'10'", "'\\t'"),
    "bytes": ("b'a'", "b''", "b'abc'", "b'\\xff'", "b'\\303\\251'", "b'é'", "bytes('hello')", "b'\\x00z'"),
    "bool": ("true", "false"),
    "duration": (
        "duration('1h')", "duration('1m30s')", "duration('-5s')", "duration('0')", "duration('1.5ms')", "duration('100ns')",
        "duration('2562047h')", "duration('-3h2m1.5s')", "duration('1500us')", "duration('36h')",
    ),
    "timestamp": (
        "timestamp('2024-02-29T12:30:45Z')", "timestamp('1970-01-01T00:00:00Z')", "timestamp('2023-12-31T23:59:59.999999999Z')",
        "timestamp('0001-01-01T00:00:00Z')", "timestamp('9999-12-31T23:59:59Z')", "timestamp('2021-07-04T01:02:03+05:30')",
        "timestamp('1969-12-31T16:00:00.25-08:00')", "timestamp(1700000000)", "timestamp('2000-01-03T00:00:00Z')",
    ),
    "null": ("null",),
    "ip": ("ip({'ip})", "ip('10.0.0.1')", "ip('2001:db8::1')", "ip('::1')", "cidr('10.1.2.3/8').ip()"),
    "cidr": ("cidr({'cidr})", "cidr('10.0.0.0/8')", "cidr('192.168.1.77/24')", "cidr('2001:db8::/32')"),
    "url": ("url({'url})", "url('https://user@example.com:8080/a/b?x=1&y=2&x=3#f')", "url('/only/path')"),
    "quantity": ("quantity({'quantity})", "quantity('1Gi')", "quantity('100m')", "quantity('-5')", "quantity('3k')"),
    "semver": ("semver({'semver})", "semver('1.2.3')", "semver('1.0.0-alpha.1')", "semver('2.0.0+build')"),
    "format": (
        "format.dns1123Label()", "format.dns1123Subdomain()", "format.dns1035Label()", "format.qualifiedName()", "format.uri()",
        "format.dns1123LabelPrefix()", "format.dns1123SubdomainPrefix()", "format.dns1035LabelPrefix()", "format.labelValue()",
        "format.uuid()", "format.byte()", "format.date()", "format.datetime()", "format.named({'named}).value()",
    ),
}  # fmt: skip

TEXTS: Final = {
    "any": (
        "", "a", "abc", "Hello World", "hello", "é", "👑 king", "a b  c", "x.y.z", "10", "-3", "true", "a,b,c", "aXbXc", " trim ",
        "\tx\n", "ÀÉ", "foo/bar", "a-b", "A", "zzz", "0.5", "1e3", "banana", "abcabc", "%", "ǆ", "ß", "İ",
    ),
    "int": ("1", "-1", "+5", "007", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1.0", "", " 1", "0x1", "1_0", "٣"),
    "uint": ("1", "-1", "+5", "18446744073709551615", "18446744073709551616", "", "1u", "0b1"),
    "double": ("1", "1.5", "-2.5e3", ".5", "5.", "1e400", "-1e400", "NaN", "nan", "Inf", "-inf", "+Infinity", "0x1p4", "1_0.5", "", "e", "1e", "infinit"),
    "bool": ("true", "false", "True", "TRUE", "t", "T", "1", "0", "f", "F", "False", "FALSE", "yes", "", "tRUE", "no"),
    "duration": (
        "1h", "1m", "1.5s", "-1h30m", "+2s", "0", "1d", "", "5", "1h1h", "1ns", "1us", "1µs", "1.s", ".5s", ".s", "-", "1ms1", "1h 1m",
        "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns", "2562047h47m16.854775807s", "2562048h", "315576000001s",
        "1.123456789012s", "0.0000000001s", "3w", "--1s", "00h", "-0",
    ),
    "timestamp": (
        "2024-02-29T12:30:45Z", "2023-02-29T12:30:45Z", "2024-01-01", "2024-01-01T00:00:00", "2024-01-01T00:00:00.123456789Z",
        "2024-01-01T24:00:00Z", "2024-01-01t00:00:00z", "2024-01-01T00:00:00,5Z", "2024-01-01T00:00:60Z", "2024-13-01T00:00:00Z",
        "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.9Z", "2024-01-01T00:00:00+14:00", "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00-00:00", "2024-01-01 00:00:00Z", "24-01-01T00:00:00Z", "", "x", "0001-01-01T00:00:00+01:00", "2024-01-01T1:00:00Z",
        "2024-01-01T00:00:00.1234567890Z", "2024-01-01T00:00:00+23:60",
    ),
    "zone": (
        "UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "", "+01:00", "-08:00", "05:30", "Nowhere/City", "Local", "-3:00",
        "+24:00", "1:2", "Asia/Tokyo", "GMT", "12:75", "-00:30", "+1", "Etc/GMT+5", "00:00",
    ),
    "ip": (
        "10.0.0.1", "127.0.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "169.254.1.1", "192.168.0.1", "::1", "::", "fe80::1", "ff02::1",
        "2001:db8::68", "2001:DB8::68", "2001:db8:0:0:0:0:0:68", "::ffff:1.2.3.4", "fe80::1%eth0", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1",
        "", "x", "1..2.3", "1.2.3.x", "1:2", ":::", "1::2::3", "12345::", "1.2.3.4/8", "239.1.2.3", "8.8.8.8", "ff01::1", "ff05::1", "::1.2.3.4",
        "1:2:3:4:5:6:7:8:9", "g::1", "172.16.0.1", "224.0.1.1", ".1.2.3", "1.2.3.", "1.2.3.4 ", "+1.2.3.4", "::%", "1:2:3:4:5:6:7:", "0.0.0.0.0",
        "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "fc00::1", "2001:db8:0:1::1:0:1", "1000.1.1.1", "0x1.1.1.1",
    ),
    "cidr": (
        "10.0.0.0/8", "10.1.2.3/8", "192.168.0.0/16", "192.168.1.0/24", "0.0.0.0/0", "1.2.3.4/32", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4", "::/0",
        "2001:db8::/32", "2001:db8::1/128", "2001:db8::1/129", "::ffff:1.2.3.4/96", "1.2.3.4/08", "1.2.3.4/-1", "1.2.3/8", "", "x/8", "fe80::1%a/64",
        "10.0.0.0/9", "10.128.0.0/9", "1.2.3.4/+8", "1.2.3.4/8/8", "1.2.3.4/1000", "/8", "1.2.3.4/ 8", "fd00::/8", "2001:DB8::/31", "1.2.3.4/8a",
    ),
    "url": (
        "https://example.com", "https://example.com:80/path?k=v", "http://[::1]:8080/", "/path", "/a b", "/a%20b", "/a%zz", "//host/path", "///x",
        "https://user:pw@host/p", "mailto:x@y.z", "example.com", "", "http://", "http://a:b/", "http://a:99999/", ":foo", "1http://x", "http://a b/",
        "http://host?x=1&x=2&y", "http://host/p?a=%41&b=+c;d", "http://host#frag", "HTTP://Host/P", "http://[::1", "http://h/\u00e9", "http://h/%C3%A9",
        "http://h:/", "/p?q#f", "http://h/a%2Fb", "x:y", "http://%41/", "*", "a/b:c", "http://h/?=1", "http://h/?a=1&a=2&b=%", "http://h/<>", "/\u0001",
        "https://a.b.c:443/x/y/../z?", "http://h/;p?x", "ftp://u@h:21/f", "http://h/a^b", "http://[fe80::1%25en0]:80/", "http://a_b/", "//", "/%", "http://h/'()*!",
    ),
    "quantity": (
        "1", "0", "-1", "1Ki", "1Mi", "1.5Gi", "100m", "1k", "1K", "1e3", "1E3", "1.5", "0.001", "1n", "1u", "5T", "1Ei", "10E", "+5", "", "x", "1 ",
        "1e", "1.2.3", "-0.5", ".5", "5.", "1e-3", "99999999999999999999", "1Gii", "0x5", "12345678901", "1.123456789123", "-1Mi", "50k", "1e20", "1P",
        "9223372036854775807", "9223372036854775808", "1m", "1e-9", "1e-10", "-", "+", "2.5m", "1024Ki", "0.5Ki", "1E", "1e+3", "00.10", "8Ei", "1i",
    ),
    "semver": (
        "1.2.3", "0.0.0", "1.2", "1", "v1.2.3", "1.2.3-alpha", "1.2.3-alpha.1", "1.2.3-alpha.beta", "1.2.3+b.1", "1.2.3-rc.1+b", "01.2.3", "1.02.3",
        "1.2.3-01", "1.2.3-", "1.2.3+", "", "x", "1.2.3.4", "99999999999999999999.0.0", "v1", "v1.2", " 1.2.3", "1.2.x", "1.2.3-a_b", "V1.2.3", "-1.2.3", "1.2.3-0a",
        "01.02.03", "v01.1", "1.0-rc.1", "1..2", "1.2.3-é", "18446744073709551615.1.1", "1.2.3+01",
    ),
    "pattern": (
        "a", "^a", "b$", "[a-z]+", "[0-9]+", "a.c", "(a)(b)?", "", "\\d", "\\w+", "(?i)HELLO", "a|b", "x*", "[", "(", "*", "a{2}", "a{1001}", "\\p{L}", "^$",
        "[^a]", "\\bhello\\b", ".", "(?P<n>a)", "(?<n>a)", "a++", "\\1", "(?=a)", "\\s", "[[:alpha:]]+", "\\x41", "(?s).", "\\Q.\\E", "é",
    ),
    "name": (
        "abc", "a-b", "a.b", "-a", "a-", "A", "", "1a", "a" * 63, "a" * 64, "a.b-c.d", "a..b", "example.com/name", "example.com/", "/x", "a_b", "a.", "é", "x/y/z",
        "0", "a--b", "9-", "a" * 254, "example.com/" + "n" * 64, "_x", "x.1",
    ),
    "formatted": (
        "https://a/b", "/p", "nope", "123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000", "aGVsbG8=", "aGVsbG8", "2024-02-29",
        "2023-02-29", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00", "", "!", "abc", "a-", "A.b", "2024-02-29 00:00:00Z", "AGVS", "aGVs\nbG8=",
    ),
    "named": ("dns1123Label", "uuid", "date", "labelValue", "nope", "uri", "DNS1123Label", "qualifiedName", "byte", "datetime", ""),
    "form": (
        "%s", "%d", "%f", "%e", "%x", "%X", "%b", "%o", "%%", "%s-%s", "%.2f", "%.3e", "%.0f", "%q", "%", "%5d", "a%sb", "%d%%", "%s %d", "%.1s", "%.d",
        "no verb", "%.10f", "%é", "%.f", "% s", "%+d", "%s%s%s", "%v", "%.123f",
    ),
    "pointer": ("a/b", "~", "~/~1", "plain", "", "é/~0"),
    "escape": ("a\"b", "tab\t", "\\", "new\\nline", "é👑", "\u0007bell", "\u0001", "\u200b", "''"),
}  # fmt: skip

PRODUCTIONS: Final[dict[str, tuple[str, ...]]] = {
    "any": (
        "({bool} ? {S} : {S})", "[{S}, {S}][{int}]", "[{S}][0]", "{list<S>}[0]", "⟨'a': {S}⟩.a", "⟨'a': {S}, 'b': {S}⟩[{string}]", "optional.of({S}).value()",
        "{optional<S>}.orValue({S})", "{optional<S>}.value()", "dyn({S})", "⟨{U}: {S}⟩[{U}]", "[{S}].map(w, w)[0]", "optional.none().orValue({S})",
        "⟨1: {S}⟩[1]", "[{S}, {S}].filter(w, w == {S})[0]", "{list<S>}.last().value()", "{list<S>}.first().orValue({S})", "[?{optional<S>}][0]",
        "⟨'a': {S}⟩[?'b'].orValue({S})", "optional.ofNonZeroValue({S}).value()", "{list<S>}[?{int}].orValue({S})",
        "{optional<S>}.or(optional.of({S})).value()", "[[{S}]].flatten()[0]", "[{S}].reverse()[0]", "{optional<U>}.optMap(w, {S}).orValue({S})",
        "⟨?'a': {optional<S>}⟩.a", "[dyn({S}), {U}][0]",
    ),
    "int": (
        "({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} / {int})", "({int} % {int})", "-({int})", "-{int}", "int({double})", "int({uint})", "int({string})", "int({'int})",
        "int({timestamp})", "int({duration})", "size({string})", "{string}.size()", "size({bytes})", "{list<U>}.size()", "size({list<U>})", "size({map<string,U>})",
        "{string}.indexOf({string})", "{string}.indexOf({string}, {int})", "{string}.lastIndexOf({string})", "{string}.lastIndexOf({string}, {int})", "{list<U>}.indexOf({U})",
        "{list<U>}.lastIndexOf({U})", "{list<int>}.sum()", "{list<int>}.min()", "{list<int>}.max()", "{timestamp}.getFullYear()", "{timestamp}.getMonth()", "{timestamp}.getDate()",
        "{timestamp}.getDayOfMonth()", "{timestamp}.getDayOfWeek()", "{timestamp}.getDayOfYear()", "{timestamp}.getHours()", "{timestamp}.getMinutes()", "{timestamp}.getSeconds()",
        "{timestamp}.getMilliseconds()", "{timestamp}.getFullYear({'zone})", "{timestamp}.getMonth({'zone})", "{timestamp}.getDate({'zone})", "{timestamp}.getDayOfMonth({'zone})",
        "{timestamp}.getDayOfWeek({'zone})", "{timestamp}.getDayOfYear({'zone})", "{timestamp}.getHours({'zone})", "{timestamp}.getMinutes({'zone})", "{timestamp}.getSeconds({'zone})",
        "{timestamp}.getMilliseconds({'zone})", "{duration}.getHours()", "{duration}.getMinutes()", "{duration}.getSeconds()", "{duration}.getMilliseconds()", "{ip}.family()", "{ip}.family()",
        "{cidr}.prefixLength()", "{cidr}.ip().family()", "{quantity}.asInteger()", "{quantity}.asInteger()", "{quantity}.compareTo({quantity})", "sign({quantity})", "{semver}.major()", "{semver}.minor()", "{semver}.patch()",
        "{semver}.compareTo({semver})", "{semver}.compareTo({semver})", "{map<string,int>}[{string}]", "{map<string,int>}.a", "int({int})", "{optional<int>}.orValue({int})", "{optional<int>}.optMap(w, w + {int}).orValue({int})",
        "{optional<int>}.optFlatMap(w, optional.of(w * {int})).orValue(0)", "lists.range(3)[{int}]", "lists.range({list<U>}.size()).sum()", "{url}.getQuery().size()", "{format}.validate({'name}).orValue([]).size()", "{list<string>}.map(w, w.size()).sum()",
        "{list<int>}.sortBy(w, -w)[0]", "({int} + {int} + {int})", "{list<int>}[{int}]",
    ),
    "uint": (
        "({uint} + {uint})", "({uint} - {uint})", "({uint} * {uint})", "({uint} / {uint})", "({uint} % {uint})", "uint({int})", "uint({double})", "uint({string})", "uint({'uint})", "uint({uint})",
        "{list<uint>}.sum()", "{list<uint>}.min()", "{list<uint>}.max()",
    ),
    "double": (
        "({double} + {double})", "({double} - {double})", "({double} * {double})", "({double} / {double})", "-({double})", "double({int})", "double({uint})", "double({string})", "double({'double})", "{list<double>}.sum()",
        "{list<double>}.min()", "{list<double>}.max()", "{quantity}.asApproximateFloat()", "{quantity}.asApproximateFloat()", "double({double})",
    ),
    "string": (
        "({string} + {string})", "string({int})", "string({uint})", "string({double})", "string({bool})", "string({bytes})", "string({duration})", "string({timestamp})", "string({string})", "{string}.charAt({int})",
        "{string}.lowerAscii()", "{string}.upperAscii()", "{string}.replace({string}, {string})", "{string}.replace({string}, {string}, {int})", "{string}.substring({int})", "{string}.substring({int}, {int})",
        "{string}.trim()", "{list<string>}.join()", "{list<string>}.join({string})", "{'form}.format([{U}])", "{'form}.format([{U}, {T}])", "{'form}.format([{int}])", "{'form}.format([{double}])", "{'form}.format([{bytes}])", "{'form}.format([{list<U>}, {map<string,U>}])", "{'form}.format([])", "strings.quote({string})", "strings.quote({'escape})",
        "{string}.find({'pattern})", "string({ip})", "string({ip})", "string({cidr})", "string({cidr})", "string({cidr}.masked())", "string({cidr}.masked().ip())", "{url}.getScheme()", "{url}.getHost()", "{url}.getHostname()", "{url}.getPort()", "{url}.getEscapedPath()",
        "{list<string>}.min()", "{list<string>}.max()", "{string}.split({string})[{int}]", "{string}.findAll({'pattern})[0]", "{format}.validate({'name}).orValue(['ok'])[0]", "{format}.validate({'formatted}).orValue(['ok'])[0]",
        "string({quantity}.asApproximateFloat())", "{optional<string>}.orValue({string})", "{map<string,string>}[{string}]", "{optional<string>}.optMap(w, w + {string}).orValue({string})", "{string}.reverse()", "string(type({U}))", "jsonpatch.escapeKey({'pointer})",
        "{string}.split({string}).join('|')", "'%s'.format([[{U}]])", "'%s'.format([⟨'a': {U}⟩])",
    ),
    "bytes": ("({bytes} + {bytes})", "bytes({string})", "bytes({bytes})", "{list<bytes>}.min()", "{list<bytes>}.max()", "b'a'"),
    "bool": (
        "({int} == {int})", "({int} != {int})", "({int} < {int})", "({int} <= {int})", "({int} > {int})", "({int} >= {int})", "({double} < {double})", "({double} <= {double})", "({double} > {double})", "({double} >= {double})", "({double} == {double})", "({uint} < {uint})", "({uint} >= {uint})",
        "({string} == {string})", "({string} < {string})", "({string} <= {string})", "({string} > {string})", "({string} >= {string})", "({bytes} < {bytes})", "({bytes} >= {bytes})", "({bytes} == {bytes})", "({bool} < {bool})", "({bool} >= {bool})", "({duration} < {duration})", "({duration} >= {duration})",
        "({timestamp} < {timestamp})", "({timestamp} <= {timestamp})", "({timestamp} > {timestamp})", "({timestamp} == {timestamp})", "({int} < {double})", "({double} >= {uint})", "({uint} <= {int})", "({int} > {uint})", "({double} == dyn({int}))", "(dyn({uint}) == {int})", "(dyn({U}) == {T})", "(dyn({U}) != {T})",
        "({list<U>} == {list<U>})", "({map<string,U>} == {map<string,U>})", "({bool} && {bool})", "({bool} || {bool})", "!{bool}", "!({bool})", "({bool} && {bool} && {bool})", "({bool} || {bool} || {bool})", "({U} in {list<U>})", "({string} in {map<string,U>})", "(dyn({U}) in {list<T>})", "(dyn({U}) in {map<string,T>})", "({int} in [1, 2.0, 3u])",
        "{string}.startsWith({string})", "{string}.endsWith({string})", "{string}.contains({string})", "{string}.matches({'pattern})", "matches({string}, {'pattern})", "bool({string})", "bool({'bool})", "{list<U>}.isSorted()", "sets.contains({list<U>}, {list<U>})", "sets.intersects({list<U>}, {list<U>})", "sets.equivalent({list<U>}, {list<U>})",
        "isIP({'ip})", "isCIDR({'cidr})", "isURL({'url})", "isQuantity({'quantity})", "isSemver({'semver})", "isSemver({'semver}, {bool})", "ip.isCanonical({'ip})", "{ip}.isUnspecified()", "{ip}.isLoopback()", "{ip}.isLinkLocalMulticast()", "{ip}.isLinkLocalUnicast()", "{ip}.isGlobalUnicast()", "({ip} == {ip})", "({ip} != {ip})",
        "{cidr}.containsIP({'ip})", "{cidr}.containsIP({ip})", "{cidr}.containsCIDR({'cidr})", "{cidr}.containsCIDR({cidr})", "({cidr} == {cidr})", "({url} == {url})", "{quantity}.isInteger()", "{quantity}.isGreaterThan({quantity})", "{quantity}.isLessThan({quantity})", "({quantity} == {quantity})", "({quantity} != {quantity})", "{semver}.isGreaterThan({semver})", "{semver}.isLessThan({semver})",
        "({semver} == {semver})", "{format}.validate({'name}).hasValue()", "{format}.validate({'formatted}).hasValue()", "({format} == {format})", "{optional<U>}.hasValue()", "({optional<U>} == {optional<U>})", "optional.ofNonZeroValue({U}).hasValue()", "optional.ofNonZeroValue({list<U>}).hasValue()", "optional.ofNonZeroValue({map<string,U>}).hasValue()", "(type({U}) == type({T}))", "(type({U}) == {'name})", "({U} == {U})", "(dyn({list<U>}) == {list<T>})",
        "has(⟨'a': {U}⟩.a)", "has(⟨'a': {U}⟩.b)", "format.named({'named}).hasValue()", "({bool} ? {bool} : {bool})", "[{optional<U>}].unwrapOpt().isSorted()", "({map<string,U>} != {map<string,U>})", "(null == dyn({U}))", "({url}.getQuery() == {url}.getQuery())", "(optional.none() == {optional<U>})", "({list<U>}.size() == {int} || {bool})", "self.lm.exists(w, w.k == {string})", "self.lm.all(w, w.v > {int})", "(self.nn == null)", "({bool} == {bool})", "{list<bool>}.min()",
    ),
    "duration": (
        "({duration} + {duration})", "({duration} - {duration})", "({timestamp} - {timestamp})", "duration({string})", "duration({'duration})", "duration({'duration})", "duration({int})", "{list<duration>}.sum()", "{list<duration>}.min()", "{list<duration>}.max()", "duration({duration})",
    ),
    "timestamp": (
        "({timestamp} + {duration})", "({duration} + {timestamp})", "({timestamp} - {duration})", "timestamp({string})", "timestamp({'timestamp})", "timestamp({'timestamp})", "timestamp({int})", "{list<timestamp>}.min()", "{list<timestamp>}.max()", "timestamp({timestamp})",
    ),
    "list": (
        "({list<T>} + {list<T>})", "[{T}, {T}]", "[{T}]", "[{T}, {T}, {T}]", "{list<T>}.sort()", "{list<T>}.sortBy(w, w)", "{list<T>}.sortBy(w, {U})", "{list<T>}.reverse()", "{list<T>}.distinct()", "{list<T>}.slice({int}, {int})", "[{list<T>}, {list<T>}].flatten()", "[[{list<T>}], [{list<T>}]].flatten(2)", "[[{list<T>}], [{list<T>}]].flatten(1)[0]", "[{list<T>}, {list<T>}].flatten(0)[1]", "[{optional<T>}, {optional<T>}].unwrapOpt()",
        "optional.unwrap([{optional<T>}])", "[?{optional<T>}, {T}]", "{list<T>}.filter(w, {bool})", "{list<U>}.map(w, {T})", "{list<U>}.map(w, {bool}, {T})", "{list<T>}.map(w, w)", "⟨'a': {list<T>}⟩.a", "{map<string,T>}.transformList(a, b, b)", "{list<T>}.transformList(a, b, a > 0, b)", "{list<T>}.slice(0, 1)", "({list<T>} + [{T}])", "{list<T>}.distinct().reverse()",
    ),
    "map": (
        "⟨{T}: {V}⟩", "⟨{T}: {V}, {T}: {V}⟩", "⟨{T}: {V}, ?{T}: {optional<V>}⟩", "{map<T,V>}.transformMap(a, b, b)", "{list<T>}.transformMapEntry(a, b, ⟨b: {V}⟩)", "{map<T,V>}.transformMap(a, b, {bool}, {V})", "{map<T,V>}.transformMapEntry(a, b, {bool}, ⟨a: b⟩)", "⟨?{T}: {optional<V>}⟩",
    ),
    "optional": (
        "optional.of({T})", "optional.ofNonZeroValue({T})", "{optional<T>}.or({optional<T>})", "{list<T>}[?{int}]", "{map<string,T>}[?{string}]", "{list<T>}.first()", "{list<T>}.last()", "{optional<U>}.optMap(w, {T})", "{optional<U>}.optFlatMap(w, {optional<T>})", "{map<string,T>}.?a", "optional.of({list<T>})[?{int}]", "optional.of(⟨'a': {T}⟩).?a", "optional.of(⟨'a': {T}⟩)['a']", "optional.of([{T}])[{int}]",
    ),
    "ip": ("ip({'ip})", "ip({'ip})", "{cidr}.ip()", "{cidr}.masked().ip()", "ip(string({ip}))"),
    "cidr": ("cidr({'cidr})", "cidr({'cidr})", "{cidr}.masked()", "cidr(string({cidr}))"),
    "url": ("url({'url})",),
    "quantity": ("quantity({'quantity})", "quantity({'quantity})", "{quantity}.add({quantity})", "{quantity}.add({int})", "{quantity}.sub({quantity})", "{quantity}.sub({int})"),
    "semver": ("semver({'semver})", "semver({'semver}, {bool})", "semver({'semver}, true)"),
    "format": ("format.dns1123Label()", "format.qualifiedName()", "format.named({'named}).value()", "format.named({'named}).orValue(format.uri())", "format.uuid()", "format.datetime()"),
    "dyn": ("dyn({U})", "dyn({list<U>})", "dyn({map<string,U>})", "[dyn({U}), dyn({T})]", "⟨'a': dyn({U})⟩", "dyn(null)", "({bool} ? dyn({U}) : dyn({T}))", "dyn({optional<U>})", "⟨'a': ⟨'b': {U}⟩⟩.a", "[1, dyn('x'), {U}]", "[{U}, dyn({T})].map(w, w)", "dyn(type({U}))", "dyn({quantity})", "dyn({ip})"),
}  # fmt: skip
