//! Constants of the field and the curves; the tests compute them again.

use super::field::Limbs;

/// (A − 2)/4 of v² = u³ + A·u² + u.
pub(super) const A24: u32 = 121_665;

/// A.
pub(super) const A: Limbs = [486_662, 0, 0, 0, 0];

pub(super) const ZERO: Limbs = [0; 5];
pub(super) const ONE: Limbs = [1, 0, 0, 0, 0];

/// The even square root of −1: 2^((p − 1)/4).
pub(super) const SQRT_MINUS_ONE: Limbs = [
    1_718_705_420_411_056,
    234_908_883_556_509,
    2_233_514_472_574_048,
    2_117_202_627_021_982,
    765_476_049_583_133,
];

/// d of −x² + y² = 1 + d·x²·y²: −121665/121666.
pub(super) const D: Limbs = [
    929_955_233_495_203,
    466_365_720_129_213,
    1_662_059_464_998_953,
    2_033_849_074_728_123,
    1_442_794_654_840_575,
];

/// 2d.
pub(super) const TWICE_D: Limbs = [
    1_859_910_466_990_425,
    932_731_440_258_426,
    1_072_319_116_312_658,
    1_815_898_335_770_999,
    633_789_495_995_903,
];

/// d of the twist in that form: 1/d of the curve.
pub(super) const TWIST_D: Limbs = [
    266_592_072_628_291,
    853_561_038_980_284,
    1_943_101_592_401_754,
    2_007_251_003_935_334,
    1_135_829_554_646_364,
];

/// 2/d.
pub(super) const TWICE_TWIST_D: Limbs = [
    533_184_145_256_601,
    1_707_122_077_960_568,
    1_634_403_371_118_260,
    1_762_702_194_185_421,
    19_859_295_607_481,
];

/// The even square root of −2·√−1, which is that of 2/√−1.
pub(super) const SQRT_MINUS_TWO_ROOT: Limbs = [
    533_094_393_274_174,
    2_016_890_930_128_738,
    18_285_341_111_199,
    134_597_186_663_265,
    1_486_323_764_102_114,
];

/// The even square root of −(A + 2), which brings Montgomery's form to Edwards'.
pub(super) const SQRT_MINUS_A_2: Limbs = [
    1_693_982_333_959_686,
    608_509_411_481_997,
    2_235_573_344_831_311,
    947_681_270_984_193,
    266_558_006_233_600,
];

/// 1 − d², `ONE_MINUS_D_SQ` of RFC 9496.
pub(super) const ONE_MINUS_D_SQUARED: Limbs = [
    1_136_626_929_484_150,
    1_998_550_399_581_263,
    496_427_632_559_748,
    118_527_312_129_759,
    45_110_755_273_534,
];

/// (d − 1)², `D_MINUS_ONE_SQ` of RFC 9496.
pub(super) const D_MINUS_ONE_SQUARED: Limbs = [
    1_507_062_230_895_904,
    1_572_317_787_530_805,
    683_053_064_812_840,
    317_374_165_784_489,
    1_572_899_562_415_810,
];

/// The odd square root of −d − 1, `SQRT_AD_MINUS_ONE` of RFC 9496.
pub(super) const SQRT_MINUS_D_MINUS_ONE: Limbs = [
    2_241_493_124_984_347,
    425_987_919_032_274,
    2_207_028_919_301_688,
    1_220_490_630_685_848,
    974_799_131_293_748,
];

/// The even square root of 1/(−1 − d), `INVSQRT_A_MINUS_D` of RFC 9496.
pub(super) const INVSQRT_MINUS_ONE_MINUS_D: Limbs = [
    278_908_739_862_762,
    821_645_201_101_625,
    8_113_234_426_968,
    1_777_959_178_193_151,
    2_118_520_810_568_447,
];

/// x, y and x·y of Ed25519's base point, of order ℓ: y = 4/5, x even.
pub(super) const BASE: [Limbs; 3] = [
    [
        1_738_742_601_995_546,
        1_146_398_526_822_698,
        2_070_867_633_025_821,
        562_264_141_797_630,
        587_772_402_128_613,
    ],
    [
        1_801_439_850_948_184,
        1_351_079_888_211_148,
        450_359_962_737_049,
        900_719_925_474_099,
        1_801_439_850_948_198,
    ],
    [
        1_841_354_044_333_475,
        16_398_895_984_059,
        755_974_180_946_558,
        900_171_276_175_154,
        1_821_297_809_914_039,
    ],
];
