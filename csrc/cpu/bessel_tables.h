// Coefficients of bessel.h, one copy for all levels: polynomials that interpolate at Chebyshev's points (40 digits) on equal parts of an interval,
// of the place within the part from -1 to 1; relative error below 2e-17. Tables of 16 parts are laid out
// coefficient by coefficient, so that lanes in different parts find theirs by a permutation.
#pragma once

namespace retrograd::cpu {

extern const double kBesselJ0[11][16];  // J0(x), 0 <= x <= 8
extern const double kBesselJ1[11][16];  // J1(x) / x
extern const double kBesselY0[12][16];  // Y0(x) - 2/pi log(x/2) J0(x)
extern const double kBesselY1[11][16];  // (Y1(x) - 2/pi (log(x/2) J1(x) - 1/x)) / x
extern const double kBesselP0[2][10];   // x >= 8, of (8/x)^2: the amplitude that goes with J0's cosine and Y0's sine
extern const double kBesselQ0[2][12];   // and the other one, times x
extern const double kBesselP1[2][10];   // the same for order 1
extern const double kBesselQ1[2][11];
extern const double kBesselI0[2][9];          // I0(x), of x^2, 0 <= x <= 2
extern const double kBesselI1[2][8];          // I1(x) / x
extern const double kBesselI0Scaled[13][16];  // e^-x I0(x), 0 <= x <= 8
extern const double kBesselI1Scaled[12][16];  // e^-x I1(x) / x
extern const double kBesselI0Far[4][11];      // e^-x sqrt(x) I0(x), x >= 8, of 8/x
extern const double kBesselI1Far[4][11];      // e^-x sqrt(x) I1(x)
extern const double kBesselK0[2][9];          // K0(x) + log(x/2) I0(x)
extern const double kBesselK1[2][9];          // (K1(x) - log(x/2) I1(x) - 1/x) / x
extern const double kBesselK0Far[8][11];      // e^x sqrt(x) K0(x), x >= 2, of 2/x
extern const double kBesselK1Far[8][11];      // e^x sqrt(x) K1(x)
extern const double kAiry[20][14];            // Ai(x), -8 <= x <= 2
extern const double kAirySlope[20][14];       // Ai'(x)
extern const double kAiryFar[8][11];          // 2 sqrt(pi) x^(1/4) e^zeta Ai(x), zeta = 2/3 x^(3/2) >= 15/8, of 15/8 / zeta
extern const double kAirySlopeFar[8][11];     // 2 sqrt(pi) x^(-1/4) e^zeta Ai'(x)
extern const double kAiryCosine[1][8];        // x <= -8, of (15 / zeta)^2: the amplitudes of cosine
extern const double kAirySine[1][10];         // and (times zeta) sine in Ai(x)
extern const double kAirySlopeSine[1][8];     // and of sine
extern const double kAirySlopeCosine[1][10];  // and (times zeta) cosine in Ai'(x)

}  // namespace retrograd::cpu
