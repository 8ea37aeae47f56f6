//! `foxtrot rot`: random OTs to files.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use foxtrot_net::hello::Role;
use foxtrot_ot::base::{BaseOt, Block, Functionality};
use zeroize::Zeroizing;

use crate::{
    args::{Common, Format, KeysOut, RotCommand, Transport},
    failure::Failure,
    files::{try_places, write_files},
    keys::{self, Pairs, Received},
    link::{Cost, Link, Terms, Timer},
    local::both,
    output::Output,
    reach::reach,
    report::{Report, counted},
};

/// A file's name and content.
type Files = Vec<(PathBuf, Zeroizing<Vec<u8>>)>;

pub(crate) fn run(command: &RotCommand) -> Result<(), Failure> {
    match command {
        RotCommand::Local { out, common } => local(out, common),
        RotCommand::Send { out, transport, common } => {
            try_places(&sender_places(&out.output))?;
            let (base, link) = open(out, transport, common, Role::Sender)?;
            let (keys, cost) = send(link, base, count(out)?, Output::new(common))?;
            let report = Report::of_run(name(base), base.info(), keys.len(), Some(&cost), None);
            deliver(sender_files(&out.output, &keys, out.format), common, &report)
        }
        RotCommand::Receive { out, transport, common } => {
            try_places(&receiver_places(&out.output))?;
            let (base, link) = open(out, transport, common, Role::Receiver)?;
            let (received, cost) = receive(link, base, count(out)?, Output::new(common))?;
            let n = received.keys.len();
            let report = Report::of_run(name(base), base.info(), n, None, Some(&cost));
            deliver(receiver_files(&out.output, &received, out.format), common, &report)
        }
    }
}

fn local(out: &KeysOut, common: &Common) -> Result<(), Failure> {
    let (base, terms) = terms(out, common)?;
    let prefixes = ["sender", "receiver"].map(|party| suffixed(&out.output, party));
    try_places(&[sender_places(&prefixes[0]), receiver_places(&prefixes[1])].concat())?;
    let output = Output::new(common);
    agreed(&terms, output);
    let ((keys, sent), (received, cost)) = both(
        common.timeout(),
        |opened| {
            let link = Link::greet(opened, true, &terms.hello(Role::Sender))?;
            send(link, base, terms.n, Output::in_background())
        },
        |opened| {
            let link = Link::greet(opened, false, &terms.hello(Role::Receiver))?;
            receive(link, base, terms.n, output)
        },
    )?;
    let report = Report::of_run(name(base), base.info(), terms.n, Some(&sent), Some(&cost));
    let mut files = sender_files(&prefixes[0], &keys, out.format);
    files.extend(receiver_files(&prefixes[1], &received, out.format));
    deliver(files, common, &report)
}

fn open(
    out: &KeysOut,
    transport: &Transport,
    common: &Common,
    role: Role,
) -> Result<(&'static dyn BaseOt, Link), Failure> {
    let (base, terms) = terms(out, common)?;
    let link = reach(transport, common, terms.hello(role), Output::new(common))?;
    agreed(&terms, Output::new(common));
    Ok((base, link))
}

fn terms(out: &KeysOut, common: &Common) -> Result<(&'static dyn BaseOt, Terms), Failure> {
    let base = keys::base_of(&common.base, Functionality::Random)?;
    let (n, extension) = (count(out)?, common.extension.name());
    Ok((base, Terms { job: "rot", base: base.info(), extension, n, hex: None }))
}

/// The number of transfers, if their keys find room in memory.
fn count(out: &KeysOut) -> Result<usize, Failure> {
    if out.output.as_os_str().as_encoded_bytes().ends_with(b"/") {
        let why = format!("{} is no beginning of a file's name", out.output.display());
        return Err(Failure::usage(why));
    }
    let n = usize::try_from(out.n).unwrap_or(usize::MAX);
    match Vec::<[Block; 2]>::new().try_reserve_exact(n) {
        Ok(()) => Ok(n),
        Err(_) => Err(Failure::run(format!("no room in memory for the keys of {n} transfers"))),
    }
}

fn name(base: &dyn BaseOt) -> String {
    format!("rot/{}", base.info().name)
}

fn agreed(terms: &Terms, output: Output) {
    let Terms { base, n, .. } = terms;
    output.note(&format!(
        "agreed: {}, base OT {}, {} security",
        counted(*n, "transfer of random keys"),
        base.name,
        base.adversary
    ));
}

fn send(link: Link, base: &dyn BaseOt, n: usize, output: Output) -> Result<(Pairs, Cost), Failure> {
    let timer = Timer::start();
    let keys = keys::send(&link, base, n, &output.progress(n))?;
    Ok((keys, link.close(&timer)?))
}

fn receive(
    link: Link,
    base: &dyn BaseOt,
    n: usize,
    output: Output,
) -> Result<(Received, Cost), Failure> {
    let timer = Timer::start();
    let received = keys::receive_random(&link, base, n, &output.progress(n))?;
    Ok((received, link.close(&timer)?))
}

fn sender_places(prefix: &Path) -> Vec<PathBuf> {
    vec![suffixed(prefix, "keys")]
}

fn receiver_places(prefix: &Path) -> Vec<PathBuf> {
    ["keys", "choices"].map(|suffix| suffixed(prefix, suffix)).into()
}

fn sender_files(prefix: &Path, keys: &[[Block; 2]], format: Format) -> Files {
    let content = formatted(keys.as_flattened().as_flattened(), &[keys.len(), 2, 16], format);
    sender_places(prefix).into_iter().zip([content]).collect()
}

fn receiver_files(prefix: &Path, received: &Received, format: Format) -> Files {
    let Received { choices, keys } = received;
    let contents = [
        formatted(keys.as_flattened(), &[keys.len(), 16], format),
        formatted(choices, &[choices.len()], format),
    ];
    receiver_places(prefix).into_iter().zip(contents).collect()
}

/// The name with `.suffix` appended, whatever it looks like.
fn suffixed(prefix: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(prefix);
    name.push(".");
    name.push(suffix);
    name.into()
}

/// The file's content: the bytes, for NumPy with a header (format version 1.0) before them.
fn formatted(bytes: &[u8], shape: &[usize], format: Format) -> Zeroizing<Vec<u8>> {
    let mut content = Zeroizing::new(Vec::with_capacity(128 + bytes.len()));
    if format == Format::Npy {
        let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
        let mut header =
            format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}");
        // Ten bytes before the header; it ends with a newline on a multiple of 64.
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
        header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
        header.push('\n');
        content.extend_from_slice(b"\x93NUMPY\x01\x00");
        content.extend_from_slice(&u16::try_from(padded).unwrap_or(u16::MAX).to_le_bytes());
        content.extend_from_slice(header.as_bytes());
    }
    content.extend_from_slice(bytes);
    content
}

fn deliver(files: Files, common: &Common, report: &Report) -> Result<(), Failure> {
    use std::io::Write;
    let contents: Vec<_> =
        files.iter().map(|(path, content)| (path.clone(), content.as_slice())).collect();
    write_files(&contents)?;
    let names: Vec<_> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    let output = Output::new(common);
    output.note(&format!("wrote {}: {}", names.join(", "), report.words()));
    if common.json {
        let mut object = report.json();
        object.insert("files".into(), names.into());
        writeln!(std::io::stdout().lock(), "{}", serde_json::Value::Object(object))
            .map_err(|e| Failure::stdout(&e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numpy_files_begin_with_a_padded_header() {
        let file = formatted(&[1; 32], &[1, 2, 16], Format::Npy);
        assert_eq!(&file[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(file.len(), 128 + 32);
        let header = std::str::from_utf8(&file[10..128]).unwrap();
        assert!(
            header.starts_with("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 16, ), }")
        );
        assert!(header.ends_with(" \n"));
    }

    #[test]
    fn a_suffix_is_appended_to_any_prefix() {
        assert_eq!(suffixed(Path::new("a/b.c"), "keys"), Path::new("a/b.c.keys"));
    }
}
