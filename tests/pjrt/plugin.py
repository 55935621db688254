# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The plugin's functions themselves (pjrt_c_api.h), without jaxlib in front of them."""

import ctypes

import systole_jax

POINTER = ctypes.c_void_p
# Pointers to functions lie behind sizes and versions, in the order of the header.
FIRST, ERROR_DESTROY, ERROR_MESSAGE, CLIENT_CREATE, CLIENT_COMPILE = 40, 0, 1, 10, 20


class Arguments(ctypes.Structure):
    """struct_size, extension_start and up to ten words."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", POINTER), ("words", POINTER * 10)]


class Program(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", POINTER), ("code", ctypes.c_char_p), ("code_size", ctypes.c_size_t),
                ("format", ctypes.c_char_p), ("format_size", ctypes.c_size_t)]


def _api():
    library = ctypes.CDLL(str(systole_jax.LIBRARY))
    library.GetPjrtApi.restype = POINTER
    return library.GetPjrtApi()


def _call(function, count, *words):
    """The words behind the call, and what the error says, None if there is none."""
    address = ctypes.cast(_api() + FIRST + 8 * function, ctypes.POINTER(POINTER))[0]
    arguments = Arguments(16 + 8 * count, None, (POINTER * 10)(*words))
    error = ctypes.CFUNCTYPE(POINTER, POINTER)(address)(ctypes.addressof(arguments))
    return list(arguments.words), error


def _message(error):
    words, _ = _call(ERROR_MESSAGE, 3, error)
    text = ctypes.string_at(words[1], words[2]).decode()
    _call(ERROR_DESTROY, 1, error)
    return text


def compile_error(artifact):
    """What the plugin says about an artifact; None if it takes it."""
    words, error = _call(CLIENT_CREATE, 10)
    if error:
        return _message(error)
    client = words[6]
    program = Program(ctypes.sizeof(Program), None, artifact, len(artifact), b"mlir", 4)
    words, error = _call(CLIENT_COMPILE, 5, client, ctypes.addressof(program), None, 0)
    return _message(error) if error else None
