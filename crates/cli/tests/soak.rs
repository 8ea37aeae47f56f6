//! A short run of the example `soak`.

#[path = "../examples/soak/client.rs"]
mod client;
#[path = "../examples/soak/load.rs"]
mod load;
#[path = "../examples/soak/server.rs"]
mod server;

use client::Job;

fn answers(job: Job, sequential: usize, concurrent: usize) {
    for tls in [false, true] {
        let binary = env!("CARGO_BIN_EXE_foxtrot").as_ref();
        let report = load::run(binary, job, sequential, concurrent, tls);
        let report = report.expect("the server starts");
        println!("{report}");
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn a_server_under_load_answers_every_session_and_does_not_grow() {
    answers(Job::Messages, 200, 50);
}

#[test]
fn a_server_of_sets_under_load_answers_every_session_and_does_not_grow() {
    answers(Job::Sets(500), 50, 50);
}
