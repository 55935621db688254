# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""How the arrays of a program are divided: Shardy's propagation, which jaxlib's wheel has. The plugin starts this file as a process of
its own, which may end without harm, and keeps it. It reads artifacts from its standard input and answers each on its standard output
with the artifact whose operations have shardings, or with an error. A message is its length in eight bytes, little-endian, and the
bytes; an answer has one byte more in front, 0 for an artifact, 1 for an error.
"""

import os
import sys

SHARDING = "sdy.sharding"


def propagate(artifact):
    """The program with the shardings that follow from those of its arguments, results and constraints."""
    from jax._src.interpreters import mlir  # registers Shardy's passes
    from jax._src.lib.mlir import ir, passmanager
    from jax._src.lib.mlir.dialects import hlo, sdy

    def constant(operation, where):
        if "complex<" in str(operation.results[0].type):  # the bindings have no attributes of such elements
            sharding = operation.attributes[SHARDING] if SHARDING in operation.attributes else None
            if sharding is not None:  # of a mesh that is not in the text
                del operation.attributes[SHARDING]
            text = operation.operation.get_asm(print_generic_op_form=True).replace('"sdy.constant"', '"stablehlo.constant"', 1)
            other = ir.Operation.parse(text)
            where["ip"].insert(other)
            if sharding is not None:
                other.attributes[SHARDING] = sharding
            return other
        other = hlo.ConstantOp(operation.attributes["value"], **where)
        if SHARDING in operation.attributes:
            other.attributes[SHARDING] = operation.attributes[SHARDING]
        return other

    def plain(operations):
        """Constants as they were, rather than those of sdy; a constraint for each of its collectives."""
        for operation in list(operations):
            for region in operation.regions:
                for block in region:
                    plain(block.operations)
            where = {"loc": operation.location, "ip": ir.InsertionPoint(operation)}
            if operation.operation.name == "sdy.constant":
                other = constant(operation, where)
            elif operation.operation.name.startswith("sdy.") and "out_sharding" in operation.attributes:
                other = sdy.ShardingConstraintOp(operation.operands[0], operation.attributes["out_sharding"], **where)
            else:
                continue
            operation.results[0].replace_all_uses_with(other.result)
            operation.operation.erase()

    def without_memories(operations):
        """Without calls that say in which memory a value is to be, through which nothing is propagated."""
        for operation in list(operations):
            for region in operation.regions:
                for block in region:
                    without_memories(block.operations)
            if operation.operation.name != "stablehlo.custom_call" or operation.attributes["call_target_name"].value != "annotate_device_placement":
                continue
            value = operation.operands[0]
            if SHARDING in operation.attributes:
                where = {"loc": operation.location, "ip": ir.InsertionPoint(operation)}
                value = sdy.ShardingConstraintOp(value, operation.attributes[SHARDING].shardings[0], **where).result
            operation.results[0].replace_all_uses_with(value)
            operation.operation.erase()

    with mlir.make_ir_context() as context:
        module = hlo.deserialize_portable_artifact(context, artifact)
        without_memories(module.body.operations)
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)", context).run(module.operation)
        plain(module.body.operations)
        # The plugin's version; operations of sdy have none.
        return hlo.serialize_portable_artifact(module, "1.9.0", True)


def main():
    inputs, outputs = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    while True:
        head = inputs.read(8)
        if len(head) < 8:
            return
        size = int.from_bytes(head, "little")
        artifact = inputs.read(size)
        if len(artifact) < size:
            return
        try:
            answer = b"\0" + propagate(artifact)
        except Exception as error:  # the plugin goes on without
            answer = b"\1" + " ".join(str(error).split())[:1000].encode()
        outputs.write((len(answer) - 1).to_bytes(8, "little") + answer)
        outputs.flush()


if __name__ == "__main__":
    sys.exit(main())
