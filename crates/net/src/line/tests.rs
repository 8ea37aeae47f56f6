use std::{
    io::{PipeReader, PipeWriter, pipe},
    sync::Arc,
    sync::Mutex,
    thread,
};

use super::*;
use crate::{
    Lane,
    hello::{self, Hello, Role},
};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

fn key(byte: u8) -> Key {
    Key::from_bytes([byte; 32])
}

type End = (PipeReader, Filter);

/// A fault that a line has: at that byte of a direction.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Lose(usize),
    Double(usize),
    Flip(usize),
    Cut(usize),
}

/// A direction of a line, with a fault perhaps.
struct Filter {
    to: Option<PipeWriter>,
    at: usize,
    fault: Option<Fault>,
}

impl Write for Filter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = Vec::new();
        for &byte in bytes {
            match self.fault {
                Some(Fault::Lose(at)) if at == self.at => {}
                Some(Fault::Double(at)) if at == self.at => out.extend([byte, byte]),
                Some(Fault::Flip(at)) if at == self.at => out.push(byte ^ 4),
                Some(Fault::Cut(at)) if at == self.at => self.to = None,
                _ => out.push(byte),
            }
            self.at += 1;
        }
        match &mut self.to {
            Some(to) => to.write_all(&out).map(|()| bytes.len()),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Two ends of a line; the faults are of what the first end sends, and of what the second does.
fn ends(faults: [Option<Fault>; 2]) -> (End, End) {
    let ((from_there, to_here), (from_here, to_there)) = (pipe().unwrap(), pipe().unwrap());
    let filter = |to, fault| Filter { to: Some(to), at: 0, fault };
    ((from_there, filter(to_there, faults[0])), (from_here, filter(to_here, faults[1])))
}

/// Runs a session of a message each way over a line with these faults.
fn session(faults: [Option<Fault>; 2], timeout: Duration) -> [Result<(), Error>; 2] {
    let (here, there) = ends(faults);
    let talk = |secured: Secured, initiator, role| {
        let Secured { channel, exporter } = secured;
        assert_eq!(channel.window(), WINDOW, "a wait that is cut short would lose bytes");
        hello::exchange(&channel, initiator, &Hello::new(role).bound_by(exporter))?;
        channel.send(Lane::PROTOCOL, vec![7; 700])?;
        assert_eq!(channel.recv(Lane::PROTOCOL, 700)?, [7; 700], "what came is what was sent");
        channel.finish()?;
        channel.close()
    };
    let device = thread::spawn(move || {
        talk(accept(there.0, there.1, drop, key(1), timeout, timeout)?, false, Role::Receiver)
    });
    let host = connect(here.0, here.1, drop, key(1), timeout, timeout);
    [host.and_then(|line| talk(line, true, Role::Sender)), device.join().unwrap()]
}

#[test]
fn a_session_runs_over_a_line() {
    assert_eq!(session([None, None], LONG), [Ok(()), Ok(())]);
}

#[test]
fn a_fault_anywhere_on_the_line_ends_both_sides_with_an_error() {
    let places = [3, 20, 50, 75, 110, 190, 330, 600, 900];
    let runs = places.map(|at| {
        thread::spawn(move || {
            for fault in [Fault::Lose(at), Fault::Double(at), Fault::Flip(at), Fault::Cut(at)] {
                for faults in [[Some(fault), None], [None, Some(fault)]] {
                    let [host, device] = session(faults, SHORT);
                    assert!(host.is_err() || device.is_err(), "{faults:?}");
                    // A fault that hits only the very end is found by one side; up to the closing by both.
                    assert!(host.is_err() && device.is_err(), "{faults:?}: {host:?}, {device:?}");
                }
            }
        })
    });
    runs.into_iter().for_each(|run| run.join().unwrap());
}

#[test]
fn another_key_is_refused_with_that_reason() {
    let (here, there) = ends([None, None]);
    let device = thread::spawn(move || accept(there.0, there.1, drop, key(2), LONG, LONG));
    let error = connect(here.0, here.1, drop, key(1), LONG, LONG).unwrap_err();
    assert!(error.to_string().contains("does not have this key"), "{error}");
    assert!(device.join().unwrap().is_err());
}

#[test]
fn bytes_that_an_earlier_session_left_on_the_line_are_skipped() {
    let (here, mut there) = ends([None, None]);
    // The beginning of a magic among it.
    there.1.write_all(b"boot: ok\r\nFOXFOXLINFOX").unwrap();
    let device =
        thread::spawn(move || accept(there.0, there.1, drop, key(1), LONG, LONG).map(drop));
    assert!(connect(here.0, here.1, drop, key(1), LONG, LONG).is_ok());
    assert_eq!(device.join().unwrap(), Ok(()));
}

#[test]
fn an_opening_is_repeated_until_a_device_that_starts_later_answers() {
    let (here, (mut from_here, to_here)) = ends([None, None]);
    let device = thread::spawn(move || {
        // The first opening comes to a device that is not there yet.
        let mut lost = [0; OPENING_LEN];
        from_here.read_exact(&mut lost).unwrap();
        accept(from_here, to_here, drop, key(1), LONG, LONG).map(drop)
    });
    assert!(connect(here.0, here.1, drop, key(1), LONG, LONG).is_ok());
    assert_eq!(device.join().unwrap(), Ok(()));
}

#[test]
fn nobody_at_the_other_end_is_said_after_the_wait() {
    let (here, _kept) = ends([None, None]);
    let error = connect(here.0, here.1, drop, key(1), SHORT, LONG).unwrap_err();
    assert_eq!(error, ChannelError::NothingReceived(SHORT).into());
}

#[test]
fn a_line_shows_no_text_and_ends_with_an_empty_record() {
    struct Kept(Arc<Mutex<Vec<u8>>>);
    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (initiator, opening) = Initiator::open(key(1), [2; 32]);
    let (responder, answer) = Responder::answer(key(1), &opening, [3; 32]).unwrap();
    let (line, confirmation) = initiator.confirm(&answer).unwrap();
    let mut there = responder.finish(&confirmation).unwrap();
    let all = Arc::default();
    let mut writer = Writer { inner: Kept(Arc::clone(&all)), sealer: line.into_halves().0 };
    writer.write_all(&[0x5a; 300]).unwrap();
    drop(writer);
    let mut bytes = all.lock().unwrap().clone();
    assert!(!bytes.windows(4).any(|four| four == [0x5a; 4]));
    assert_eq!(bytes.len(), 300 + 3 * OVERHEAD);
    let (first, rest) = bytes.split_at_mut(256 + OVERHEAD);
    let (second, last) = rest.split_at_mut(44 + OVERHEAD);
    assert_eq!(there.opener.open(first).unwrap(), [0x5a; 256]);
    assert_eq!(there.opener.open(second).unwrap(), [0x5a; 44]);
    assert!(there.opener.open(last).unwrap().is_empty());
}
