//! The lattice part, the same in both modes: φ, replies and the 256-bit strings sk.
//! Step numbers are those of `docs/protocols/roted.md`.

mod by_rows;

use alloc::{boxed::Box, vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    ring::{
        module768::{BITS, Factor, NttPoly, RANK, UNIFORM_BYTES, USUAL_BYTES},
        vectors,
    },
};
use zeroize::Zeroizing;

use crate::{
    Bits, Decode, Seed, Session,
    choices::select,
    coins::Coins,
    erase::Secrets,
    oracle::{Oracle, Purpose},
    popf::{Digests, Feistel2, GROUP, Group, Hashed, Room, S_LEN},
    tasks,
};

const POLY_LEN: usize = 256 * BITS / 8;
/// Bytes of T.
const T_LEN: usize = RANK * POLY_LEN;
/// Bytes of φ = (T, s).
pub(in crate::base) const PHI_LEN: usize = T_LEN + S_LEN;
/// Bits to which coefficients of U are rounded.
const U_BITS: usize = 11;
const U_POLY_LEN: usize = 256 * U_BITS / 8;
/// Bytes of U.
const U_LEN: usize = RANK * U_POLY_LEN;
pub(in crate::base) const BRANCH_LEN: usize = U_LEN + 32;
/// Bytes of the reply for one instance.
pub(super) const REPLY_LEN: usize = 2 * BRANCH_LEN;
const NOISE_LEN: usize = 128;
const NOISE_VECTOR_LEN: usize = RANK * NOISE_LEN;
/// Bytes of the receiver's coins: s_R, e_R and r.
const RECEIVER_COINS_LEN: usize = 2 * NOISE_VECTOR_LEN + S_LEN;
/// Bytes of the sender's coins for one branch: s_S, e_S and e′.
pub(in crate::base) const SENDER_COINS_LEN: usize = 2 * NOISE_VECTOR_LEN + NOISE_LEN;
/// Bytes by which a `Blinded` enters the transcript, for each instance: the digest of T, and s.
pub(super) const DIGEST_LEN: usize = 32 + S_LEN;

/// The string from which a key is hashed.
pub(in crate::base) type Sk = [u8; 32];

pub(in crate::base) type Vector = [NttPoly; RANK];

/// A vector that is multiplied by many.
type Secret = [Factor; RANK];

const ZERO: Vector = [NttPoly::ZERO; RANK];
const NO_SECRET: Secret = [Factor::ZERO; RANK];

/// Working memory of the instances, which are computed one after another; erased when dropped. On the
/// heap, and only where A is kept: a single instance does with less.
#[derive(Default)]
pub(in crate::base) struct Scratch(Option<Box<Rooms>>);

/// A secret, room for polynomials, and coins.
type Rooms = (Secret, vectors::Room<256, RANK>, Zeroizing<[u8; SENDER_COINS_LEN]>);

/// The reply that the receiver chose, and what it is opened in; erased when dropped.
pub(in crate::base) struct Chosen {
    reply: Zeroizing<[u8; BRANCH_LEN]>,
    room: vectors::Room<256, RANK>,
}

impl Chosen {
    pub(in crate::base) fn empty() -> Self {
        Self { reply: Zeroizing::new([0; BRANCH_LEN]), room: vectors::Room::empty() }
    }
}

impl Scratch {
    // Never inlined: what is moved to the heap would also be in the frame of a single instance.
    #[inline(never)]
    fn in_use(&mut self) -> &mut Rooms {
        let coins = || Zeroizing::new([0; SENDER_COINS_LEN]);
        self.0.get_or_insert_with(|| Box::new((NO_SECRET, vectors::Room::empty(), coins())))
    }
}

/// R_q³ in NTT form.
#[derive(Debug)]
pub(in crate::base) struct Module(Backend);

impl Group for Module {
    type Element = Vector;
    const ENCODED_LEN: usize = T_LEN;
    const ANSWER_LEN: usize = UNIFORM_BYTES;
    const USUAL_LEN: usize = USUAL_BYTES;

    fn zero(&self) -> Vector {
        ZERO
    }

    fn hash(&self, answers: &[u8], elements: &mut [Vector]) {
        NttPoly::uniform_all::<BITS, RANK>(self.0, answers, elements);
    }

    fn hash_public(&self, answer: &[u8], element: &mut Vector) -> bool {
        NttPoly::set_uniform_public::<BITS, RANK>(self.0, answer, element)
    }

    fn add_encoded(&self, a: &mut Vector, bytes: &[u8]) {
        let in_range = vectors::add_packed::<_, _, BITS, RANK>(self.0, a, bytes);
        debug_assert!(in_range, "decoding the message has checked it");
    }
}

/// The oracle contexts of the protocol that the instances belong to.
#[derive(Debug)]
pub(in crate::base) struct Contexts {
    pub(in crate::base) a: Purpose,
    pub(in crate::base) h1: Purpose,
    pub(in crate::base) digest: Purpose,
    pub(in crate::base) h_prime: Purpose,
    pub(in crate::base) receiver_coins: Purpose,
    /// True if a single instance makes A by rows.
    pub(in crate::base) spares_memory: bool,
}

/// Contexts of `roted`, in either mode.
pub(super) const ROTED: Contexts = Contexts {
    a: Purpose::new("foxtrot v1 roted A"),
    h1: Purpose::new("foxtrot v1 roted H1"),
    digest: Purpose::new("foxtrot v1 roted T"),
    h_prime: Purpose::new("foxtrot v1 roted H'"),
    receiver_coins: Purpose::new("foxtrot v1 roted receiver coins"),
    spares_memory: true,
};

/// Values that all instances of a batch share.
pub(in crate::base) struct Batch {
    pub(in crate::base) backend: Backend,
    pub(in crate::base) popf: Feistel2<Module>,
    a: Matrix,
}

/// A.
enum Matrix {
    /// All rows, on the heap, so that a batch is small to move.
    Kept(Box<[Vector; RANK]>),
    /// The oracle that gives the rows, for a single instance.
    ByRows(Oracle),
}

/// State between the receiver's two steps: s_R of every instance, and the choices.
pub(in crate::base) struct Blinding {
    pub(in crate::base) batch: Batch,
    pub(in crate::base) choices: Bits,
    secrets: Vec<Secret>,
}

impl Matrix {
    fn kept(backend: Backend, oracle: &Oracle) -> Self {
        let mut rows = Box::new([ZERO; RANK]);
        let mut room = vec![0; UNIFORM_BYTES];
        for (row, a) in rows.iter_mut().enumerate() {
            by_rows::set_row(backend, oracle, row, &mut room, a);
        }
        Self::Kept(rows)
    }
}

impl Batch {
    /// Prepares n instances.
    pub(in crate::base) fn new(session: &Session, contexts: &Contexts, n: usize) -> Self {
        let backend = session.backend();
        let popf = Feistel2::new(
            Module(backend),
            session.keyed(contexts.h1, &[]),
            session.keyed(contexts.digest, &[]),
            session.keyed(contexts.h_prime, &[]),
        );
        let oracle = session.oracle(contexts.a);
        let a = match n {
            1 if contexts.spares_memory => Matrix::ByRows(oracle),
            _ => Matrix::kept(backend, &oracle),
        };
        Self { backend, popf, a }
    }

    /// Steps 1 to 3 for consecutive instances, from `first` on.
    fn blind(
        &self,
        coins_of: &Coins,
        choices: &Bits,
        first: usize,
        secrets: &mut [Secret],
        phis: &mut [u8],
        digests: &mut [u8],
    ) {
        let backend = self.backend;
        let mut room = self.popf.room(secrets.len());
        let mut c = Zeroizing::new([0; GROUP]);
        let mut r = Secrets::zeroed(secrets.len().min(GROUP));
        let mut scratch = Scratch::default();
        let groups = secrets.chunks_mut(GROUP).zip(phis.chunks_mut(GROUP * PHI_LEN));
        let groups = groups.zip(digests.chunks_mut(GROUP * DIGEST_LEN));
        for (group, ((secrets, phis), digests)) in groups.enumerate() {
            let (first, count) = (first + group * GROUP, secrets.len());
            for k in 0..count {
                let end = (first + k + 1) * RECEIVER_COINS_LEN - S_LEN;
                coins_of.fill(end / 16, &mut r[k]);
                c[k] = choices.get(first + k).unwrap_u8();
            }
            let difference = |k: usize, h: Hashed<'_, Module>, t: &mut [u8]| {
                let block = (first + k) * RECEIVER_COINS_LEN / 16;
                let s_r = &mut secrets[k];
                match &self.a {
                    Matrix::Kept(a) => {
                        let ((_, room, coins), h) = (scratch.in_use(), h.element);
                        // Step 1.
                        let coins = &mut coins[..2 * NOISE_VECTOR_LEN];
                        coins_of.fill(block, coins);
                        let (s_bytes, e) = coins.split_at(NOISE_VECTOR_LEN);
                        vectors::set_noise(backend, s_bytes, s_r);
                        // Steps 2 and 3.
                        vectors::pack_blinded::<_, _, BITS, RANK>(backend, room, a, s_r, e, h, t);
                    }
                    Matrix::ByRows(oracle) => {
                        by_rows::pack_blinded(backend, oracle, (coins_of, block), s_r, h, t);
                    }
                }
            };
            let (c, r) = (&c[..count], &r[..count]);
            let opened = self.popf.program(&mut room, first as u64, c, r, difference, phis);
            condense(&opened, phis, digests);
        }
    }

    /// Steps 5 to 7 for consecutive instances, from `first` on; two strings for each.
    fn reply(
        &self,
        coins_of: &Coins,
        first: usize,
        phis: &[u8],
        replies: &mut [u8],
        strings: &mut [Sk],
        digests: &mut [u8],
    ) {
        let mut room = self.popf.room(strings.len() / 2);
        let mut scratch = Scratch::default();
        let groups = phis.chunks(GROUP * PHI_LEN).zip(replies.chunks_mut(GROUP * REPLY_LEN));
        let groups = groups.zip(strings.chunks_mut(2 * GROUP));
        let groups = groups.zip(digests.chunks_mut(GROUP * DIGEST_LEN));
        for (group, (((phis, replies), strings), digests)) in groups.enumerate() {
            let first = first + group * GROUP;
            let opened = self.popf.open(first as u64, phis);
            condense(&opened, phis, digests);
            for j in 0..2 {
                // Step 5.
                self.popf.evaluate(&mut room, &opened, phis, j, |k, p| {
                    let j = usize::from(j);
                    let block = (2 * (first + k) + j) * SENDER_COINS_LEN / 16;
                    let reply = &mut replies[k * REPLY_LEN + j * BRANCH_LEN..][..BRANCH_LEN];
                    let sk = &mut strings[2 * k + j];
                    match &self.a {
                        Matrix::Kept(a) => {
                            let (s_s, room, coins) = scratch.in_use();
                            coins_of.fill(block, coins.as_mut_slice());
                            let p = &*p.element;
                            answer(self.backend, a, p, &coins[..], (reply, sk), (s_s, room));
                        }
                        Matrix::ByRows(oracle) => {
                            let coins = (coins_of, block);
                            by_rows::answer(self.backend, oracle, coins, p, reply, sk);
                        }
                    }
                });
            }
        }
    }

    /// Step 5 for the φ of instance i, whose T was checked when its message was decoded.
    pub(in crate::base) fn open(
        &self,
        room: &mut Room<Module>,
        i: usize,
        phi: &[u8],
    ) -> [Vector; 2] {
        let opened = self.popf.open(i as u64, phi);
        let mut points = [ZERO; 2];
        for (j, point) in (0..).zip(&mut points) {
            self.popf.evaluate(room, &opened, phi, j, |_, p| point.clone_from(p.element));
        }
        points
    }

    /// Steps 6 and 7 for one branch: writes U and the hints, and the string sk. The coins are fresh for
    /// this branch: one s_S for both would leak to a malicious T.
    ///
    /// # Panics
    /// In a protocol that spares memory.
    pub(in crate::base) fn answer(
        &self,
        p: &Vector,
        coins: &[u8],
        reply: &mut [u8],
        sk: &mut Sk,
        scratch: &mut Scratch,
    ) {
        let Matrix::Kept(a) = &self.a else { unreachable!("it answers by rows") };
        let (s_s, room, _) = scratch.in_use();
        answer(self.backend, a, p, coins, (reply, sk), (s_s, room));
    }
}

/// [`Batch::answer`] with A, a secret and a room.
fn answer(
    backend: Backend,
    a: &[Vector; RANK],
    p: &Vector,
    coins: &[u8],
    (reply, sk): (&mut [u8], &mut Sk),
    (s_s, room): (&mut Secret, &mut vectors::Room<256, RANK>),
) {
    let (s_bytes, rest) = coins.split_at(NOISE_VECTOR_LEN);
    let (e_s, e_prime) = rest.split_at(NOISE_VECTOR_LEN);
    // Step 6.
    vectors::set_noise(backend, s_bytes, s_s);
    let (u, hints) = reply.split_at_mut(U_LEN);
    vectors::round_transposed::<_, _, U_BITS, RANK>(backend, room, a, s_s, e_s, u);

    // Step 7.
    vectors::reconcile(backend, room, s_s, p, e_prime, hints, sk);
}

/// Returns the number of instances per thread: whole groups.
fn piece_len(session: &Session, n: usize) -> usize {
    n.div_ceil(session.executor().threads()).next_multiple_of(GROUP).max(GROUP)
}

/// Steps 1 to 3 for every choice; writes φ after φ. Returns with the state what the transcript has of
/// each.
pub(in crate::base) fn blind(
    session: &Session,
    contexts: &Contexts,
    choices: Bits,
    seed: &Seed,
    phis: &mut [u8],
) -> (Blinding, Vec<u8>) {
    let n = choices.len();
    let batch = Batch::new(session, contexts, n);
    let coins = Coins::new(session, contexts.receiver_coins, seed);
    let mut secrets: Vec<Secret> = (0..n).map(|_| NO_SECRET).collect();
    let mut digests = vec![0; n * DIGEST_LEN];
    let len = piece_len(session, n);
    let pieces = secrets.chunks_mut(len).zip(phis.chunks_mut(len * PHI_LEN));
    let pieces = pieces.zip(digests.chunks_mut(len * DIGEST_LEN)).enumerate();
    tasks::for_each(session.executor(), pieces, |(number, ((secrets, phis), digests))| {
        batch.blind(&coins, &choices, number * len, secrets, phis, digests);
    });
    (Blinding { batch, choices, secrets }, digests)
}

/// Steps 5 to 7 for every φ; writes the replies to both branches of an instance. Returns its two
/// strings, one after the other, and what the transcript has of each φ.
pub(super) fn reply(
    session: &Session,
    phis: &[u8],
    seed: &Seed,
    replies: &mut [u8],
) -> (Secrets, Vec<u8>) {
    let n = phis.len() / PHI_LEN;
    let batch = Batch::new(session, &ROTED, n);
    let coins = Coins::new(session, const { Purpose::new("foxtrot v1 roted sender coins") }, seed);
    let mut strings = Secrets::zeroed(2 * n);
    let mut digests = vec![0; n * DIGEST_LEN];
    let len = piece_len(session, n);
    let pieces = phis.chunks(len * PHI_LEN).zip(replies.chunks_mut(len * REPLY_LEN));
    let pieces = pieces.zip(strings.chunks_mut(2 * len));
    let pieces = pieces.zip(digests.chunks_mut(len * DIGEST_LEN)).enumerate();
    tasks::for_each(
        session.executor(),
        pieces,
        |(number, (((phis, replies), strings), digests))| {
            batch.reply(&coins, number * len, phis, replies, strings, digests);
        },
    );
    (strings, digests)
}

/// Writes the digest of T, and s, of each φ.
fn condense(opened: &Digests, phis: &[u8], condensed: &mut [u8]) {
    let phis = phis.chunks_exact(PHI_LEN).zip(&opened.digests);
    for ((phi, digest), condensed) in phis.zip(condensed.chunks_exact_mut(DIGEST_LEN)) {
        condensed[..32].copy_from_slice(digest);
        condensed[32..].copy_from_slice(&phi[T_LEN..]);
    }
}

impl Blinding {
    pub(in crate::base) fn into_choices(self) -> Bits {
        self.choices
    }

    /// Step 9 for every instance.
    pub(super) fn recover(&self, session: &Session, replies: &[u8]) -> Secrets {
        let n = self.choices.len();
        let mut strings = Secrets::zeroed(n);
        let len = piece_len(session, n);
        let pieces = replies.chunks(len * REPLY_LEN).zip(strings.chunks_mut(len)).enumerate();
        tasks::for_each(session.executor(), pieces, |(number, (replies, strings))| {
            let mut chosen = Chosen::empty();
            let instances = replies.chunks_exact(REPLY_LEN).zip(strings).enumerate();
            for (k, (reply, sk)) in instances {
                let (zero, one) = reply.split_at(BRANCH_LEN);
                self.recover_one(number * len + k, [zero, one], sk, &mut chosen);
            }
        });
        strings
    }

    /// Step 9 for instance i, from the replies to both branches.
    pub(in crate::base) fn recover_one(
        &self,
        i: usize,
        [zero, one]: [&[u8]; 2],
        sk: &mut Sk,
        Chosen { reply, room }: &mut Chosen,
    ) {
        select(self.choices.get(i), zero, one, &mut **reply);
        let (u, hints) = reply.split_at(U_LEN);
        let (backend, s_r) = (self.batch.backend, &self.secrets[i]);
        vectors::key_bits::<_, _, U_BITS, RANK>(backend, room, s_r, u, hints, sk);
    }
}

/// Checks that every coefficient of T in a list of φ is below q.
pub(in crate::base) fn check_phis(message: &'static str, phis: &[u8]) -> Result<(), Decode> {
    for (instance, phi) in phis.chunks_exact(PHI_LEN).enumerate() {
        if !vectors::in_range::<256, 7681, BITS>(Backend::best(), &phi[..T_LEN]) {
            return Err(Decode::Coefficient { message, instance });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
