//! `foxtrot ot`: messages of the sender's choice, one of each pair, or of as many as agreed.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use foxtrot::{
    job::{Role, Table},
    ot::{
        MAX_MESSAGE,
        terms::{OtAgreement, OtTerms},
    },
};
use foxtrot_net::{escaped, hello::hexadecimal};
use foxtrot_ot::Misbehaved;
use serde_json::{Map, json};
use zeroize::Zeroizing;

use crate::{
    args::{Common, MessagesOut, MostSessions, OneOf, OtCommand, file},
    failure::Failure,
    files::{Existing, write_secret},
    lines::{Messages, Received, read_choices, read_messages, write_lines},
    link::{Cost, Link},
    local::both,
    method::{self, one_of as method_of},
    output,
    reach::Way,
    record::{Entry, Recorder},
    report::{Report, counted, object},
    transfers::Transfers,
};

/// One party: its transfers, and the terms on which both sides have to agree.
struct OtParty {
    transfers: Transfers,
    terms: OtTerms,
}

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
            let ours = OtParty::receiver(common, chosen.len(), one_of, out.hex)?;
            local(&all, chosen, &ours, out, common)
        }
        OtCommand::Send { messages, one_of, hex, serve, most, transport, common } => {
            let way = Way::prepare(transport, None)?;
            let all = read_messages(messages, one_of.choices, *hex)?;
            let party = OtParty::receiver(common, all.len() / one_of.choices, one_of, *hex)?;
            let party = party.sending(&all);
            if *serve {
                let recorder = Recorder::of_many(transport, None);
                return answer_all((all, party), recorder, way, most, common);
            }
            Recorder::of_one(transport, None).keep("ot", Role::Sender, |entry| {
                let (link, agreed) = party.meet(way, common, entry)?;
                let cost = party.send(link, &agreed, &all)?;
                let report = party.transfers.report(cost.of(Role::Sender));
                entry.ran(&report, &cost);
                let what = match one_of.choices {
                    2 => format!("{} pairs of messages", party.terms.n),
                    n => format!("{} times {n} messages", party.terms.n),
                };
                let output = party.transfers.output;
                output.note(&format!("sent {what}: {}", report.words_of("OT")));
                report.print(output, Map::new())
            })
        }
        OtCommand::Receive { choices, one_of, out, transport, common } => {
            let way = Way::prepare(transport, None)?;
            let choices = read_choices(choices, one_of.choices)?;
            let party = OtParty::receiver(common, choices.len(), one_of, out.hex)?;
            Recorder::of_one(transport, None).keep("ot", Role::Receiver, |entry| {
                let (link, agreed) = party.meet(way, common, entry)?;
                let (messages, cost) = party.receive(link, &agreed, choices)?;
                let report = party.transfers.report(cost.of(Role::Receiver));
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
    ours: &OtParty,
    out: &MessagesOut,
    common: &Common,
) -> Result<(), Failure> {
    let sender = ours.for_another().sending(messages);
    let (sent, (received, cost)) = both(
        common.timeout,
        [sender.terms.hello()?, ours.terms.hello()?],
        |link| sender.send(link, &sender.agree(&Table::new())?, messages),
        |link| {
            let agreed = ours.agree(&link.agreed.peer_details)?;
            ours.tell(&agreed);
            ours.receive(link, &agreed, choices)
        },
    )?;
    let report = ours.transfers.report([Some(&sent), Some(&cost)]);
    deliver(&received, ours, out, &report)
}

fn answer_all(
    (messages, party): (Messages, OtParty),
    recorder: Recorder,
    way: Way<'_>,
    most: &MostSessions,
    common: &Common,
) -> Result<(), Failure> {
    let (output, terms) = (party.transfers.output, party.terms);
    let threads = party.transfers.workers.threads();
    let agree = move |details: &Table| {
        let agreed = terms.agree(details)?;
        Ok((agreed, agreed.answer(threads)))
    };
    // No peer's details change what a session takes.
    let memory = agree(&Table::new())?.1.memory;
    let host = way.host(common, terms.hello()?, &recorder)?;
    let begin = move |_: &OtAgreement| recorder.begin("ot", Role::Sender);
    let answer = move |link: Link, agreed: OtAgreement, entry: &mut Entry| {
        let party = party.for_another();
        let cost = party.send(link, &agreed, &messages)?;
        let report = party.transfers.report(cost.of(Role::Sender));
        entry.ran(&report, &cost);
        Ok(report)
    };
    output::stamp();
    host.all_peers(most, memory, agree, begin, answer, |number, peer, report| {
        output.note(&format!("session {number} with {peer}: {}", report.words_of("OT")));
        report.print(output, Map::new())
    })
}

impl OtParty {
    fn receiver(common: &Common, n: usize, one_of: &OneOf, hex: bool) -> Result<Self, Failure> {
        let choices = one_of.choices;
        let method = method_of(common, choices, n)?;
        let transfers = Transfers::new(common, "ot", method, n)?;
        let (role, longest) = (Role::Receiver, MAX_MESSAGE);
        Ok(Self { transfers, terms: OtTerms { role, method, n, choices, hex, longest } })
    }

    /// The sender of these messages.
    fn sending(self, messages: &Messages) -> Self {
        let (role, longest) = (Role::Sender, messages.longest());
        Self { terms: OtTerms { role, longest, ..self.terms }, ..self }
    }

    fn for_another(&self) -> Self {
        Self { transfers: self.transfers.for_another(), terms: self.terms }
    }

    fn agree(&self, details: &Table) -> Result<OtAgreement, Failure> {
        Ok(self.terms.agree(details)?)
    }

    /// Meets the peer, and agrees with it.
    fn meet(
        &self,
        way: Way<'_>,
        common: &Common,
        entry: &mut Entry,
    ) -> Result<(Link, OtAgreement), Failure> {
        let terms = self.terms;
        let way = way.counting(Arc::new(move |details| {
            terms.agree(details)?;
            Ok(None)
        }));
        let output = self.transfers.output;
        let link = way.reach(common, terms.hello()?, output, entry, |_| Map::new())?;
        let agreed = self.agree(&link.agreed.peer_details)?;
        self.tell(&agreed);
        Ok((link, agreed))
    }

    fn tell(&self, agreed: &OtAgreement) {
        let (OtTerms { method, n, choices, .. }, longest) = (&self.terms, agreed.message_len);
        let (transfers, method) = (counted(*n, "transfer"), method::words(method));
        let one_of = match choices {
            2 => String::new(),
            choices => format!("one of {choices} messages "),
        };
        let words = format!("agreed: {transfers} of {one_of}up to {longest} bytes, {method}");
        self.transfers.output.note(&words);
    }

    fn send(
        &self,
        mut link: Link,
        agreed: &OtAgreement,
        messages: &Messages,
    ) -> Result<Cost, Failure> {
        self.transfers.watch(&mut link, "; sending the messages");
        let message = |i| Ok::<_, Failure>(messages.get(i));
        let ((), cost) = link.run(&self.transfers.workers, |job| agreed.send(job, message))?;
        Ok(cost)
    }

    fn receive(
        &self,
        mut link: Link,
        agreed: &OtAgreement,
        choices: Zeroizing<Vec<u64>>,
    ) -> Result<(Received, Cost), Failure> {
        self.transfers.watch(&mut link, "; receiving the messages");
        let workers = &self.transfers.workers;
        // The connection has ended before anything is opened.
        let (sealed, cost) = link.run(workers, |job| Ok(agreed.receive(job, choices)?))?;
        let opened: Vec<_> = sealed.open().collect();
        let all = opened.into_iter().collect::<Option<_>>();
        let refused = foxtrot_ot::Error::from(Misbehaved::MessageAuthentication);
        Ok((all.ok_or(refused)?, cost))
    }
}

fn deliver(
    messages: &Received,
    party: &OtParty,
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
    } else if !party.transfers.output.json {
        let mut stdout = io::stdout().lock();
        let written = if stdout.is_terminal() && !out.hex {
            write_lines(&harmless(messages), false, &mut stdout)
        } else {
            write_lines(messages, out.hex, &mut stdout)
        };
        written.map_err(|e| Failure::stdout(&e))?;
    }
    let parties = if report.parties == "both" { " (both parties in this process)" } else { "" };
    party.transfers.output.note(&format!(
        "received {} of {} messages: {}{parties}",
        messages.len(),
        party.terms.choices * messages.len(),
        report.words_of("OT")
    ));
    let result = match file(&out.output) {
        Some(path) => json!({ "files": [path.display().to_string()] }),
        None => in_json(messages, out.hex),
    };
    report.print(party.transfers.output, object(result))
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
