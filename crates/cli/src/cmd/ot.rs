//! `foxtrot ot`: messages of the sender's choice, one of each pair, or of as many as agreed.

use std::io::{self, IsTerminal};

use foxtrot::job::Answer;
use foxtrot_net::{
    hello::{Hello, Role, Table},
    jobs::{hexadecimal, memory_of_ot_sender, message_length, peers_length},
};
use foxtrot_ot::{Misbehaved, extension::one_of_n::protocol::Shape};
use serde_json::{Map, json};
use zeroize::Zeroizing;

use crate::{
    args::{Common, MessagesOut, MostSessions, OneOf, OtCommand},
    failure::Failure,
    files::{Existing, write_secret},
    host::Service,
    keys::Party,
    lines::{Messages, read_choices, read_messages, write_lines},
    link::{Cost, Link, Terms},
    local::both,
    method::{self, one_of as method_of},
    output::{self, Output},
    reach::Way,
    record::Recorder,
    report::{Report, counted, object},
    workers::Workers,
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
            local(&all, chosen, &terms(common, all.len(), one_of, out.hex)?, out, common)
        }
        OtCommand::Send { messages, one_of, hex, serve, most, transport, common } => {
            let way = Way::prepare(transport)?;
            let all = read_messages(messages, one_of.choices, *hex)?;
            let terms = terms(common, all.len(), one_of, *hex)?;
            let workers = Workers::new(common.threads)?;
            if *serve {
                let recorder = Recorder::of_many(transport, None);
                let server = Server { messages: all, terms, workers, recorder };
                return answer_all(server, way, most, common);
            }
            let output = Output::new(common);
            Recorder::of_one(transport, None).keep("ot", "sender", |entry| {
                let link = way.reach(common, sender_hello(&terms, &all), output)?;
                entry.met(&link);
                agreed(&terms, longest(&all), output);
                let cost = send(link, &terms, &workers, &all, output)?;
                let report = Report::of_run(&terms, workers.threads(), cost.of(Role::Sender));
                entry.ran(&report, &cost);
                let what = match one_of.choices {
                    2 => format!("{} pairs of messages", terms.n),
                    n => format!("{} times {n} messages", terms.n),
                };
                output.note(&format!("sent {what}: {}", report.words()));
                report.print(common, Map::new())
            })
        }
        OtCommand::Receive { choices, one_of, out, transport, common } => {
            let way = Way::prepare(transport)?;
            let choices = read_choices(choices, one_of.choices)?;
            let output = Output::new(common);
            let terms = terms(common, choices.len() * one_of.choices, one_of, out.hex)?;
            let workers = Workers::new(common.threads)?;
            Recorder::of_one(transport, None).keep("ot", "receiver", |entry| {
                let link = way.reach(common, terms.hello(Role::Receiver), output)?;
                entry.met(&link);
                agreed(&terms, offered_length(&link)?, output);
                let (messages, cost) = receive(link, &terms, &workers, choices, output)?;
                let report = Report::of_run(&terms, workers.threads(), cost.of(Role::Receiver));
                entry.ran(&report, &cost);
                entry.set("results", messages.len());
                deliver(&messages, &terms, out, common, &report)
            })
        }
    }
}

fn local(
    messages: &Messages,
    choices: Zeroizing<Vec<u64>>,
    terms: &Terms,
    out: &MessagesOut,
    common: &Common,
) -> Result<(), Failure> {
    let output = Output::new(common);
    let workers = Workers::new(common.threads)?;
    let others = workers.for_another();
    agreed(terms, longest(messages), output);
    let (sent, (received, cost)) = both(
        common.timeout,
        |peer| {
            let link = Link::greet(peer, sender_hello(terms, messages))?;
            send(link, terms, &others, messages, Output::in_background())
        },
        |peer| {
            let link = Link::greet(peer, terms.hello(Role::Receiver))?;
            receive(link, terms, &workers, choices, output)
        },
    )?;
    let report = Report::of_run(terms, workers.threads(), [Some(&sent), Some(&cost)]);
    deliver(&received, terms, out, common, &report)
}

/// A server of the same messages for all peers that come.
struct Server {
    messages: Messages,
    terms: Terms,
    workers: Workers,
    recorder: Recorder,
}

impl Service for Server {
    type Agreed = ();
    type Done = Report;

    fn agree(&self, _: &Table) -> Result<((), Answer), Failure> {
        Ok(((), Answer { memory: self.least_memory(), ..Answer::default() }))
    }

    fn least_memory(&self) -> u64 {
        let (terms, longest) = (&self.terms, longest(&self.messages));
        let transfers = [terms.n, terms.choices];
        memory_of_ot_sender(&terms.method, transfers, longest, self.workers.threads())
    }

    fn answer(&self, link: Link, (): ()) -> Result<Report, Failure> {
        self.recorder.keep("ot", "sender", |entry| {
            entry.met(&link);
            let workers = self.workers.for_another();
            let output = Output::in_background();
            let cost = send(link, &self.terms, &workers, &self.messages, output)?;
            let report = Report::of_run(&self.terms, workers.threads(), cost.of(Role::Sender));
            entry.ran(&report, &cost);
            Ok(report)
        })
    }
}

fn answer_all(
    server: Server,
    way: Way<'_>,
    most: &MostSessions,
    common: &Common,
) -> Result<(), Failure> {
    let (hello, output) = (sender_hello(&server.terms, &server.messages), Output::new(common));
    output::stamp();
    way.host(common, hello)?.all_peers(most, server, |number, peer, report: Report| {
        output.note(&format!("session {number} with {peer}: {}", report.words()));
        report.print(common, Map::new())
    })
}

/// Makes the terms for so many messages in all.
fn terms(common: &Common, messages: usize, one_of: &OneOf, hex: bool) -> Result<Terms, Failure> {
    let (choices, n) = (one_of.choices, messages / one_of.choices);
    let method = method_of(common, choices, n)?;
    Ok(Terms { job: "ot", method, n, choices, hex: Some(hex) })
}

fn longest(messages: &Messages) -> usize {
    messages.iter().map(|message| message.len()).max().unwrap_or(0)
}

fn sender_hello(terms: &Terms, messages: &Messages) -> Hello {
    message_length(terms.hello(Role::Sender), longest(messages))
}

/// Returns the hellos of both sides of a run with two messages, the sender's first.
#[cfg(feature = "fuzzing")]
pub(crate) fn hellos(common: &Common) -> Result<[Hello; 2], Failure> {
    let messages = [b"one".to_vec(), b"another".to_vec()].map(Zeroizing::new).to_vec();
    let terms = terms(common, messages.len(), &OneOf { choices: 2 }, false)?;
    Ok([sender_hello(&terms, &messages), terms.hello(Role::Receiver)])
}

/// The length to which the sender says it pads, if that is one.
pub(crate) fn offered_length(link: &Link) -> Result<usize, Failure> {
    Ok(peers_length(&link.agreed.peer_details)?)
}

fn agreed(terms: &Terms, message_len: usize, output: Output) {
    let (transfers, method) = (counted(terms.n, "transfer"), method::words(&terms.method));
    let one_of = match terms.choices {
        2 => String::new(),
        choices => format!("one of {choices} messages "),
    };
    output.note(&format!("agreed: {transfers} of {one_of}up to {message_len} bytes, {method}"));
}

fn send(
    link: Link,
    terms: &Terms,
    workers: &Workers,
    messages: &Messages,
    output: Output,
) -> Result<Cost, Failure> {
    let ((), cost) = link.run(workers, |job| {
        let party = Party { job: &job, method: terms.method, workers, output };
        let shape = Shape { n: terms.n, choices: terms.choices };
        party.send_messages(shape, longest(messages), messages)?;
        Ok(job.finish()?)
    })?;
    Ok(cost)
}

fn receive(
    link: Link,
    terms: &Terms,
    workers: &Workers,
    choices: Zeroizing<Vec<u64>>,
    output: Output,
) -> Result<(Messages, Cost), Failure> {
    let length = offered_length(&link)?;
    let (sealed, cost) = link.run(workers, |job| {
        let party = Party { job: &job, method: terms.method, workers, output };
        let sealed = party.receive_messages(terms.choices, length, choices)?;
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

/// Writes the messages where they are wanted, and says what happened.
fn deliver(
    messages: &Messages,
    terms: &Terms,
    out: &MessagesOut,
    common: &Common,
    report: &Report,
) -> Result<(), Failure> {
    if !out.hex {
        check_lines(messages)?;
    }
    if let Some(path) = out.file() {
        let mut lines = Zeroizing::new(Vec::new());
        write_lines(messages, out.hex, &mut *lines).map_err(|e| Failure::writing(path, &e))?;
        write_secret(Existing::Replaced, path, &lines)?;
    } else if !common.json {
        let mut stdout = io::stdout().lock();
        let written = if stdout.is_terminal() && !out.hex {
            write_lines(&harmless(messages), false, &mut stdout)
        } else {
            write_lines(messages, out.hex, &mut stdout)
        };
        written.map_err(|e| Failure::stdout(&e))?;
    }
    let parties = if report.parties == "both" { " (both parties in this process)" } else { "" };
    Output::new(common).note(&format!(
        "received {} of {} messages: {}{parties}",
        messages.len(),
        terms.choices * messages.len(),
        report.words()
    ));
    let result = match out.file() {
        Some(path) => json!({ "files": [path.display().to_string()] }),
        None => in_json(messages, out.hex),
    };
    report.print(common, object(result))
}

/// Checks text for line breaks: a message with one would pass for two. No input file has one: the
/// peer made it.
fn check_lines(messages: &Messages) -> Result<(), Failure> {
    if messages.iter().any(|message| message.contains(&b'\n') || message.ends_with(b"\r")) {
        return Err(Failure::peer("a message from the peer has a line break in it")
            .hint("--hex, on both sides, takes any bytes"));
    }
    Ok(())
}

/// Escapes the peer's messages for a terminal, which they could steer.
fn harmless(messages: &Messages) -> Messages {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    let escape = |text: &[u8]| String::from_utf8_lossy(text).chars().map(shown).collect::<String>();
    messages.iter().map(|message| Zeroizing::new(escape(message).into_bytes())).collect()
}

/// The messages, all as text or all in hexadecimal, and which.
fn in_json(messages: &Messages, hex: bool) -> serde_json::Value {
    let texts: Option<Vec<_>> = messages.iter().map(|m| std::str::from_utf8(m).ok()).collect();
    match texts.filter(|_| !hex) {
        Some(texts) => json!({ "encoding": "text", "messages": texts }),
        None => {
            let all: Vec<_> = messages.iter().map(|message| hexadecimal(message)).collect();
            json!({ "encoding": "hex", "messages": all })
        }
    }
}
