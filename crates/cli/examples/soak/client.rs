//! The client's side of a session, in this process.

use std::time::Duration;

use foxtrot_net::{
    Channel, Lane, drive,
    hello::{self, Agreement, Hello, Role},
    tcp,
    tls::Tls,
};
use foxtrot_ot::{
    Bits, Seed, Session,
    base::{Choice, Functionality, find},
    convert::{self, frame_len},
};

use crate::psi;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Transfers of a session.
pub(crate) const TRANSFERS: usize = 8;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Both messages of a transfer.
fn messages(transfer: usize) -> [String; 2] {
    [format!("left message of transfer {transfer}"), format!("right message of {transfer}")]
}

/// A job that a server offers, and its clients want.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Job {
    /// One message of each pair.
    Messages,
    /// Intersections of the server's set of so many keys with a client's set of the same size.
    Sets(usize),
}

impl Job {
    /// Returns the command that the server runs with its file.
    pub(crate) fn command(self) -> [&'static str; 2] {
        match self {
            Self::Messages => ["ot", "send"],
            Self::Sets(_) => ["psi", "send"],
        }
    }

    /// The server's file.
    pub(crate) fn lines(self) -> String {
        match self {
            Self::Messages => {
                (0..TRANSFERS).flat_map(messages).map(|message| message + "\n").collect()
            }
            Self::Sets(keys) => (0..keys).map(|k| psi::key(k) + "\n").collect(),
        }
    }

    /// KiB that a server may take for each session: the 802 base OTs of a set take 3 MB, and a key some hundred bytes.
    pub(crate) fn most_of_each(self) -> u64 {
        match self {
            Self::Messages => 128,
            Self::Sets(keys) => (3 << 10) + keys as u64 / 2,
        }
    }

    /// Runs a session, and checks its result.
    pub(crate) fn session(self, address: &str, tls: Option<&Tls>) -> Result<(), Failure> {
        match self {
            Self::Messages => session(address, tls),
            Self::Sets(keys) => psi::session(address, tls, keys),
        }
    }
}

/// A channel on which both sides want the same.
pub(crate) fn open(
    address: &str,
    tls: Option<&Tls>,
    hello: Hello,
) -> Result<(Channel, Agreement), Failure> {
    let socket = tcp::connect(address, TIMEOUT)?;
    let (channel, hello) = match tls {
        Some(tls) => {
            let secured = tls.connect(socket)?;
            (secured.channel, hello.bound_to(secured.binding))
        }
        None => (socket.open()?, hello),
    };
    let agreement = hello::exchange(&channel, true, &hello)?;
    Ok((channel, agreement))
}

/// Receives the messages of random choices, and checks that they are those.
fn session(address: &str, tls: Option<&Tls>) -> Result<(), Failure> {
    let base = find("roted", Functionality::Endemic).ok_or("no base OT")?;
    let hello = Hello::new(Role::Receiver)
        .term("job", "ot")
        .term("base", base.info().name)
        .term("extension", "none")
        .term("adversary", base.info().adversary)
        .term("count", TRANSFERS)
        .term("format", "text");
    let (channel, agreement) = open(address, tls, hello)?;
    let length = agreement.peer_details.get("message-length").ok_or("no length")?.parse()?;
    let sub = |protocol| Session::new(agreement.sid).sub(protocol, 0, agreement.direction());

    let mut random = [0; 32 + TRANSFERS];
    getrandom::fill(&mut random)?;
    let (seed, choices) = random.split_at(32);
    let choices = || Bits::from_bools(choices.iter().map(|byte| byte % 2 == 1));
    let seed = Seed::from_bytes(seed.try_into()?);
    let role = base.receiver(sub(base.info().name), Choice::Given(choices()), seed)?;
    let batch = drive::run(&channel, role)?;
    let frame = channel.recv(Lane::PROTOCOL, frame_len(TRANSFERS, length))?;
    channel.finish()?;
    channel.close()?;
    let mut receiver = convert::Receiver::new(sub("chosen-messages"), length)?;
    receiver.take(batch.choices(), batch.keys(), &frame)?;
    for (i, got) in receiver.open().map_err(foxtrot_ot::Error::from)?.iter().enumerate() {
        let expected = &messages(i)[usize::from(random[32 + i] % 2)];
        if got.as_slice() != expected.as_bytes() {
            return Err(format!("a wrong message in transfer {i}").into());
        }
    }
    Ok(())
}
