# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The steps of `make fpga`: fpga/fpga.py puts them together."""
