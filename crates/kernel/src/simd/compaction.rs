//! What the compactions of uniform candidates have in common that move eight at a time.

/// The most steps, eight candidates each, and room behind them for the longest move to look at.
pub(super) const STEPS: usize = 128;
pub(super) const ROOM: usize = STEPS + 32;

/// For four acceptance bits the order that puts the accepted ones first: two bits for each place.
pub(super) const ORDER: [u8; 16] = {
    let mut order = [0; 16];
    let mut accepted = 0;
    while accepted < 16 {
        let (mut place, mut lane) = (0, 0);
        while lane < 4 {
            if accepted >> lane & 1 == 1 {
                order[accepted] |= lane << (2 * place);
                place += 1;
            }
            lane += 1;
        }
        accepted += 1;
    }
    order
};

/// For four acceptance bits the bytes that the accepted lanes take.
#[expect(clippy::cast_possible_truncation, reason = "at most 8")]
pub(super) const BYTES: [u8; 16] = {
    let mut bytes = [0; 16];
    let mut accepted = 0u32;
    while accepted < 16 {
        bytes[accepted as usize] = 2 * accepted.count_ones() as u8;
        accepted += 1;
    }
    bytes
};

/// One pass over how far slots have to go: moves those that have the bit `distance`. Returns all ones
/// for the places to which one comes.
#[inline(always)]
pub(super) fn move_moves(moves: &mut [u8; ROOM], distance: usize) -> [u8; STEPS] {
    let mut masks = [0; STEPS];
    let bit = distance.ilog2();
    let from = *moves;
    let pairs = from.iter().zip(&from[distance..]);
    for ((mask, to), (&here, &there)) in masks.iter_mut().zip(moves).zip(pairs) {
        let comes = (there >> bit & 1).wrapping_neg();
        let goes = (here >> bit & 1).wrapping_neg();
        *mask = comes;
        *to = there & comes | here & !comes & !goes;
    }
    masks
}
