//! Tests of the command's output and exit status: `cmd/*.trycmd`.

#[test]
fn commands_print_and_end_as_written() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").env("FOXTROT_BACKEND", "portable");
}
