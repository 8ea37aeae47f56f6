//! The files of both parties' triples, of which the fuzzer changes anything: `verify` finds every wrong share, and no
//! file has more whole batches than it has bytes for.
#![no_main]

use std::fs;

use foxtrot_cli::fuzzing::read_triples;
use foxtrot_fuzz::{Change, changed};
use foxtrot_triples::formats::Format;
use libfuzzer_sys::fuzz_target;

const COUNT: u64 = 5;

fuzz_target!(|input: (u8, [Vec<Change>; 4])| {
    let (format, changes) = input;
    let format = Format::ALL[usize::from(format) % Format::ALL.len()];
    let folder = tempfile::tempdir().unwrap();
    let mut same = true;
    for party in [0, 1] {
        let json = format!(
            r#"{{"schema":1,"party":{party},"set":"rlwe-64","count":{COUNT},"format":"{format}","run":"{}"}}"#,
            "0".repeat(64)
        );
        // (a₀ + a₁)(b₀ + b₁) = c₀ + c₁.
        let share = |factor: u64| [2 + factor, 3, 10 * (1 + factor)].map(u64::to_le_bytes);
        let records: Vec<u8> = (0..COUNT).flat_map(|_| share(party.into()).concat()).collect();
        let bytes = [format.header(64, COUNT), records].concat();
        let of_party = [&changes[usize::from(party)], &changes[2 + usize::from(party)]];
        for ((name, honest), changes) in
            [(format!("P{party}.json"), json.into_bytes()), (format.path(64, party), bytes)]
                .into_iter()
                .zip(of_party)
        {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let content = changed(&honest, changes);
            same &= content == honest;
            fs::write(path, content).unwrap();
        }
    }
    let (right, batches) = read_triples(folder.path());
    if same {
        assert_eq!(right, Ok(()));
        assert_eq!(batches, [Ok(1), Ok(1)]);
    }
});
