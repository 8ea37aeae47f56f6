//! The question whether a run goes on, where somebody sits at a terminal and knows now what was agreed.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use crate::{failure::Failure, output::Output};

/// Asks on the terminal, unless there is none or the user wants no questions.
pub(crate) fn confirm(yes: bool, output: Output, timeout: Duration) -> Result<(), Failure> {
    let somebody = io::stdin().is_terminal() && io::stderr().is_terminal();
    if yes || output.quiet || !somebody {
        return Ok(());
    }
    let seconds = timeout.as_secs();
    let _ = write!(
        io::stderr(),
        "foxtrot: go on? [y/N] (the peer waits, up to {seconds} s by default) "
    );
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(|e| Failure::run(format!("no answer: {e}")))?;
    match agrees(&answer) {
        true => Ok(()),
        false => Err(Failure::run("stopped before anything about the keys was sent")),
    }
}

fn agrees(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        assert!(["y\n", "Y", " yes \n"].iter().all(|it| agrees(it)));
        assert!(["", "\n", "n\n", "yess\n", "no", "j\n"].iter().all(|it| !agrees(it)));
    }
}
