//! Constants of the field and the curves; the tests compute them again.

use super::field::{Limbs, element};

/// (A − 2)/4 of v² = u³ + A·u² + u.
pub(super) const A24: u32 = 121_665;

/// A.
pub(super) const A: Limbs = [486_662, 0, 0, 0, 0];

pub(super) const ZERO: Limbs = [0; 5];
pub(super) const ONE: Limbs = [1, 0, 0, 0, 0];

/// d of −x² + y² = 1 + d·x²·y²: −121665/121666.
pub(super) const D: Limbs =
    element(0x5203_6cee_2b6f_fe73_8cc7_4079_7779_e898, 0x0070_0a4d_4141_d8ab_75eb_4dca_1359_78a3);

/// 2d.
pub(super) const TWICE_D: Limbs =
    element(0x2406_d9dc_56df_fce7_198e_80f2_eef3_d130, 0x00e0_149a_8283_b156_ebd6_9b94_26b2_f159);

/// d of the twist in that form: 1/d of the curve.
pub(super) const TWIST_D: Limbs =
    element(0x4090_7ed2_14d5_ce43_2b16_2114_cdb9_cf66, 0x0b5d_d698_4279_542e_25e0_f276_cdc9_f843);

/// 2/d.
pub(super) const TWICE_TWIST_D: Limbs =
    element(0x0120_fda4_29ab_9c86_562c_4229_9b73_9ecc, 0x16bb_ad30_84f2_a85c_4bc1_e4ed_9b93_f099);

/// 1 − d², `ONE_MINUS_D_SQ` of RFC 9496.
pub(super) const ONE_MINUS_D_SQUARED: Limbs =
    element(0x0290_72a8_b2b3_e0d7_9994_abdd_be70_dfe4, 0x2c81_a138_cd5e_350f_e27c_09c1_945f_c176);

/// (d − 1)², `D_MINUS_ONE_SQ` of RFC 9496.
pub(super) const D_MINUS_ONE_SQUARED: Limbs =
    element(0x5968_b37a_f66c_2241_4cdc_d32f_529b_4eeb, 0xd29e_4a2c_b01e_1999_31ad_5aaa_44ed_4d20);

/// The odd square root of −d − 1, `SQRT_AD_MINUS_ONE` of RFC 9496.
pub(super) const SQRT_MINUS_D_MINUS_ONE: Limbs =
    element(0x3769_31bf_2b83_48ac_0f3c_fcc9_31f5_d1fd, 0xaf9d_8e0c_1b78_54bd_7e97_f6a0_497b_2e1b);

/// The even square root of 1/(−1 − d), `INVSQRT_A_MINUS_D` of RFC 9496.
pub(super) const INVSQRT_MINUS_ONE_MINUS_D: Limbs =
    element(0x786c_8905_cfaf_fca2_16c2_7b91_fe01_d840, 0x9d2f_1617_5a41_72be_99c8_fdaa_805d_40ea);

/// x, y and x·y of Ed25519's base point, of order ℓ: y = 4/5, x even.
pub(super) const BASE: [Limbs; 3] = [
    element(0x2169_36d3_cd6e_53fe_c0a4_e231_fdd6_dc5c, 0x692c_c760_9525_a7b2_c956_2d60_8f25_d51a),
    element(0x6666_6666_6666_6666_6666_6666_6666_6666, 0x6666_6666_6666_6666_6666_6666_6666_6658),
    element(0x6787_5f0f_d78b_7665_66ea_4e8e_64ab_e37d, 0x20f0_9f80_7751_52f5_6dde_8ab3_a5b7_dda3),
];
