"""Elementary functions with the same bits on every processor.

NumPy chooses its `exp`, `log`, `sin`, `cos`, `tan`, `tanh`, `power` and others by the processor, and their last bits
differ. A model that stores such values as real numbers, or compares them with a bound, plays other worlds on another
processor. These functions are computed by Rust's libm and never differ. They compute one value at a time, so use NumPy's
faster ones where results are rounded coarsely anyway. Sums, products and quotients of two arrays and `sqrt` never differ.

Arguments are numbers or arrays of any shape, and broadcast as in NumPy. Results are `float64`.

Example:
    >>> import manyworlds as mw, numpy as np
    >>> mw.math.exp(np.array([0.0, 2.0])).tolist()
    [1.0, 7.38905609893065]
    >>> mw.math.pow(2.0, 0.5)
    1.4142135623730951
"""

from __future__ import annotations

from typing import Any

from . import _native

__all__ = [
    "acos", "asin", "atan", "atan2", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "gamma", "hypot",
    "lgamma", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh",
]  # fmt: skip


def _one(name: str, x: Any) -> Any:
    import numpy as np

    values = np.asarray(x, dtype=np.float64)
    found = _native.map_one(name, np.ascontiguousarray(values).reshape(-1)).reshape(values.shape)
    return found if values.ndim else float(found)


def _two(name: str, x: Any, y: Any) -> Any:
    import numpy as np

    pair = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    flat = [np.ascontiguousarray(values).reshape(-1) for values in pair]
    found = _native.map_two(name, *flat).reshape(pair[0].shape)
    return found if pair[0].ndim else float(found)


def acos(x: Any) -> Any:
    """The angle in radians whose cosine is `x`; NaN outside -1 to 1."""
    return _one("acos", x)


def asin(x: Any) -> Any:
    """The angle in radians whose sine is `x`; NaN outside -1 to 1."""
    return _one("asin", x)


def atan(x: Any) -> Any:
    """The angle in radians whose tangent is `x`."""
    return _one("atan", x)


def cbrt(x: Any) -> Any:
    """The cube root."""
    return _one("cbrt", x)


def cos(x: Any) -> Any:
    """The cosine of an angle in radians."""
    return _one("cos", x)


def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    return _one("cosh", x)


def erf(x: Any) -> Any:
    """The error function: the share of a normal distribution within `x` times sqrt(2) standard deviations."""
    return _one("erf", x)


def erfc(x: Any) -> Any:
    """1 - erf(x), exact for large `x`."""
    return _one("erfc", x)


def exp(x: Any) -> Any:
    """e to the power of `x`."""
    return _one("exp", x)


def exp2(x: Any) -> Any:
    """2 to the power of `x`."""
    return _one("exp2", x)


def expm1(x: Any) -> Any:
    """exp(x) - 1, exact near 0."""
    return _one("expm1", x)


def gamma(x: Any) -> Any:
    """The gamma function."""
    return _one("gamma", x)


def lgamma(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return _one("lgamma", x)


def log(x: Any) -> Any:
    """The natural logarithm; NaN below 0."""
    return _one("log", x)


def log10(x: Any) -> Any:
    """The logarithm to base 10; NaN below 0."""
    return _one("log10", x)


def log1p(x: Any) -> Any:
    """log(1 + x), exact near 0."""
    return _one("log1p", x)


def log2(x: Any) -> Any:
    """The logarithm to base 2; NaN below 0."""
    return _one("log2", x)


def sin(x: Any) -> Any:
    """The sine of an angle in radians."""
    return _one("sin", x)


def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    return _one("sinh", x)


def tan(x: Any) -> Any:
    """The tangent of an angle in radians."""
    return _one("tan", x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return _one("tanh", x)


def atan2(y: Any, x: Any) -> Any:
    """The angle in radians of the point (`x`, `y`), from -pi to pi."""
    return _two("atan2", y, x)


def hypot(x: Any, y: Any) -> Any:
    """The distance of the point (`x`, `y`) from the origin."""
    return _two("hypot", x, y)


def pow(x: Any, y: Any) -> Any:
    """`x` to the power of `y`."""
    return _two("pow", x, y)
