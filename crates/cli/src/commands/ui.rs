//! `manyworlds ui`: opens the page of a server in the browser.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Result;

use super::serve::{page, serve};
use crate::ExitCode;
use crate::args::UiArgs;
use crate::output::{note, print};
use crate::settings::Setting;

/// Time for a server to answer.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn ui(args: &UiArgs, settings: &[Setting]) -> Result<ExitCode> {
    let listen = args.serve.listen;
    if args.serve.tls_cert.is_none() && listen.port() != 0 && is_served(listen) {
        note(&format!("a server listens on {listen} already: the page shows its data folder"));
        show(args, &page(&args.serve, listen))?;
        return Ok(ExitCode::SUCCESS);
    }
    let opened = |address: &str| {
        if let Err(error) = show(args, address) {
            note(&format!("cannot print the address: {error:#}"));
        }
    };
    serve(&args.serve, settings, &opened).await
}

/// Whether a server of this program answers on an address.
fn is_served(address: SocketAddr) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&reachable(address), PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut reply = Vec::new();
        stream.take(4096).read_to_end(&mut reply)?;
        std::io::Result::Ok(String::from_utf8_lossy(&reply).contains(r#""name":"manyworlds""#))
    };
    ask().unwrap_or(false)
}

/// An address to connect to: a server on all addresses is on loopback, too.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => ([127, 0, 0, 1], v4.port()).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => ([0, 0, 0, 0, 0, 0, 0, 1], v6.port()).into(),
        address => address,
    }
}

/// Prints the address, and opens it unless told otherwise.
fn show(args: &UiArgs, address: &str) -> Result<()> {
    print(&format!("{address}\n"))?;
    if args.no_open {
        return Ok(());
    }
    let words = browser(std::env::var("BROWSER").ok().as_deref(), address);
    let (program, arguments) = words.split_first().map_or((OsString::new(), &[][..]), |(p, rest)| (p.clone(), rest));
    let mut command = Command::new(&program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // Some browsers run as long as their window is open.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => {
            note(&format!("cannot start {}: {error}; open the address in a browser", program.to_string_lossy()));
        }
    }
    Ok(())
}

/// The command that opens an address: the first of `given`, a list separated by colons in which `%s` stands for the
/// address, or the system's own.
fn browser(given: Option<&str>, address: &str) -> Vec<OsString> {
    let system = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let first = given.and_then(|list| list.split(':').find(|command| !command.trim().is_empty())).unwrap_or(system);
    let words = first.split_whitespace().map(|word| word.replace("%s", address));
    let named = if first.contains("%s") { None } else { Some(address.to_owned()) };
    words.chain(named).map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_commands_with_an_address() {
        let words =
            |given| browser(given, "http://a/").into_iter().map(|w| w.into_string().unwrap()).collect::<Vec<_>>();
        assert_eq!(words(Some("firefox --new-window:lynx")), ["firefox", "--new-window", "http://a/"]);
        assert_eq!(words(Some(":w3m -o x=%s y")), ["w3m", "-o", "x=http://a/", "y"]);
        assert_eq!(words(None)[1..], ["http://a/"]);
        assert_eq!(words(Some(" ")), words(None));
    }

    #[test]
    fn servers_on_all_addresses_are_reached_on_loopback() {
        for (listen, expected) in
            [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("10.1.2.3:80", "10.1.2.3:80")]
        {
            assert_eq!(reachable(listen.parse().unwrap()), expected.parse().unwrap());
        }
    }
}
