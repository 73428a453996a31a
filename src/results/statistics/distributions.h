// The distributions that tests of this folder are held against.
#pragma once

namespace bench {

/// P(Z <= x) of the standard normal.
double normal_cdf(double x);
/// x with normal_cdf(x) = p, to the precision of erfc; -infinity, infinity or NaN if p is not
/// between 0 and 1.
double normal_quantile(double p);

/// I_x(a, b), the regularised incomplete beta function, for a, b > 0 and 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);

/// P(T <= t) of Student's t; `degrees` > 0 need not be whole. Far below zero it keeps its digits.
double student_cdf(double t, double degrees);
/// t with student_cdf(t, degrees) = p; for 0 < p < 1.
double student_quantile(double p, double degrees);

}  // namespace bench
