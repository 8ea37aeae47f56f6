//! A short run of the example `soak`.

#[path = "../examples/soak/client.rs"]
mod client;
#[path = "../examples/soak/load.rs"]
mod load;
#[path = "../examples/soak/server.rs"]
mod server;

#[test]
fn a_server_under_load_answers_every_session_and_does_not_grow() {
    for tls in [false, true] {
        let report = load::run(env!("CARGO_BIN_EXE_foxtrot").as_ref(), 200, 50, tls);
        let report = report.expect("the server starts");
        println!("{report}");
        assert!(report.passed(), "{report}");
    }
}
