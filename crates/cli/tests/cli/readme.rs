//! The README's transcript, run as written.

use super::support::{foxtrot, root, without_times};

/// The commands of the `console` blocks with the lines that follow each.
fn transcript(readme: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let (true, Some(command)) = (inside, line.strip_prefix("$ ")) {
            commands.push((command.to_owned(), String::new()));
        } else if let (true, Some((_, output))) = (inside, commands.last_mut()) {
            output.push_str(line);
            output.push('\n');
        }
    }
    commands
}

/// Standard error goes to the same place as standard output, as on a terminal.
fn run(arguments: &[&str]) -> String {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child =
        foxtrot(arguments).stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
    let mut output = String::new();
    std::io::Read::read_to_string(&mut reader, &mut output).unwrap();
    assert!(child.wait().unwrap().success(), "{output}");
    output
}

#[test]
fn the_readmes_transcript_matches_its_commands() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let commands = transcript(&readme);
    assert!(!commands.is_empty());
    for (command, expected) in commands {
        let arguments = command.strip_prefix("cargo run --release -- ").unwrap();
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        assert_eq!(without_times(&run(&arguments)), without_times(&expected), "{command}");
    }
}

#[test]
fn the_readme_shows_the_transcript_early_and_ends_soon() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let first = readme.lines().position(|line| line == "```console").unwrap();
    assert!(first < 20 && readme.lines().count() <= 150);
}
