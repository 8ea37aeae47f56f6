//! The jobs of a peer.
#![forbid(unsafe_code)]

use foxtrot::{
    Peer as Facade,
    extension::{silent, softspoken},
    ot,
    psi::{self, Assumption, Outcome},
    rot,
    triples::{self, Method},
};
use zeroize::Zeroizing;

use crate::{
    failure::{Failure, Result},
    peer::Peer,
    stream::{Kind, Stream},
    types::{GILBOA, LPN, NOT_OPENED, Options, RECEIVER, RLWE, SEMI_HONEST, SENDER, SILENT},
};

impl Options {
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Fails if the options have some that the job does not have.
    fn only(&self, flags: u32, k: bool, items: bool) -> Result {
        let others = self.flags & !flags;
        match () {
            () if others != 0 => Err(format!("this job has no option with the flags {others:#x}")),
            () if self.k != 0 && !k => Err("this job has no option k".to_owned()),
            () if (self.max_peer_keys | self.min_peer_keys) != 0 && !items => {
                Err("this job has no limits of items".to_owned())
            }
            () => Ok(()),
        }
        .map_err(Failure::caller)
    }

    fn psi(&self) -> Result<psi::Options> {
        self.only(SEMI_HONEST | LPN, false, true)?;
        let mut options = psi::Options::new();
        if self.has(SEMI_HONEST) {
            options = options.semi_honest();
        }
        if self.has(LPN) {
            options = options.assumption(Assumption::Lpn);
        }
        if self.max_peer_keys != 0 {
            options = options.max_peer_keys(self.max_peer_keys);
        }
        Ok(options.min_peer_keys(self.min_peer_keys))
    }

    fn count(&self, min_count: u64) -> Result<psi::Count> {
        self.only(SEMI_HONEST, false, true)?;
        if !self.has(SEMI_HONEST) {
            let why = "counts and sums are semi-honest: say so by FOXTROT_SEMI_HONEST";
            return Err(Failure::caller(why));
        }
        let count = psi::Count::new().min_count(min_count).min_peer_keys(self.min_peer_keys);
        Ok(match self.max_peer_keys {
            0 => count,
            most => count.max_peer_keys(most),
        })
    }

    fn rot(&self, flags: u32) -> Result<rot::Options> {
        self.only(SEMI_HONEST | flags, true, false)?;
        let (semi_honest, mut options) = (self.has(SEMI_HONEST), rot::Options::new());
        if semi_honest {
            options = options.semi_honest();
        }
        if self.has(SILENT) {
            let silent = if semi_honest { silent::semi_honest() } else { silent::malicious() };
            options = options.silent(silent);
        }
        if self.k != 0 {
            let k = self.k as usize;
            let of_k = if semi_honest { softspoken::semi_honest } else { softspoken::malicious };
            options = options.extension(of_k(k)?);
        }
        Ok(options)
    }

    fn ot(&self) -> Result<ot::Options> {
        self.only(SEMI_HONEST, false, false)?;
        let options = ot::Options::new();
        Ok(if self.has(SEMI_HONEST) { options.semi_honest() } else { options })
    }

    fn triples(&self) -> Result<triples::Options> {
        self.only(SEMI_HONEST | RLWE | GILBOA, true, false)?;
        if !self.has(SEMI_HONEST) {
            return Err(Failure::caller("triples are semi-honest: say so by FOXTROT_SEMI_HONEST"));
        }
        let options = triples::Options::new();
        let method = match (self.has(RLWE), self.has(GILBOA), self.k) {
            (false, false, 0) => return Ok(options),
            (true, false, 0) => Method::Rlwe,
            (false, true, 0 | 4) => Method::Gilboa,
            (false, true, 2) => Method::GilboaK2,
            (false, true, 8) => Method::GilboaK8,
            _ => return Err(Failure::caller("these options of triples do not go together")),
        };
        Ok(options.method(method))
    }
}

/// The result of an intersection: a byte for each item, 1 for a common one, and the number of them.
pub(crate) fn mark(common: &[usize], mask: &mut [u8]) -> usize {
    mask.fill(0);
    common.iter().for_each(|&index| mask[index] = 1);
    common.len()
}

impl Peer {
    pub(crate) fn psi_send(&self, items: &[&[u8]], options: Options) -> Result {
        let options = options.psi()?;
        self.with(|peer| options.send(peer, items))
    }

    pub(crate) fn psi_receive(&self, items: &[&[u8]], options: Options) -> Result<Vec<usize>> {
        let options = options.psi()?;
        self.with(|peer| options.receive(peer, items))
    }

    pub(crate) fn psi_both(
        &self,
        role: i32,
        items: &[&[u8]],
        options: Options,
    ) -> Result<Vec<usize>> {
        let (options, sends) = (options.psi()?, is_sender(role)?);
        self.with(|peer| match sends {
            true => options.send_both(peer, items),
            false => options.receive_both(peer, items),
        })
    }

    pub(crate) fn psi_send_with(
        &self,
        items: &[&[u8]],
        payloads: &[u8],
        len: usize,
        options: Options,
    ) -> Result {
        let options = options.psi()?;
        let payload = |i: usize| &payloads[i * len..][..len];
        let rows: Vec<_> = items.iter().enumerate().map(|(i, item)| (item, payload(i))).collect();
        self.with(|peer| options.send_with(peer, &rows, len))
    }

    pub(crate) fn psi_receive_with(
        &self,
        items: &[&[u8]],
        len: usize,
        options: Options,
        payloads: &mut [u8],
    ) -> Result<Vec<usize>> {
        let options = options.psi()?;
        let rows = self.with(|peer| options.receive_with(peer, items, len))?;
        payloads.fill(0);
        for (i, payload) in &rows {
            payloads[i * len..][..len].copy_from_slice(payload);
        }
        Ok(rows.into_iter().map(|(i, _)| i).collect())
    }

    pub(crate) fn psi_count(
        &self,
        role: i32,
        items: &[&[u8]],
        min_count: u64,
        options: Options,
    ) -> Result<Outcome> {
        let (count, sends) = (options.count(min_count)?, is_sender(role)?);
        self.with(|peer| match sends {
            true => count.send(peer, items),
            false => count.receive(peer, items),
        })
    }

    pub(crate) fn psi_send_sum(
        &self,
        items: &[&[u8]],
        numbers: &[u64],
        largest: u64,
        min_count: u64,
        options: Options,
    ) -> Result<Outcome> {
        let count = options.count(min_count)?;
        let rows: Vec<_> = items.iter().zip(numbers.iter().copied()).collect();
        self.with(|peer| count.send_sum(peer, &rows, largest))
    }

    pub(crate) fn psi_receive_sum(
        &self,
        items: &[&[u8]],
        largest: u64,
        min_count: u64,
        options: Options,
    ) -> Result<Outcome> {
        let count = options.count(min_count)?;
        self.with(|peer| count.receive_sum(peer, items, largest))
    }

    pub(crate) fn ot_send(&self, messages: &[&[u8]], of: usize, options: Options) -> Result {
        let options = options.ot()?;
        self.with(|peer| options.send_one_of(peer, of, messages))
    }

    /// Writes each message to the beginning of its place of `size` bytes, and zeros behind it.
    pub(crate) fn ot_receive(
        &self,
        picks: &[u64],
        of: usize,
        size: usize,
        options: Options,
        messages: &mut [u8],
        lengths: &mut [usize],
    ) -> Result {
        let options = options.ot()?.longest_message(size);
        let received = self.with(|peer| options.receive_one_of(peer, of, picks))?;
        messages.fill(0);
        for (i, message) in received.iter().enumerate() {
            // A message that does not open is empty here, so that nothing else depends on it.
            lengths[i] = message.map_or(NOT_OPENED, <[u8]>::len);
            let message = message.unwrap_or_default();
            messages[i * size..][..message.len()].copy_from_slice(message);
        }
        Ok(())
    }
}

impl Stream {
    pub(crate) fn rot(peer: &Peer, role: i32, n: usize, options: Options) -> Result<Self> {
        let options = options.rot(SILENT)?;
        if is_sender(role)? {
            return Self::open(peer, Kind::RotSender, n, move |peer, mut out| {
                options.send_into(peer, n, |pairs| {
                    out.put(pairs.len(), [pairs.as_flattened().as_flattened().to_vec()])
                })?;
                Ok(None)
            });
        }
        Self::open(peer, Kind::RotReceiver, n, move |peer, mut out| {
            options.receive_into(peer, n, |choices, keys| {
                let choices = (0..keys.len()).map(|i| choices.get(i).unwrap_u8()).collect();
                out.put(keys.len(), [choices, keys.as_flattened().to_vec()])
            })?;
            Ok(None)
        })
    }

    pub(crate) fn cot_sender(peer: &Peer, n: usize, options: Options) -> Result<Self> {
        let options = options.rot(0)?;
        Self::open(peer, Kind::CotSender, n, move |peer, mut out| {
            let sink = |rows: &[_]| out.put(rows.len(), [rows.as_flattened().to_vec()]);
            options.send_correlated_into(peer, n, sink).map(Some)
        })
    }

    pub(crate) fn cot_receiver(peer: &Peer, choices: &[u8], options: Options) -> Result<Self> {
        let (options, choices) = (options.rot(0)?, bools(choices)?);
        Self::open(peer, Kind::CotReceiver, choices.len(), move |peer, mut out| {
            let sink = |rows: &[_]| out.put(rows.len(), [rows.as_flattened().to_vec()]);
            options.receive_correlated_into(peer, &choices, sink)?;
            Ok(None)
        })
    }

    pub(crate) fn triples(peer: &Peer, bits: u32, n: usize, options: Options) -> Result<Self> {
        let options = options.triples()?;
        let kind = match bits {
            1 => Kind::Bits,
            8 | 16 | 32 | 64 => Kind::Triples(bits as usize / 8),
            _ => return Err(Failure::caller("triples have 1, 8, 16, 32 or 64 bits")),
        };
        Self::open(peer, kind, n, move |peer: &mut Facade, mut out| {
            options.generate_into(peer, bits, n, |shares| {
                let parts = [shares.a(), shares.b(), shares.c()];
                // Words are little-endian there, and the machine's own here.
                let native = |part: &[u8]| match (kind, cfg!(target_endian = "big")) {
                    (Kind::Triples(width), true) => {
                        part.chunks(width).flat_map(|word| word.iter().rev()).copied().collect()
                    }
                    _ => part.to_vec(),
                };
                let units = match kind {
                    Kind::Bits => shares.a().len(),
                    _ => shares.len(),
                };
                out.put(units, parts.map(native))
            })?;
            Ok(None)
        })
    }
}

fn is_sender(role: i32) -> Result<bool> {
    match role {
        SENDER => Ok(true),
        RECEIVER => Ok(false),
        _ => Err(Failure::caller("role is neither FOXTROT_SENDER nor FOXTROT_RECEIVER")),
    }
}

/// Choice bits, one in a byte, without a branch that depends on one of them alone.
fn bools(choices: &[u8]) -> Result<Zeroizing<Vec<bool>>> {
    if choices.iter().fold(0, |all, choice| all | choice) > 1 {
        return Err(Failure::caller("a choice is neither 0 nor 1"));
    }
    Ok(Zeroizing::new(choices.iter().map(|&choice| choice == 1).collect()))
}
