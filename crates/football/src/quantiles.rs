//! Measured distributions: 30-point quantiles of yardage and clock, from 1,280 regular-season games of 2015-2019.

/// Cumulative percentages of the values in each row below.
pub(crate) const PERCENTILES: [f32; 30] = [
    0.0, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0,
    85.0, 90.0, 92.5, 95.0, 97.0, 98.0, 99.0, 99.5, 99.9, 100.0,
];

/// One measured distribution: its values at [`PERCENTILES`].
pub(crate) type Quantiles = [i16; 30];

/// Yards: designed run at yards to go 1-2.
pub(crate) const DESIGNED_RUN_YTG_1_2: Quantiles =
    [-10, -5, -4, -3, -2, -1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2];

/// Yards: completion at yards to go 1-2.
pub(crate) const COMPLETION_YTG_1_2: Quantiles =
    [-14, -5, -2, -1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2];

/// Yards: designed run at yards to go 3-5.
pub(crate) const DESIGNED_RUN_YTG_3_5: Quantiles =
    [-8, -6, -5, -4, -2, -1, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5];

/// Yards: completion at yards to go 3-5.
pub(crate) const COMPLETION_YTG_3_5: Quantiles =
    [-10, -5, -3, -1, 0, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5];

/// Yards: designed run at yards to go 6-10.
pub(crate) const DESIGNED_RUN_YTG_6_10: Quantiles =
    [-10, -5, -5, -4, -2, -1, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9, 9, 10, 10, 10, 10];

/// Yards: completion at yards to go 6-10.
pub(crate) const COMPLETION_YTG_6_10: Quantiles =
    [-8, -5, -3, -2, 0, 2, 3, 4, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 10, 10, 10, 10, 10, 10, 10, 10, 10];

/// Yards: designed run at yards to go 11-20.
pub(crate) const DESIGNED_RUN_YTG_11_20: Quantiles =
    [-8, -6, -5, -3, -2, -1, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 8, 9, 11, 13, 14, 16, 18, 19, 20, 20];

/// Yards: completion at yards to go 11-20.
pub(crate) const COMPLETION_YTG_11_20: Quantiles =
    [-8, -4, -3, -1, 1, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 20, 20, 20, 20];

/// Yards: designed run at yards to go 21-40.
pub(crate) const DESIGNED_RUN_YTG_21_40: Quantiles =
    [-12, -6, -5, -3, -2, -1, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 11, 12, 15, 19, 22, 26, 30, 38, 40];

/// Yards: completion at yards to go 21-40.
pub(crate) const COMPLETION_YTG_21_40: Quantiles =
    [-10, -4, -3, -1, 1, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 12, 14, 15, 17, 21, 24, 26, 29, 32, 34, 37, 39, 40, 40];

/// Yards: designed run at yards to go 41-99.
pub(crate) const DESIGNED_RUN_YTG_41_99: Quantiles =
    [-17, -5, -4, -3, -2, -1, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 11, 12, 15, 20, 24, 34, 48, 71, 99];

/// Yards: completion at yards to go>40 RB.
pub(crate) const COMPLETION_OPEN_FIELD_RB: Quantiles =
    [-10, -6, -5, -3, -1, 1, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10, 11, 12, 15, 18, 21, 24, 30, 34, 44, 58, 75, 84];

/// Yards: completion at yards to go>40 TE.
pub(crate) const COMPLETION_OPEN_FIELD_TE: Quantiles =
    [-8, -2, -1, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12, 14, 15, 17, 20, 24, 26, 30, 36, 42, 49, 59, 76, 88];

/// Yards: completion at yards to go>40 WR.
pub(crate) const COMPLETION_OPEN_FIELD_WR: Quantiles =
    [-10, -3, -1, 1, 2, 4, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 20, 23, 28, 33, 41, 48, 52, 63, 71, 84, 98];

/// Yards: scramble.
pub(crate) const SCRAMBLE: Quantiles =
    [-4, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 7, 8, 9, 10, 11, 12, 14, 16, 18, 21, 24, 27, 30, 47, 87];

/// Yards: sack.
pub(crate) const SACK: Quantiles = [
    -38, -18, -16, -14, -12, -11, -10, -9, -9, -8, -8, -8, -7, -7, -6, -6, -5, -5, -4, -4, -3, -1, -1, 0, 0, 0, 0, 0,
    0, 0,
];

/// Yards: air yards completed.
pub(crate) const AIR_YARDS_COMPLETED: Quantiles =
    [-40, -7, -6, -5, -4, -3, -1, 0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 10, 12, 14, 17, 19, 21, 26, 30, 37, 42, 50, 61];

/// Yards: air yards incomplete.
pub(crate) const AIR_YARDS_INCOMPLETE: Quantiles =
    [-60, -7, -6, -4, -2, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 15, 18, 20, 24, 29, 32, 36, 41, 43, 47, 50, 56, 64];

/// Yards: punt gross at yards to go 30-45.
pub(crate) const PUNT_GROSS_YTG_30_45: Quantiles = [
    6, 17, 19, 22, 25, 27, 28, 29, 31, 31, 32, 33, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 44, 45, 45, 45, 45,
    45,
];

/// Yards: punt gross at yards to go 46-55.
pub(crate) const PUNT_GROSS_YTG_46_55: Quantiles = [
    0, 21, 24, 28, 30, 33, 34, 36, 36, 37, 38, 39, 40, 40, 41, 42, 43, 44, 46, 47, 48, 50, 51, 53, 54, 55, 55, 55, 55,
    55,
];

/// Yards: punt gross at yards to go 56-65.
pub(crate) const PUNT_GROSS_YTG_56_65: Quantiles = [
    2, 20, 26, 30, 34, 37, 39, 40, 41, 42, 43, 45, 46, 47, 47, 48, 49, 51, 52, 54, 56, 57, 58, 59, 61, 62, 63, 64, 65,
    65,
];

/// Yards: punt gross at yards to go 66-99.
pub(crate) const PUNT_GROSS_YTG_66_99: Quantiles = [
    2, 21, 27, 32, 35, 38, 40, 42, 43, 44, 45, 46, 48, 49, 50, 51, 52, 53, 54, 55, 57, 58, 59, 61, 63, 65, 68, 70, 76,
    79,
];

/// Yards: punt return.
pub(crate) const PUNT_RETURN: Quantiles =
    [-10, -6, -4, -2, -1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 18, 20, 24, 31, 40, 63, 74, 85, 99];

/// Yards: kick return.
pub(crate) const KICK_RETURN: Quantiles = [
    -12, 0, 0, 4, 8, 12, 14, 16, 17, 18, 19, 20, 21, 21, 22, 23, 24, 25, 26, 28, 30, 32, 35, 39, 46, 51, 72, 96, 104,
    108,
];

/// Yards: interception return.
pub(crate) const INTERCEPTION_RETURN: Quantiles =
    [-12, -3, -2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 6, 8, 12, 15, 19, 22, 26, 29, 37, 42, 50, 59, 67, 82, 90, 101, 104];

/// Seconds from snap to snap: run normal.
pub(crate) const RUNOFF_RUN_NORMAL: Quantiles =
    [0, 3, 4, 5, 6, 20, 26, 30, 32, 34, 35, 36, 37, 38, 38, 39, 40, 41, 42, 42, 43, 44, 45, 46, 46, 47, 48, 49, 50, 50];

/// Seconds from snap to snap: completion normal.
pub(crate) const RUNOFF_COMPLETION_NORMAL: Quantiles =
    [0, 3, 4, 5, 6, 10, 20, 24, 26, 29, 31, 32, 34, 35, 36, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 49, 50, 50];

/// Seconds from snap to snap: sack normal.
pub(crate) const RUNOFF_SACK_NORMAL: Quantiles =
    [0, 0, 4, 6, 7, 10, 17, 27, 32, 34, 36, 37, 38, 39, 40, 41, 42, 42, 43, 44, 45, 46, 46, 47, 48, 48, 49, 49, 50, 50];

/// Seconds from snap to snap: incompletion normal.
pub(crate) const RUNOFF_INCOMPLETION_NORMAL: Quantiles =
    [0, 0, 2, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 8, 9, 10, 11, 12, 14, 17, 39, 50];
