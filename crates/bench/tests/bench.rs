//! `foxtrot-bench` as its users meet it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    env, fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

/// The program with these arguments, to be run in the repository's root.
fn bench(arguments: &[&str]) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_foxtrot-bench"));
    command.args(arguments).current_dir(root).stdin(Stdio::null());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_program_prints_and_ends_as_written() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").env("FOXTROT_BACKEND", "portable");
}

#[test]
fn a_report_has_the_papers_numbers_ours_and_their_ratio_on_a_page_and_in_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let tables = ["simplest", "roted-1", "roted-5", "triples-1"];
    let files = ["--html", &path("report.html"), "--record", &path("record")];
    let run = [&["paper", "--quick"][..], &tables, &files].concat();
    let output = bench(&run).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("simplest-4: base/chou-orlandi n = 1024, memory\n"));
    let text = stdout(&output);
    assert!(text.contains("Simplest OT, Table 4: Random OT by the number of transfers"), "{text}");
    assert!(!text.contains("Triples, Table 2"), "{text}");

    let page = fs::read_to_string(path("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<section id=\"simplest-4\">") && page.contains("<svg "));

    let record = |name: &str| fs::read_to_string(path("record/") + name).unwrap();
    let samples = record("samples.csv");
    let columns = samples.lines().next().unwrap().split(',').count();
    assert!(samples.lines().all(|line| line.split(',').count() == columns));
    let of_128 = samples.lines().filter(|line| line.starts_with("base/chou-orlandi,128,"));
    assert!(of_128.count() >= 3);
    let kernel = |line: &&str| line.starts_with("kernel/table,128,") && line.ends_with(",memory");
    assert!(samples.lines().filter(kernel).count() >= 15);
    if cfg!(target_os = "linux") {
        let line = samples.lines().find(|line| line.starts_with("processes/psi,2048,")).unwrap();
        // …,peak_bytes_sender,peak_bytes_receiver,transport
        let fields: Vec<_> = line.rsplit(',').collect();
        let peaks = [2, 1].map(|i: usize| fields[i].parse::<u64>().unwrap());
        assert!(fields[0] == "tcp" && peaks.iter().all(|peak| *peak > 1 << 20), "{line}");
    }
    let line = record("tables.csv");
    let line = line.lines().find(|line| line.contains("beside this work,512,")).unwrap().to_owned();
    // …,unit,paper,ours,low,high,runs,kind,ratio,model,headline
    let fields: Vec<_> = line.rsplit(',').collect();
    let [paper, ours, ratio] = [8, 7, 2].map(|i: usize| fields[i].parse::<f64>().unwrap());
    assert_eq!(paper, 118.5);
    assert!(fields[3] == "measured" && fields[4].parse::<usize>().unwrap() >= 3, "{line}");
    assert!(ours > 0.0 && (paper / ours / ratio - 1.0).abs() < 1e-9, "{line}");
    assert!(
        record("README.md").contains("--quick")
            && record("README.md").contains("| duration | ")
            && record("yardsticks.csv").contains("x25519_us,")
    );

    // The commit is the program's, wherever it runs.
    let git = |arguments: &[&str]| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let output = Command::new("git").args(["-C", root]).args(arguments).output().ok()?;
        let said = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        output.status.success().then_some(said)
    };
    let of_program = git(&["ls-files", "--error-unmatch", "crates/bench/build.rs"])
        .and_then(|_| git(&["rev-parse", "--short", "HEAD"]))
        .filter(|_| env::var_os("FOXTROT_COMMIT").is_none())
        .unwrap_or_default();
    let line = format!("| commit of the program | {of_program}");
    assert!(record("README.md").contains(&line), "{line}");

    let summary = bench(&["summary", &path("")]).output().unwrap();
    assert_eq!(summary.status.code(), Some(0), "{}", stderr(&summary));
    assert!(stdout(&summary).contains("| Simplest OT | Table 4, "), "{}", stdout(&summary));
}

#[test]
fn a_measurement_may_choose_backend_and_base_ot() {
    let run = |more: &[&str]| -> Value {
        let run = ["run", "psi/symmetric", "-n", "300", "--quick", "--json", "--samples"];
        let output =
            bench(&[&run[..], more].concat()).env("FOXTROT_BACKEND", "portable").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let (usual, other) = (run(&[]), run(&["--base", "roted", "--transport", "tcp"]));
    assert_eq!((&usual["backend"], &other["transport"]), (&"portable".into(), &"tcp".into()));
    assert!(!usual["samples"].as_array().unwrap().is_empty());
    // Whether this machine is like the record's nobody knows here.
    let warning = usual.get("warning").unwrap();
    let warned = warning.as_str().is_some_and(|it| it.starts_with("warning: "));
    assert!(warning.is_null() || warned, "{warning}");
    assert!(other["params"].as_str().unwrap().ends_with("base roted"), "{other}");
    assert_ne!(usual["bytes_sender"], other["bytes_sender"]);
}

#[test]
fn the_steps_of_roted_are_timed_on_every_backend() {
    let mut names = Vec::new();
    for backend in ["portable", "avx2", "avx512", "neon"] {
        let run = ["run", "kernel/module768/", "-n", "19", "--json"];
        let output = bench(&run).env("FOXTROT_BACKEND", backend).output().unwrap();
        if output.status.code() == Some(2) {
            assert!(stderr(&output).contains(backend), "{}", stderr(&output));
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let reports = stdout(&output);
        let reports = reports.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        for report in reports {
            assert_eq!((&report["backend"], &report["n"]), (&backend.into(), &19.into()));
            assert!(report["cpu_ns_per_operation"].as_f64().unwrap() > 0.0, "{report}");
            names.push(report["name"].as_str().unwrap().to_owned());
        }
    }
    assert!(names.len() >= 10 && names.len().is_multiple_of(10), "{names:?}");
    assert!(names.chunks(10).all(|chunk| chunk == &names[..10]), "{names:?}");
}

#[test]
fn both_ways_of_making_triples_run_over_a_link() {
    for (name, bytes) in [("triples/rlwe-8", 2 * 8192), ("triples/rlwe-paper-8", 2 * 8192)] {
        let n = bytes.to_string();
        let run = ["run", name, "-n", &n, "--net", "lan1", "--quick", "--json", "--samples"];
        let output = bench(&run).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let sample = &report["samples"][0];
        let at = |i: usize| sample[i].as_f64().unwrap();
        // Nothing arrives earlier than the link lets it: bytes of the busier direction at 125 MB/s.
        let busier = at(4).max(at(5));
        assert!(at(0) >= busier / 125e6 + 0.25e-3, "{name}: {sample}");
        // The set-up is a part of it, in time and in bytes.
        assert!(at(11) > 0.0 && at(11) <= at(7) && at(13) + at(14) > 0.0, "{name}: {sample}");
    }
}

/// The benchmark fails by itself when the bytes are not the announced ones.
#[test]
fn every_kind_of_triples_is_timed_with_a_last_batch_that_is_not_whole() {
    for kind in ["rlwe-8", "rlwe-lift-8", "gilboa-8", "gilboa-64-k8"] {
        let run = ["run", &format!("triples/{kind}"), "-n", "40000", "--quick", "--json"];
        let output = bench(&run).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{kind}: {}", stderr(&output));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn programs_run_beside_each_other_make_a_record_that_the_summary_cites() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let burn = "i=0; while [ $i -lt $N ]; do i=$((i+1)); done";
    let text = format!(
        "title = 'two loops'\nrounds = 2\nwarm-up = 0\nnotes = ['A note.']\nneeds.THERE = 'a number'\n\
         [[comparison]]\ntable = 'loops'\nwhat = 'a, b'\nunit = 'ns per turn'\nwork = 1e5\nheadline = true\n\
         ours = {{ name = 'one', command = '\"$FOXTROT_BENCH\" list >&2; {burn}', environment = {{ N = '100000' }} }}\n\
         [[comparison.peer]]\nname = 'two'\ncommand = '({burn}) & {burn}'\n\
         environment = {{ N = '100000' }}\n"
    );
    let file = path("loops.toml");
    fs::write(&file, text).unwrap();
    let run = |more: &[&str], there: bool| {
        let mut command = bench(&[&["beside", &file, "--quiet"], more].concat());
        command.env_remove("THERE");
        if there {
            command.env("THERE", "1");
        }
        command.output().unwrap()
    };
    let output = run(&[], false);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("hint: THERE is a number"), "{}", stderr(&output));

    let output = run(&["--json", "--record", &path("records/1")], true);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = stdout(&output);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["cpu_seconds"].as_array().unwrap().len() == 2));
    assert_eq!((&lines[0]["ours"], &lines[1]["program"]), (&true.into(), &"two".into()));
    assert!(lines[1]["median"].as_f64().unwrap() > 0.0, "{}", lines[1]);

    let readme = fs::read_to_string(path("records/1/README.md")).unwrap();
    assert!(readme.contains("* A note.") && readme.contains("    N=100000 \"$FOXTROT_BENCH\""));
    let runs = fs::read_to_string(path("records/1/runs.csv")).unwrap();
    assert_eq!(runs.lines().count(), 5, "{runs}");
    let summary = bench(&["summary", &path("records")]).output().unwrap();
    assert!(stdout(&summary).contains("a, b, two: "), "{}", stdout(&summary));

    let failing = fs::read_to_string(&file).unwrap().replace("list >&2", "list >&2; exit 3");
    fs::write(&file, failing).unwrap();
    let output = run(&["--rounds", "1"], true);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("a, b, one: a process ended with status 3"));
}

#[test]
fn an_unwritable_output_fails_before_measuring() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let under_a_file = file.join("below");
    for option in ["--html", "--record"] {
        let run = ["paper", "simplest-3", "--quick", option];
        let output = bench(&run).arg(&under_a_file).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{option}: {}", stderr(&output));
        assert!(!stderr(&output).contains("kernel/"), "{option}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{option}");
    }
}

#[test]
fn a_benchmark_reports_its_measurement() {
    let settings =
        [&[][..], &["--transport", "tcp"], &["--net", "batching-lan"], &["--threads", "2"]];
    for more in settings {
        let run = ["run", "ext/softspoken-4", "--n", "70000", "--json"];
        let output = bench(&[&run[..], more].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!((&report["name"], &report["n"]), (&"ext/softspoken-4".into(), &70_000.into()));
        let links = ["tcp", "batching-lan"];
        let transport = links.into_iter().find(|link| more.contains(link)).unwrap_or("memory");
        assert_eq!(report["transport"], transport);
        // Base OTs, two batches, one after the other or at once; the last proof.
        let (threads, flows) = if more.contains(&"2") { (2, 4) } else { (1, 6) };
        assert_eq!((&report["threads"], &report["parties"]), (&threads.into(), &"both".into()));
        assert_eq!(report["rounds"], flows);
        for figure in ["cpu_seconds_sender", "cpu_seconds_receiver", "seconds", "aes_block_ns"] {
            assert!(report[figure].as_f64().unwrap() > 0.0, "{figure}");
        }
    }
}
