"""Quantities: how the API reads, prints, orders and rounds them."""

import contextlib
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube.errors import QuantityError
from mooring.kube.quantities import ZERO, Quantity, canonical, milli_value, parse_quantity, value

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        pytest.param("1500m", "1500m", id="thousandths stay thousandths"),
        pytest.param("1000m", "1", id="a whole number loses its suffix"),
        pytest.param("0.5", "500m", id="a fraction becomes thousandths"),
        pytest.param("1.5Gi", "1536Mi", id="a binary fraction goes to the next smaller suffix"),
        pytest.param("1024Ki", "1Mi", id="binary suffixes are as large as possible"),
        pytest.param("1000Ki", "1000Ki", id="a decimal thousand is no binary step"),
        pytest.param("0.5Ki", "512", id="below 1024 there is no binary suffix"),
        pytest.param("1e3", "1e3", id="an exponent stays an exponent"),
        pytest.param("1.5e3", "1500", id="an exponent of zero is not printed"),
        pytest.param("100e3", "100e3", id="exponents go by threes"),
        pytest.param("1000e3", "1e6", id="exponents are as large as possible"),
        pytest.param("0", "0", id="zero"),
        pytest.param("0Gi", "0", id="zero has no suffix"),
        pytest.param("-1.5", "-1500m", id="negative values"),
        pytest.param("-1Gi", "-1Gi", id="negative binary values"),
        pytest.param("+1", "+1", id="a plus sign survives when nothing else has to change"),
        pytest.param("1.001", "1.001", id="so does a point, when the digits come in threes"),
        pytest.param("0.1n", "1n", id="less than a billionth is rounded up to one"),
        pytest.param("-0.1n", "-1n", id="and away from zero"),
        pytest.param("1.0000000001", "1000000001n", id="precision ends at billionths, rounding up"),
        pytest.param("0.1Ki", "102400m", id="a binary amount that is not whole is printed decimally"),
        pytest.param("16Ei", "9223372036854775807", id="binary amounts are capped at 64 bits"),
        pytest.param("10E", "10E", id="decimal amounts are not"),
        pytest.param("1000E", "1", id="there is no suffix above E, and the API prints none"),
        pytest.param("12345678901234567890", "12345678901234567890", id="more digits than 64 bits hold"),
        pytest.param("-", "0", id="a lone sign is zero"),
        pytest.param(" 1 ", "1", id="spaces around are ignored"),
        pytest.param(1, "1", id="an integer of YAML"),
        pytest.param(0.5, "500m", id="a float of YAML"),
        pytest.param(1e22, "10e21", id="a large float of YAML"),
    ],
)
def test_prints_as_the_api_prints(text: str | float, printed: str) -> None:
    assert canonical(text) == printed


@pytest.mark.parametrize(
    ("text", "units", "thousandths"),
    [
        pytest.param("1500m", 2, 1500, id="rounds up"),
        pytest.param("-1500m", -2, -1500, id="rounds away from zero"),
        pytest.param("1u", 1, 1, id="the smallest request still counts"),
        pytest.param("1.5Gi", 1610612736, 1610612736000, id="binary"),
        pytest.param("10E", 0, 0, id="beyond 64 bits the API has no answer, and gives zero"),
        pytest.param("1Ei", 2**60, -(2**63), id="thousandths wrap around"),
        pytest.param("9223372036854775807", 2**63 - 1, -1000, id="the largest value"),
        pytest.param(4, 4, 4000, id="an integer of YAML"),
    ],
)
def test_integer_views_are_those_of_the_api(text: str | int, units: int, thousandths: int) -> None:
    assert (value(text), milli_value(text)) == (units, thousandths)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "quantities must match the regular expression"),
        ("abc", "quantities must match the regular expression"),
        ("1 Gi", "quantities must match the regular expression"),
        ("1.2.3", "quantities must match the regular expression"),
        ("1Zi", "quantities must match the regular expression"),
        ("1K", "unable to parse quantity's suffix"),
        ("1e", "unable to parse quantity's suffix"),
        ("1mm", "unable to parse quantity's suffix"),
        ("Ei", "unable to parse numeric part of quantity"),
        (True, "quantities must match the regular expression"),
        (None, "quantities must match the regular expression"),
    ],
)
def test_refuses_with_the_words_of_the_api(text: str, complaint: str) -> None:
    for read in (parse_quantity, value, milli_value):
        with pytest.raises(QuantityError, match=complaint):
            read(text)


def test_a_huge_exponent_does_not_take_the_machine_with_it() -> None:
    assert value("1e2000000000") == 0
    assert parse_quantity("1e2000000000") > parse_quantity("9E")
    assert parse_quantity("1e-2000000000") == parse_quantity("1n")
    with pytest.raises(QuantityError):
        parse_quantity("1234567890123456789e1000000000")
    with pytest.raises(QuantityError):
        parse_quantity("1e2000000000") + parse_quantity("1")


def test_a_number_of_more_digits_than_can_be_written_is_refused() -> None:
    for text in ("1" * 4_001, "1" * 5_000, "." + "1" * 4_001, "1" * 4_001 + "Ki", "1" * 19 + "e3981", "1" * 3_992):
        with pytest.raises(QuantityError, match="unable to parse numeric part of quantity"):
            parse_quantity(text)
    large, largest = parse_quantity("1" * 19 + "e3900"), parse_quantity("9" * 3_991)
    assert largest > large > parse_quantity("9E") > -large
    assert str(largest) == "9" * 3_991
    assert str(largest - large)
    for wide in (Quantity(1, 3_999), Quantity(1, 4_000)):
        with pytest.raises(QuantityError, match="too far apart"):
            wide + parse_quantity("0.5")
    with pytest.raises(QuantityError, match="too far apart"):
        Quantity(9 * 10**3_999) + Quantity(10**3_999)
    assert Quantity(9 * 10**3_999) + Quantity(10**3_999 - 1) > largest


def test_the_cache_forgets_before_it_grows_without_bound() -> None:
    for number in range(70_000):
        assert value(str(number)) == number


def test_a_quantity_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        ZERO.mantissa = 1
    with pytest.raises(AttributeError):
        del ZERO.mantissa
    assert repr(parse_quantity("1Gi")) == "Quantity('1Gi')"
    assert parse_quantity("1") != "1"


def test_a_sum_is_printed_in_the_style_of_its_first_part() -> None:
    assert str(parse_quantity("1Gi") + parse_quantity("1G")) == "2073741824"
    assert str(parse_quantity("1Gi") + parse_quantity("1024Mi")) == "2Gi"
    assert str(ZERO + parse_quantity("1Gi")) == "1Gi"
    assert str(parse_quantity("2") - parse_quantity("500m")) == "1500m"
    assert str(parse_quantity("500m") * 3) == "1500m"


numerals = st.builds(
    lambda sign, whole, fraction: f"{sign}{whole}" + (f".{fraction}" if fraction is not None else ""),
    st.sampled_from(["", "-", "+"]),
    st.integers(min_value=0, max_value=10**20).map(str),
    st.none() | st.text("0123456789", max_size=12),
)
exponents = st.integers(min_value=-15, max_value=30).map(lambda power: f"e{power}")
texts = st.builds(lambda number, suffix: number + suffix, numerals, st.sampled_from([*DECIMAL, *BINARY]) | exponents)


def exact(text: str) -> Fraction:
    """The number a text says, without anybody's rounding."""
    for suffix, power in BINARY.items():
        if text.endswith(suffix):
            return Fraction(Decimal(text.removesuffix(suffix))) * (1 << power)
    for suffix, power in DECIMAL.items():
        if suffix and text.endswith(suffix):
            unit: Fraction = Fraction(10) ** power
            return Fraction(Decimal(text.removesuffix(suffix))) * unit
    return Fraction(Decimal(text))


def amount(quantity: Quantity) -> Fraction:
    power: Fraction = Fraction(10) ** quantity.exponent
    return quantity.mantissa * power


def rounded(number: Fraction, binary: bool) -> Fraction:
    nanos = abs(number) * 10**9
    up = Fraction(-(-nanos.numerator // nanos.denominator), 10**9)
    if binary:
        up = min(up, Fraction(2**63 - 1))
    return up if number >= 0 else -up


@given(texts)
def test_the_amount_is_the_number_that_was_written(text: str) -> None:
    assert amount(parse_quantity(text)) == rounded(exact(text), text.endswith("i"))


@given(texts.filter(lambda text: abs(exact(text)) < 10**18))
def test_printing_and_reading_again_keeps_the_amount(text: str) -> None:
    assert parse_quantity(canonical(text)) == parse_quantity(text)


@given(texts)
def test_the_printed_form_is_final(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


@given(texts, texts)
def test_order_is_the_order_of_numbers(left: str, right: str) -> None:
    a, b = parse_quantity(left), parse_quantity(right)
    x, y = amount(a), amount(b)
    assert (a < b, a <= b, a == b, a >= b, a > b) == (x < y, x <= y, x == y, x >= y, x > y)
    if a == b:
        assert hash(a) == hash(b)


@given(st.integers(min_value=0, max_value=10**6))
def test_suffixes_that_say_the_same_are_equal(number: int) -> None:
    assert parse_quantity(f"{number}k") == parse_quantity(f"{number}000") == parse_quantity(f"{number}e3")
    assert parse_quantity(f"{number}Ki") == parse_quantity(f"{number * 1024}")
    assert parse_quantity(f"{number}Gi") == parse_quantity(f"{number * 1024}Mi")
    assert parse_quantity(f"{number}000m") == parse_quantity(f"{number}")


@given(texts, texts)
def test_sums_are_exact(left: str, right: str) -> None:
    a, b = parse_quantity(left), parse_quantity(right)
    assert amount(a + b) == amount(a) + amount(b)
    assert amount(a - b) == amount(a) - amount(b)


@given(st.integers(min_value=-(10**12), max_value=10**12), st.sampled_from(["", "m", "u", "k"]))
def test_integer_views_round_away_from_zero(number: int, suffix: str) -> None:
    text = f"{number}{suffix}"
    for seen, unit in ((value(text), Fraction(1)), (milli_value(text), Fraction(1, 1000))):
        distance = abs(Fraction(seen) - exact(text) / unit)
        assert distance < 1
        assert abs(seen) >= abs(exact(text) / unit)


@given(texts, st.integers(min_value=-9, max_value=3))
def test_rounding_up_never_shrinks(text: str, exponent: int) -> None:
    quantity = parse_quantity(text)
    up = quantity.round_up(exponent)
    assert abs(amount(up)) >= abs(amount(quantity))
    assert abs(amount(up)) - abs(amount(quantity)) < Fraction(10) ** exponent
    assert up.round_up(exponent) == up


@given(texts)
def test_quantities_survive_pickling(text: str) -> None:
    quantity = parse_quantity(text)
    copy = pickle.loads(pickle.dumps(quantity))
    assert (copy, str(copy), copy.milli_value) == (quantity, str(quantity), quantity.milli_value)


@given(st.text(max_size=12) | st.text("0123456789.eEinumkKMGTP+-", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(QuantityError):
        assert canonical(text) == str(parse_quantity(text))
