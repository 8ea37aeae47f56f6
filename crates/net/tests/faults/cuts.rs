//! Connections that are cut at every frame of extensions, sets in common and triples.

use foxtrot_net::Error;
use foxtrot_ot::base::Adversary;

use crate::{
    SHORT, blames_connection,
    honest::Frame,
    in_parallel,
    protocols::{Both, PROTOCOLS, Party, Protocol, Sound, run},
    session::LONG,
    stream::{Cut, Fault, Pace, Plan, Way},
};

/// Returns positions before the frame, in its header, and in the middle of its payload.
fn positions(frame: &Frame) -> [usize; 3] {
    let (start, end) = (frame.bytes.start, frame.bytes.end);
    [start, start + 3, (start + Frame::HEADER + end) / 2].map(|k| k.min(end - 1))
}

fn cut(protocol: Protocol, way: Way, at: usize, cut: Cut) -> Both {
    let timeout = if cut == Cut::Silence { SHORT } else { LONG };
    let plan = Plan { fault: Some((way, Fault::Cut(at, cut))), pace: Pace::default() };
    run(protocol, &plan, timeout)
}

/// The side that reads that way fails, and so does the other if it can know; else it may have come to its end.
/// A party that has, has all of its output, and so has the other, unless that compares sets then.
fn assert_cut(sound: &Sound, both: &Both, way: Way, cut: Cut, what: &str) {
    let Both { sender, receiver, .. } = both;
    let (writer, reader) = match way {
        Way::ToReceiver => (sender, receiver),
        Way::ToSender => (receiver, sender),
    };
    let is_cut = |party: &Party| party.result.as_ref().is_err_and(blames_connection);
    assert!(is_cut(reader), "reader, {what}: {:?}", reader.result);
    assert!(
        is_cut(writer) || writer.result.is_ok() && matches!(cut, Cut::Lost | Cut::Silence),
        "writer, {what}: {:?}",
        writer.result
    );
    if writer.result.is_ok() && !matches!(sound.protocol, Protocol::Psi(..)) {
        assert!(sound.protocol.is_right(&sender.output, &receiver.output), "{what}");
    }
    for (party, len) in [sender, receiver].into_iter().zip(sound.lens) {
        assert!(party.result.is_err() || party.output.len() == len, "{what}");
    }
    if matches!(sound.protocol, Protocol::Psi(..)) {
        // One that has heard all is done, even if its last word does not arrive.
        assert!(receiver.result.is_ok() || receiver.output.is_empty(), "{what}");
    }
}

#[test]
fn a_connection_cut_at_any_frame_ends_both_sides_and_blames_no_side() {
    let all: Vec<_> = PROTOCOLS.into_iter().map(Sound::of).collect();
    let cuts = all.iter().flat_map(|sound| {
        sound.frames.iter().flat_map(move |frame| {
            // Silence takes its time, so it is at one of them.
            let silence = (positions(frame)[frame.index % 3], Cut::Silence);
            let cuts = positions(frame)
                .into_iter()
                .flat_map(|at| [Cut::End, Cut::Reset, Cut::Lost].map(|cut| (at, cut)));
            cuts.chain([silence]).map(move |(at, cut)| (sound, frame.way, at, cut))
        })
    });
    in_parallel(&cuts.collect::<Vec<_>>(), |&(sound, way, at, how)| {
        let both = cut(sound.protocol, way, at, how);
        let what = format!("{:?}, {way:?}, {how:?} at {at}", sound.protocol);
        assert_cut(sound, &both, way, how, &what);
    });
}

/// A joint coin stands behind the base OTs of several buckets: 32 bytes there, back and there again.
#[test]
fn a_connection_that_is_cut_at_the_joint_coin_of_sets_ends_both() {
    let small = Sound::of(PROTOCOLS[6]);
    let large = Protocol::Psi(Adversary::Malicious, (1 << 20) + 1, 3);
    let behind_base_ots = |way: Way| {
        small.frames.iter().filter(|frame| frame.way == way).nth(Frame::HELLOS).unwrap().bytes.end
    };
    let (to_sender, to_receiver) =
        (behind_base_ots(Way::ToSender), behind_base_ots(Way::ToReceiver));
    const FRAME: usize = Frame::HEADER + 32;
    let coins = [
        (Way::ToSender, to_sender),
        (Way::ToReceiver, to_receiver),
        (Way::ToSender, to_sender + FRAME),
    ];
    for (way, start) in coins {
        for at in [start, start + 3, start + FRAME - 1] {
            let both = cut(large, way, at, Cut::Reset);
            for party in [&both.sender, &both.receiver] {
                let blames = |e: &Error| blames_connection(e);
                assert!(
                    party.result.as_ref().is_err_and(blames),
                    "{way:?}, {at}: {:?}",
                    party.result
                );
                assert!(party.output.is_empty());
            }
        }
    }
}
