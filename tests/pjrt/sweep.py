# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs by name on the plugin against JAX's CPU, in the process that runs them."""

import jax
import numpy as np

LIMIT = 2e-5  # of the largest value of an array


def difference(wanted, got):
    """Of two arrays of a type and shape, relative to the largest finite value; equal infinities and NaN differ by nothing."""
    a, b = np.asarray(wanted), np.asarray(got)
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
    a, b = (v.astype(np.complex128 if np.iscomplexobj(v) else np.float64) for v in (a, b))
    apart = np.abs(np.where((a == b) | ((a != a) & (b != b)), 0, a - b))
    return apart.max(initial=0) / max(1, np.abs(a[np.isfinite(a)]).max(initial=0))


def sweep(names, wanted, got, only):
    """Runs all, or those of `only`. wanted, got: results by name, any tree of arrays."""
    names = [name for name in names if not only or name in only]
    wrong = 0
    for name in names:
        try:
            right, found = jax.tree.leaves(wanted(name)), jax.tree.leaves(got(name))
            assert len(right) == len(found), (len(right), len(found))
            for i, (a, b) in enumerate(zip(right, found)):
                apart = difference(a, b)
                assert apart <= LIMIT, (i, np.shape(a), apart)
        except Exception as error:  # pylint: disable=broad-exception-caught
            wrong += 1
            print("wrong:", name, type(error).__name__, " ".join(str(error).split())[:600], flush=True)
    print(len(names), "programs,", wrong, "wrong")
