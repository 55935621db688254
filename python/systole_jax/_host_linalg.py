# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Factors of matrices that are not symmetric, which jax has for its own platforms alone: eigenvalues (eig), Schur form, Hessenberg form.

The host computes them, by scipy's LAPACK: a program calls it as it calls jax.pure_callback, so it counts as an operation on the host.
Where LAPACK finds none, the results are NaN, as on jax's own platforms.
"""

import functools

import jax
import numpy as np


def _eig(a, *, left, right):
    from scipy import linalg

    w, *vectors = linalg.eig(a, left=left, right=right, check_finite=False) if left or right else [linalg.eigvals(a, check_finite=False)]
    return [w, *vectors]


def _schur(a, *, vectors):
    from scipy import linalg

    form, v = linalg.schur(a, output="complex" if np.iscomplexobj(a) else "real", check_finite=False)
    return [form, v] if vectors else [form]


def _hessenberg(a):
    """LAPACK's own form: the matrix with the reflectors below its subdiagonal, and their factors."""
    from scipy.linalg import lapack

    gehrd, = lapack.get_lapack_funcs(("gehrd",), (a,))
    form, factors, info = gehrd(a)
    if info != 0:
        raise np.linalg.LinAlgError("gehrd")
    return [form, factors]


def _each(function, shapes, a):
    """For each matrix of a batch."""
    results = [np.empty(s.shape, s.dtype) for s in shapes]
    for place in np.ndindex(a.shape[:-2]):
        values = [np.nan] * len(results)
        if np.isfinite(a[place]).all():  # LAPACK prints on others
            try:
                values = function(np.asarray(a[place]))
            except np.linalg.LinAlgError:  # it did not converge
                pass
        for result, value in zip(results, values):
            result[place] = value
    return results


def _lowering(function, **options):
    """options: of `function`, each the name of the primitive's parameter."""

    def lower(context, operand, **parameters):
        from jax._src.interpreters import mlir

        if parameters.get("sort_eig_vals"):
            raise NotImplementedError("schur that sorts eigenvalues")
        chosen = functools.partial(function, **{option: parameters[name] for option, name in options.items()})
        shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in context.avals_out]

        def call(x):
            return jax.pure_callback(lambda a: _each(chosen, shapes, np.asarray(a)), shapes, x)

        return mlir.lower_fun(call, multiple_results=True)(context, operand)

    return lower


def register():
    """For the platform "systole" alone."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    rules = {
        "eig_p": _lowering(_eig, left="compute_left_eigenvectors", right="compute_right_eigenvectors"),
        "schur_p": _lowering(_schur, vectors="compute_schur_vectors"),
        "hessenberg_p": _lowering(_hessenberg),
    }
    for name, rule in rules.items():
        if hasattr(linalg, name):
            mlir.register_lowering(getattr(linalg, name), rule, platform="systole")
