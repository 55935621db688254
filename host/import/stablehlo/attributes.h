// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts the attributes of vhlo operations, in all their versions, to those
// of hlo/.
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_ATTRIBUTES_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_ATTRIBUTES_H_

#include "host/import/stablehlo/attribute_reader.h"
#include "host/ir/attributes.h"

namespace systole::import {

ir::Attributes ReadResultAccuracy(AttributeReader& in);  // only the default
ir::Attributes ReadCompare(AttributeReader& in);
ir::Attributes ReadReducePrecision(AttributeReader& in);
ir::Attributes ReadIota(AttributeReader& in);
ir::Attributes ReadConcatenate(AttributeReader& in);
ir::Attributes ReadBroadcastInDim(AttributeReader& in);
ir::Attributes ReadBroadcast(AttributeReader& in);
ir::Attributes ReadDimensions(AttributeReader& in);
ir::Attributes ReadTranspose(AttributeReader& in);
ir::Attributes ReadSlice(AttributeReader& in);
ir::Attributes ReadDynamicSlice(AttributeReader& in);
ir::Attributes ReadPad(AttributeReader& in);
ir::Attributes ReadGather(AttributeReader& in);
ir::Attributes ReadScatter(AttributeReader& in);
ir::Attributes ReadDotGeneral(AttributeReader& in);
ir::Attributes ReadConvolution(AttributeReader& in);
ir::Attributes ReadReduceWindow(AttributeReader& in);
ir::Attributes ReadSelectAndScatter(AttributeReader& in);
ir::Attributes ReadSort(AttributeReader& in);
ir::Attributes ReadRngBits(AttributeReader& in);
ir::Attributes ReadRng(AttributeReader& in);
ir::Attributes ReadBatchNorm(AttributeReader& in);
ir::Attributes ReadCholesky(AttributeReader& in);
ir::Attributes ReadTriangularSolve(AttributeReader& in);
ir::Attributes ReadAllReduce(AttributeReader& in);
ir::Attributes ReadAllGather(AttributeReader& in);
ir::Attributes ReadReduceScatter(AttributeReader& in);
ir::Attributes ReadAllToAll(AttributeReader& in);
ir::Attributes ReadCollectivePermute(AttributeReader& in);
ir::Attributes ReadCollectiveBroadcast(AttributeReader& in);
ir::Attributes ReadCustomCall(AttributeReader& in);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_ATTRIBUTES_H_
