//! The options of `--websocket`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::heading;

/// The browsers that may begin a session.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::CONNECTION)]
pub(crate) struct Browsers {
    /// Also serve the page that opens a file and runs `psi receive` in the browser
    #[arg(long, requires = "websocket")]
    pub(crate) page: bool,
    /// Accept pages of this origin, for example https://psi.example.org. Repeat for several; with --page, pages of
    /// ADDR are accepted
    #[arg(long, value_name = "ORIGIN", requires = "websocket", value_parser = origin)]
    pub(crate) allow_origin: Vec<String>,
    /// File with the token that browsers need, readable by its owner only; or with lines NAME TOKEN, one for each
    /// peer [default: a new token, which is printed]
    #[arg(long, help_heading = heading::SECURITY, value_name = "FILE", requires = "websocket")]
    pub(crate) tokens: Option<PathBuf>,
}

/// Parses an origin: scheme, host and perhaps a port, as a browser names it.
fn origin(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.:[]".contains(c);
    match rest {
        Some(rest) if !rest.is_empty() && rest.chars().all(host) => Ok(text.into()),
        _ => Err("must be https:// and a host in lower case, without a path".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_a_scheme_and_a_host_and_no_path() {
        for good in ["https://psi.example.org", "http://localhost:8080", "http://[::1]:80"] {
            assert_eq!(origin(good).as_deref(), Ok(good));
        }
        for wrong in ["", "*", "psi.example.org", "https://", "https://a/", "https://A", "ws://a"] {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }
}
