// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of fp32 numbers as docs/numerics.md, "Functions", defines them.
#ifndef SYSTOLE_HOST_IR_HLO_FUNCTIONS_H_
#define SYSTOLE_HOST_IR_HLO_FUNCTIONS_H_

namespace systole::ir {

float Exp2(float a);
float Log2(float a);
float Rsqrt(float a);
float Tanh(float a);
float Exp(float a);
float Log(float a);
float Reciprocal(float a);
// docs/hlo.md, "Power".
float Power(float x, float y);
// docs/hlo.md, "Sine and cosine", "Other functions".
float Sine(float x);
float Cosine(float x);
float Tangent(float x);
float LogPlusOne(float x);
float ExpMinusOne(float x);
float CubeRoot(float x);
float ArcTangent2(float y, float x);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_FUNCTIONS_H_
