//! `foxtrot ot`: messages of the sender's choice, one of each pair, or of as many as agreed.

use std::io::{self, IsTerminal};

use foxtrot::{
    job::Answer,
    ot::terms::{memory_of_ot_sender, message_length, peers_length},
};
use foxtrot_net::{
    escaped,
    hello::{Hello, Role, hexadecimal},
};
use foxtrot_ot::Misbehaved;
use serde_json::{Map, json};
use zeroize::Zeroizing;

use crate::{
    args::{Common, MessagesOut, MostSessions, OneOf, OtCommand, file},
    failure::Failure,
    files::{Existing, write_secret},
    keys::Party,
    lines::{Messages, Received, read_choices, read_messages, write_lines},
    link::{Cost, Link},
    local::both,
    method::{self, one_of as method_of},
    output,
    reach::Way,
    record::{Entry, Recorder},
    report::{Report, counted, object},
};

pub(crate) fn run(command: &OtCommand) -> Result<(), Failure> {
    match command {
        OtCommand::Local { messages, choices, one_of, out, common } => {
            let all = read_messages(messages, one_of.choices, out.hex)?;
            let chosen = read_choices(choices, one_of.choices)?;
            if chosen.len() != all.len() / one_of.choices {
                let transfers = match one_of.choices {
                    2 => counted(all.len() / 2, "pair of messages"),
                    n => counted(all.len() / n, &format!("set of {n} messages")),
                };
                return Err(Failure::usage(format!(
                    "{} has {} and {} has {transfers}",
                    choices.display(),
                    counted(chosen.len(), "choice"),
                    messages.display(),
                )));
            }
            local(&all, chosen, &party(common, all.len(), one_of, out.hex)?, out, common)
        }
        OtCommand::Send { messages, one_of, hex, serve, most, transport, common } => {
            let way = Way::prepare(transport, None)?;
            let all = read_messages(messages, one_of.choices, *hex)?;
            let party = party(common, all.len(), one_of, *hex)?;
            if *serve {
                let recorder = Recorder::of_many(transport, None);
                return answer_all((all, party), recorder, way, most, common);
            }
            Recorder::of_one(transport, None).keep("ot", "sender", |entry| {
                let begins = entry.begins(|_| Map::new());
                let link = way.reach(common, sender_hello(&party, &all), party.output, &begins)?;
                entry.met(link.peer.who(), &link.agreed);
                tell(&party, all.longest());
                let cost = send(link, &party, &all)?;
                let report = party.report(cost.of(Role::Sender));
                entry.ran(&report, &cost);
                let what = match one_of.choices {
                    2 => format!("{} pairs of messages", party.n),
                    n => format!("{} times {n} messages", party.n),
                };
                party.output.note(&format!("sent {what}: {}", report.words_of("OT")));
                report.print(party.output, Map::new())
            })
        }
        OtCommand::Receive { choices, one_of, out, transport, common } => {
            let way = Way::prepare(transport, None)?;
            let choices = read_choices(choices, one_of.choices)?;
            let party = party(common, choices.len() * one_of.choices, one_of, out.hex)?;
            Recorder::of_one(transport, None).keep("ot", "receiver", |entry| {
                let begins = entry.begins(|_| Map::new());
                let link = way.reach(common, party.hello(Role::Receiver), party.output, &begins)?;
                entry.met(link.peer.who(), &link.agreed);
                tell(&party, offered_length(&link)?);
                let (messages, cost) = receive(link, &party, choices)?;
                let report = party.report(cost.of(Role::Receiver));
                entry.ran(&report, &cost);
                entry.set("results", messages.len());
                deliver(&messages, &party, out, &report)
            })
        }
    }
}

fn local(
    messages: &Messages,
    choices: Zeroizing<Vec<u64>>,
    party: &Party,
    out: &MessagesOut,
    common: &Common,
) -> Result<(), Failure> {
    tell(party, messages.longest());
    let sender = party.for_another();
    let (sent, (received, cost)) = both(
        common.timeout,
        [sender_hello(party, messages), party.hello(Role::Receiver)],
        |link| send(link, &sender, messages),
        |link| receive(link, party, choices),
    )?;
    let report = party.report([Some(&sent), Some(&cost)]);
    deliver(&received, party, out, &report)
}

fn answer_all(
    (messages, party): (Messages, Party),
    recorder: Recorder,
    way: Way<'_>,
    most: &MostSessions,
    common: &Common,
) -> Result<(), Failure> {
    let (hello, output) = (sender_hello(&party, &messages), party.output);
    let (transfers, threads) = ([party.n, party.choices()], party.workers.threads());
    let memory = memory_of_ot_sender(&party.method, transfers, messages.longest(), threads);
    let host = way.host(common, hello, &recorder)?;
    let begin = move |(): &()| recorder.begin("ot", "sender");
    let answer = move |link: Link, (), entry: &mut Entry| {
        let party = party.for_another();
        let cost = send(link, &party, &messages)?;
        let report = party.report(cost.of(Role::Sender));
        entry.ran(&report, &cost);
        Ok(report)
    };
    let agree = move |_: &_| Ok(((), Answer { memory, ..Answer::default() }));
    output::stamp();
    host.all_peers(most, memory, agree, begin, answer, |number, peer, report| {
        output.note(&format!("session {number} with {peer}: {}", report.words_of("OT")));
        report.print(output, Map::new())
    })
}

fn party(common: &Common, messages: usize, one_of: &OneOf, hex: bool) -> Result<Party, Failure> {
    let (choices, n) = (one_of.choices, messages / one_of.choices);
    Party::new(common, method_of(common, choices, n)?, n, Some((choices, hex)))
}

fn sender_hello(party: &Party, messages: &Messages) -> Hello {
    message_length(party.hello(Role::Sender), messages.longest())
}

/// The length to which the sender says it pads, if that is one.
fn offered_length(link: &Link) -> Result<usize, Failure> {
    Ok(peers_length(&link.agreed.peer_details)?)
}

fn tell(party: &Party, message_len: usize) {
    let (transfers, method) = (counted(party.n, "transfer"), method::words(&party.method));
    let one_of = match party.choices() {
        2 => String::new(),
        choices => format!("one of {choices} messages "),
    };
    let words = format!("agreed: {transfers} of {one_of}up to {message_len} bytes, {method}");
    party.output.note(&words);
}

fn send(link: Link, party: &Party, messages: &Messages) -> Result<Cost, Failure> {
    let ((), cost) = link.run(&party.workers, |mut job| {
        party.send_messages(&mut job, messages.longest(), messages)?;
        Ok(job.finish()?)
    })?;
    Ok(cost)
}

fn receive(
    link: Link,
    party: &Party,
    choices: Zeroizing<Vec<u64>>,
) -> Result<(Received, Cost), Failure> {
    let length = offered_length(&link)?;
    let (sealed, cost) = link.run(&party.workers, |mut job| {
        let sealed = party.receive_messages(&mut job, length, choices)?;
        // The sender gets to know that all has come, and the connection ends, before anything is opened: whether that
        // fails, and how long it takes, may depend on the choices.
        job.finish()?;
        Ok(sealed)
    })?;
    let opened: Vec<_> = sealed.open().collect();
    let all = opened.into_iter().collect::<Option<_>>();
    let refused = foxtrot_ot::Error::from(Misbehaved::MessageAuthentication);
    Ok((all.ok_or(refused)?, cost))
}

fn deliver(
    messages: &Received,
    party: &Party,
    out: &MessagesOut,
    report: &Report,
) -> Result<(), Failure> {
    if !out.hex {
        check_lines(messages)?;
    }
    if let Some(path) = file(&out.output) {
        let mut lines = Zeroizing::new(Vec::new());
        write_lines(messages, out.hex, &mut *lines).map_err(|e| Failure::writing(path, &e))?;
        write_secret(Existing::Replaced, path, &lines)?;
    } else if !party.output.json {
        let mut stdout = io::stdout().lock();
        let written = if stdout.is_terminal() && !out.hex {
            write_lines(&harmless(messages), false, &mut stdout)
        } else {
            write_lines(messages, out.hex, &mut stdout)
        };
        written.map_err(|e| Failure::stdout(&e))?;
    }
    let parties = if report.parties == "both" { " (both parties in this process)" } else { "" };
    party.output.note(&format!(
        "received {} of {} messages: {}{parties}",
        messages.len(),
        party.choices() * messages.len(),
        report.words_of("OT")
    ));
    let result = match file(&out.output) {
        Some(path) => json!({ "files": [path.display().to_string()] }),
        None => in_json(messages, out.hex),
    };
    report.print(party.output, object(result))
}

/// Checks text for line breaks: a message with one would pass for two. No input file has one: the
/// peer made it.
fn check_lines(messages: &Received) -> Result<(), Failure> {
    if messages.iter().any(|message| message.contains(&b'\n') || message.ends_with(b"\r")) {
        return Err(Failure::peer("a message from the peer has a line break in it")
            .hint("--hex, on both sides, takes any bytes"));
    }
    Ok(())
}

/// Escapes the peer's messages for a terminal, which they could steer.
fn harmless(messages: &Received) -> Received {
    let escape = |text: &[u8]| escaped(&String::from_utf8_lossy(text));
    messages.iter().map(|message| Zeroizing::new(escape(message).into_bytes())).collect()
}

/// The messages, all as text or all in hexadecimal, and which.
fn in_json(messages: &Received, hex: bool) -> serde_json::Value {
    let texts: Option<Vec<_>> = messages.iter().map(|m| std::str::from_utf8(m).ok()).collect();
    match texts.filter(|_| !hex) {
        Some(texts) => json!({ "encoding": "text", "messages": texts }),
        None => {
            let all: Vec<_> = messages.iter().map(|message| hexadecimal(message)).collect();
            json!({ "encoding": "hex", "messages": all })
        }
    }
}
