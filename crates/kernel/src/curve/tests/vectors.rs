//! The vectors of RFC 7748, RFC 9380 and RFC 9496.

use super::*;

/// Bytes from hexadecimal digits.
fn hex<const N: usize>(digits: &str) -> [u8; N] {
    assert_eq!(digits.len(), 2 * N);
    core::array::from_fn(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
}

/// A number as RFC 9380 writes it, most significant digit first.
fn number(digits: &str) -> [u8; 32] {
    let mut bytes = hex(digits);
    bytes.reverse();
    bytes
}

/// Section 5: clamping.
fn clamped(mut scalar: [u8; 32]) -> [u8; 32] {
    scalar[0] &= 248;
    scalar[31] = scalar[31] & 127 | 64;
    scalar
}

/// RFC 7748, section 5.2: scalar, u-coordinate, result; the second u has bit 255 set.
const X25519: [[&str; 3]; 2] = [
    [
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
    ],
    [
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
    ],
];

fn rfc_7748(backend: Backend) {
    let scalars = X25519.map(|[scalar, ..]| clamped(hex(scalar)));
    let points = X25519.map(|[_, point, _]| hex(point));
    let mut out = [[0; 32]; 2];
    ladder::mul(backend, &scalars, &points, &mut out);
    assert_eq!(out, X25519.map(|[.., result]| hex(result)));

    // The iterations, a thousand times.
    let (mut k, mut u) = ([small(9)], [small(9)]);
    for round in 1..=1000 {
        let mut result = [[0; 32]];
        ladder::mul(backend, &k.map(clamped), &u, &mut result);
        (u, k) = (k, result);
        if round == 1 {
            let once = "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079";
            assert_eq!(k, [hex(once)]);
        }
    }
    assert_eq!(k, [hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")]);
}

/// RFC 7748, section 6.1: private and public keys of two, and what they share.
const KEYS: [[&str; 2]; 2] = [
    [
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
        "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
    ],
    [
        "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
    ],
];
const SHARED: &str = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";

fn key_agreement_matches_rfc_7748(backend: Backend) {
    let scalars = KEYS.map(|[private, _]| clamped(hex(private)));
    let expected = KEYS.map(|[_, public]| hex(public));
    let mut public = [[0; 32]; 2];
    ladder::mul(backend, &scalars, &[small(9)], &mut public);
    assert_eq!(public, expected);
    let mut memory = vec![Sixteen::ZERO; TwinTable::LEN];
    let table = TwinTable::new(backend, &[small(9), TWIST_GENERATOR], &mut memory).unwrap();
    table.mul(backend, &scalars, &[0], &mut public);
    assert_eq!(public, expected);
    public.reverse();
    let mut shared = [[0; 32]; 2];
    ladder::mul(backend, &scalars, &public, &mut shared);
    assert_eq!(shared, [hex(SHARED); 2]);
}

/// RFC 9380, appendices J.4.1 and J.4.2: u, and the x-coordinate of Q.
const ELLIGATOR: [[&str; 2]; 15] = [
    [
        "005fe8a7b8fef0a16c105e6cadf5a6740b3365e18692a9c05bfbb4d97f645a6a",
        "36b4df0c864c64707cbf6cf36e9ee2c09a6cb93b28313c169be29561bb904f98",
    ],
    [
        "1347edbec6a2b5d8c02e058819819bee177077c9d10a4ce165aab0fd0252261a",
        "3fa114783a505c0b2b2fbeef0102853c0b494e7757f2a089d0daae7ed9a0db2b",
    ],
    [
        "49bed021c7a3748f09fa8cdfcac044089f7829d3531066ac9e74e0994e05bc7d",
        "16b3d86e056b7970fa00165f6f48d90b619ad618791661b7b5e1ec78be10eac1",
    ],
    [
        "5c36525b663e63389d886105cee7ed712325d5a97e60e140aba7e2ce5ae851b6",
        "7ec29ddbf34539c40adfa98fcb39ec36368f47f30e8f888cc7e86f4d46e0c264",
    ],
    [
        "6412b7485ba26d3d1b6c290a8e1435b2959f03721874939b21782df17323d160",
        "71de3dadfe268872326c35ac512164850860567aea0e7325e6b91a98f86533ad",
    ],
    [
        "24c7b46c1c6d9a21d32f5707be1380ab82db1054fde82865d5c9e3d968f287b2",
        "5704069021f61e41779e2ba6b932268316d6d2a6f064f997a22fef16d1eaeaca",
    ],
    [
        "5e123990f11bbb5586613ffabdb58d47f64bb5f2fa115f8ea8df0188e0c9e1b5",
        "7a94d45a198fb5daa381f45f2619ab279744efdd8bd8ed587fc5b65d6cea1df0",
    ],
    [
        "5e8553eb00438a0bb1e7faa59dec6d8087f9c8011e5fb8ed9df31cb6c0d4ac19",
        "30506fb7a32136694abd61b6113770270debe593027a968a01f271e146e60c18",
    ],
    [
        "20f481e85da7a3bf60ac0fb11ed1d0558fc6f941b3ac5469aa8b56ec883d6d7d",
        "02d606e2699b918ee36f2818f2bc5013e437e673c9f9b9cdc15fd0c5ee913970",
    ],
    [
        "017d57fd257e9a78913999a23b52ca988157a81b09c5442501d07fed20869465",
        "38920e9b988d1ab7449c0fa9a6058192c0c797bb3d42ac345724341a1aa98745",
    ],
    [
        "608d892b641f0328523802a6603427c26e55e6f27e71a91a478148d45b5093cd",
        "51125222da5e763d97f3c10fcc92ea6860b9ccbbd2eb1285728f566721c1e65b",
    ],
    [
        "46f5b22494bfeaa7f232cc8d054be68561af50230234d7d1d63d1d9abeca8da5",
        "7d56d1e08cb0ccb92baf069c18c49bb5a0dcd927eff8dcf75ca921ef7f3e6eeb",
    ],
    [
        "235fe40c443766ce7e18111c33862d66c3b33267efa50d50f9e8e5d252a40aaa",
        "3fbe66b9c9883d79e8407150e7c2a1c8680bee496c62fabe4619a72b3cabe90f",
    ],
    [
        "001e92a544463bda9bd04ddbe3d6eed248f82de32f522669efc5ddce95f46f5b",
        "227e0bb89de700385d19ec40e857db6e6a3e634b1c32962f370d26f84ff19683",
    ],
    [
        "1a68a1af9f663592291af987203393f707305c7bac9c8d63d6a729bdc553dc19",
        "3bcd651ee54d5f7b6013898aab251ee8ecc0688166fce6e9548d38472f6bd196",
    ],
];

fn rfc_9380(backend: Backend) {
    let strings = ELLIGATOR.map(|[u, _]| number(u));
    let mut out = strings;
    elligator::map(backend, &strings, &mut out);
    assert_eq!(out, ELLIGATOR.map(|[_, x]| number(x)));
}

/// RFC 9496, appendix A.1: 0, 1, … 15 times the generator.
const MULTIPLES: [&str; 16] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76",
    "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919",
    "94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259",
    "da80862773358b466ffadfe0b3293ab3d9fd53c5ea6c955358f568322daf6a57",
    "e882b131016b52c1d3337080187cf768423efccbb517bb495ab812c4160ff44e",
    "f64746d3c92b13050ed8d80236a7f0007c3b3f962f5ba793d19a601ebb1df403",
    "44f53520926ec81fbd5a387845beb7df85a96a24ece18738bdcfa6a7822a176d",
    "903293d8f2287ebe10e2374dc1a53e0bc887e592699f02d077d5263cdd55601c",
    "02622ace8f7303a31cafc63f8fc48fdc16e1c8c8d234b2f0d6685282a9076031",
    "20706fd788b2720a1ed2a5dad4952b01f413bcf0e7564de8cdc816689e2db95f",
    "bce83f8ba5dd2fa572864c24ba1810f9522bc6004afe95877ac73241cafdab42",
    "e4549ee16b9aa03099ca208c67adafcafa4c3f3e4e5303de6026e3ca8ff84460",
    "aa52e000df2e16f55fb1032fc33bc42742dad6bd5a8fc0be0167436c5948501f",
    "46376b80f409b29dc2b5f6f0c52591990896e5716f41477cd30085ab7f10301e",
    "e0c418f7c8d9c4cdd7395b93ea124f3ad99021bb681dfc3302a9d99a2e53e64e",
];

/// RFC 9496, appendix A.2: what is no encoding.
const INVALID: [&str; 29] = [
    "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20",
    "c34c4e1826e5d403b78e246e88aa051c36ccf0aafebffe137d148a2bf9104562",
    "c940e5a4404157cfb1628b108db051a8d439e1a421394ec4ebccb9ec92a8ac78",
    "47cfc5497c53dc8e61c91d17fd626ffb1c49e2bca94eed052281b510b1117a24",
    "f1c6165d33367351b0da8f6e4511010c68174a03b6581212c71c0e1d026c3c72",
    "87260f7a2f12495118360f02c26a470f450dadf34a413d21042b43b9d93e1309",
    "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
    "4eac077a713c57b4f4397629a4145982c661f48044dd3f96427d40b147d9742f",
    "de6a7b00deadc788eb6b6c8d20c0ae96c2f2019078fa604fee5b87d6e989ad7b",
    "bcab477be20861e01e4a0e295284146a510150d9817763caf1a6f4b422d67042",
    "2a292df7e32cababbd9de088d1d1abec9fc0440f637ed2fba145094dc14bea08",
    "f4a9e534fc0d216c44b218fa0c42d99635a0127ee2e53c712f70609649fdff22",
    "8268436f8c4126196cf64b3c7ddbda90746a378625f9813dd9b8457077256731",
    "2810e5cbc2cc4d4eece54f61c6f69758e289aa7ab440b3cbeaa21995c2f4232b",
    "3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e",
    "a45fdc55c76448c049a1ab33f17023edfb2be3581e9c7aade8a6125215e04220",
    "d483fe813c6ba647ebbfd3ec41adca1c6130c2beeee9d9bf065c8d151c5f396e",
    "8a2e1d30050198c65a54483123960ccc38aef6848e1ec8f5f780e8523769ba32",
    "32888462f8b486c68ad7dd9610be5192bbeaf3b443951ac1a8118419d9fa097b",
    "227142501b9d4355ccba290404bde41575b037693cef1f438c47f8fbf35d1165",
    "5c37cc491da847cfeb9281d407efc41e15144c876e0170b499a96a22ed31e01e",
    "445425117cb8c90edcbc7c1cc0e74f747f2c1efa5630a967c64f287792a48a4b",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

/// RFC 9496, appendix A.3: uniform bytes, and the encoding of the element.
const UNIFORM: [[&str; 2]; 9] = [
    [
        "5d1be09e3d0c82fc538112490e35701979d99e06ca3e2b5b54bffe8b4dc772c14d98b696a1bbfb5ca32c436cc61c16563790306c79eaca7705668b47dffe5bb6",
        "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46",
    ],
    [
        "f116b34b8f17ceb56e8732a60d913dd10cce47a6d53bee9204be8b44f6678b270102a56902e2488c46120e9276cfe54638286b9e4b3cdb470b542d46c2068d38",
        "f26e5b6f7d362d2d2a94c5d0e7602cb4773c95a2e5c31a64f133189fa76ed61b",
    ],
    [
        "8422e1bbdaab52938b81fd602effb6f89110e1e57208ad12d9ad767e2e25510c27140775f9337088b982d83d7fcf0b2fa1edffe51952cbe7365e95c86eaf325c",
        "006ccd2a9e6867e6a2c5cea83d3302cc9de128dd2a9a57dd8ee7b9d7ffe02826",
    ],
    [
        "ac22415129b61427bf464e17baee8db65940c233b98afce8d17c57beeb7876c2150d15af1cb1fb824bbd14955f2b57d08d388aab431a391cfc33d5bafb5dbbaf",
        "f8f0c87cf237953c5890aec3998169005dae3eca1fbb04548c635953c817f92a",
    ],
    [
        "165d697a1ef3d5cf3c38565beefcf88c0f282b8e7dbd28544c483432f1cec7675debea8ebb4e5fe7d6f6e5db15f15587ac4d4d4a1de7191e0c1ca6664abcc413",
        "ae81e7dedf20a497e10c304a765c1767a42d6e06029758d2d7e8ef7cc4c41179",
    ],
    [
        "a836e6c9a9ca9f1e8d486273ad56a78c70cf18f0ce10abb1c7172ddd605d7fd2979854f47ae1ccf204a33102095b4200e5befc0465accc263175485f0e17ea5c",
        "e2705652ff9f5e44d3e841bf1c251cf7dddb77d140870d1ab2ed64f1a9ce8628",
    ],
    [
        "2cdc11eaeb95daf01189417cdddbf95952993aa9cb9c640eb5058d09702c74622c9965a697a3b345ec24ee56335b556e677b30e6f90ac77d781064f866a3c982",
        "80bd07262511cdde4863f8a7434cef696750681cb9510eea557088f76d9e5065",
    ],
    [
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff1200000000000000000000000000000000000000000000000000000000000000",
        "304282791023b73128d277bdcb5c7746ef2eac08dde9f2983379cb8e5ef0517f",
    ],
    [
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "304282791023b73128d277bdcb5c7746ef2eac08dde9f2983379cb8e5ef0517f",
    ],
];

fn rfc_9496(backend: Backend) {
    let multiples = MULTIPLES.map(hex);
    let scalars: Vec<_> = (0..16).map(small).collect();
    let mut points = [const { Point::IDENTITY }; 16];
    let mut out = [[0; 32]; 16];
    mul(backend, &scalars, &[Point::BASE], &mut points);
    ristretto::encode(backend, &points, &mut out);
    assert_eq!(out, multiples);
    ristretto::decode(backend, &multiples, &mut points).unwrap();
    ristretto::encode(backend, &points, &mut out);
    assert_eq!(out, multiples);

    for invalid in INVALID {
        let decoded = ristretto::decode(backend, &[hex(invalid)], &mut points[..1]);
        assert_eq!(decoded, Err(Invalid { index: 0 }), "{invalid}");
    }

    let strings = UNIFORM.map(|[input, _]| hex(input));
    ristretto::from_uniform(backend, &strings, &mut points[..strings.len()]);
    ristretto::encode(backend, &points[..strings.len()], &mut out[..strings.len()]);
    assert_eq!(out[..strings.len()], UNIFORM.map(|[_, output]| hex(output)));
}

on_every_backend! {
    x25519_matches_rfc_7748 => rfc_7748;
    rfc_7748_keys => key_agreement_matches_rfc_7748;
    elligator_matches_rfc_9380 => rfc_9380;
    ristretto_matches_rfc_9496 => rfc_9496;
}

/// Recomputes every constant in the field from smaller ones.
#[test]
fn constants_match_their_names() {
    use super::{
        constants::*,
        field::{Field, SQRT_MINUS_ONE},
    };
    let f = crate::backend::Scalar;
    let of = |x: &field::Limbs| field::canonical(x);
    let tight = |x| f.carry(x);
    let number = |x: u64| [x, 0, 0, 0, 0];
    let neg = |x| f.negate(x);
    let square = |x| f.square(x);
    let inverse = |x| field::invert(f, x);
    assert_eq!(of(&square(SQRT_MINUS_ONE)), of(&neg(ONE)));
    let d = neg(f.mul(number(A24.into()), inverse(number(u64::from(A24) + 1))));
    assert_eq!(of(&d), D);
    assert_eq!(of(&tight(f.add(D, D))), TWICE_D);
    assert_eq!(of(&f.mul(TWIST_D, D)), ONE);
    assert_eq!(of(&tight(f.add(TWIST_D, TWIST_D))), TWICE_TWIST_D);
    // Completeness: d is no square, on neither side.
    assert_eq!(field::sqrt_ratio(f, D, ONE).0[0], 0);
    assert_eq!(field::sqrt_ratio(f, TWIST_D, ONE).0[0], 0);
    assert_eq!(4 * u64::from(A24), A[0] - 2);
    assert_eq!(of(&tight(f.sub(ONE, square(D)))), ONE_MINUS_D_SQUARED);
    let less = tight(f.sub(D, ONE));
    assert_eq!(of(&square(less)), D_MINUS_ONE_SQUARED);
    let minus = neg(f.add(D, ONE));
    assert_eq!(of(&square(SQRT_MINUS_D_MINUS_ONE)), of(&minus));
    assert_eq!(of(&f.mul(square(INVSQRT_MINUS_ONE_MINUS_D), minus)), ONE);
    for even in [SQRT_MINUS_ONE, INVSQRT_MINUS_ONE_MINUS_D] {
        assert_eq!(even[0] & 1, 0);
    }
    assert_eq!(SQRT_MINUS_D_MINUS_ONE[0] & 1, 1);
    let [x, y, xy] = BASE;
    assert_eq!(of(&f.mul(x, y)), xy);
}
