//! The party on a microcontroller, emulated: builds the firmware of `examples/device`, counts what it takes, and lets it talk with
//! the command over a line, with faults also.

mod image;
mod secrets;

use std::{
    fs,
    io::{self, BufRead, BufReader, ErrorKind, Read, Write},
    net::Shutdown,
    os::unix::{
        fs::OpenOptionsExt,
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use image::Image;

use crate::{
    systems::{self, are_there},
    tools::{self, Failure, Result},
};

/// The key of the line. The example's board has it in its arguments.
const KEY: &str = "6f78af1c10d5e0b2a3948576c7d8e9fa0b1c2d3e4f5061728394a5b6c7d8e9f0";

/// Options of `device`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print the tables only, and put those of the flash into docs/how-to/device.md
    #[arg(long)]
    table: bool,
    /// Compare only what it does with different secrets
    #[arg(long, conflicts_with = "table")]
    secrets: bool,
}

/// A machine of QEMU.
struct Machine {
    name: &'static str,
    target: &'static str,
    emulator: &'static str,
    options: &'static str,
    /// The goal for the instructions of both roles of `roted` for one transfer.
    most_instructions: u32,
    /// The goal for the RAM of a session with one transfer, in bytes.
    most_memory: u32,
    /// The goal for the flash of an image with one job, in bytes.
    most_flash: u32,
}

const MACHINES: [Machine; 2] = [
    Machine {
        name: "Cortex-M4",
        target: "thumbv7em-none-eabihf",
        emulator: "qemu-system-arm",
        options: "-M mps2-an386",
        most_instructions: 1_500_000,
        most_memory: 16 << 10,
        most_flash: 64 << 10,
    },
    Machine {
        name: "RISC-V",
        target: "riscv32imac-unknown-none-elf",
        emulator: "qemu-system-riscv32",
        options: "-M virt -bios none",
        most_instructions: 3_000_000,
        most_memory: 17 << 10,
        most_flash: 80 << 10,
    },
];

/// Images of the party: the jobs, and the features that choose them. The last is the one that is run.
const IMAGES: [(&str, &str); 6] = [
    ("`ReceiveMessages`", "receive-messages"),
    ("`SendMessages`", "send-messages"),
    ("`ReceiveRandom`", "receive-random"),
    ("`SendRandom`", "send-random"),
    ("both random jobs", "receive-random,send-random"),
    ("all four", "default"),
];

/// The page that has the tables of the flash, and where.
const PAGE: &str = "docs/how-to/device.md";
const MARKERS: [&str; 2] = ["<!-- flash -->", "<!-- end of flash -->"];

/// Rows of a table: names and bytes.
type Rows = Vec<(&'static str, u32)>;

/// Builds and runs what can be run here.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let mut ran = Vec::new();
    for machine in &MACHINES {
        match are_there(&[machine.emulator], machine.target) {
            Err(Failure::NotHere(why)) => {
                println!("skipped {}: {why}", machine.name);
                continue;
            }
            result => result?,
        }
        let rows = machine.build()?;
        ran.push((machine.name, rows));
        if !arguments.table {
            machine.secrets()?;
        }
        if arguments.secrets {
            continue;
        }
        machine.table()?;
        if !arguments.table {
            machine.talk()?;
        }
    }
    if !arguments.secrets {
        let text = flash(&ran);
        println!("{text}");
        match arguments.table {
            false => laws()?,
            true if ran.len() == MACHINES.len() => splice(&text)?,
            true => println!("{PAGE} stays as it is: it has all machines"),
        }
    }
    tools::needs(!ran.is_empty(), "neither QEMU's machines nor the targets are here")
}

/// The tables of the flash: images, and owners in the one with all jobs.
fn flash(machines: &[(&str, [Rows; 2])]) -> String {
    let mut text = String::new();
    for (k, head) in ["jobs of the image", "owner, in the image with all four"].iter().enumerate() {
        let names: String = machines.iter().map(|it| format!(" {}, bytes |", it.0)).collect();
        text += &format!("\n| {head} |{names}\n|---|{}\n", "---|".repeat(machines.len()));
        for row in 0..machines.first().map_or(0, |it| it.1[k].len()) {
            let sizes: String =
                machines.iter().map(|it| format!(" {} |", it.1[k][row].1)).collect();
            text += &format!("| {} |{sizes}\n", machines[0].1[k][row].0);
        }
    }
    text
}

/// Puts the tables of the flash into the page.
fn splice(text: &str) -> Result {
    let page = tools::read(PAGE)?;
    let [begin, end] = MARKERS;
    let parts = page.split_once(begin).and_then(|it| Some((it.0, it.1.split_once(end)?.1)));
    let Some((before, after)) = parts else {
        return tools::failed(format_args!("{PAGE} does not have {MARKERS:?}"));
    };
    let page = format!("{before}{begin}\n{text}\n{end}{after}");
    fs::write(tools::root().join(PAGE), page)
        .or_else(|e| tools::failed(format_args!("{PAGE}: {e}")))
}

/// Tests the ring's kernels, those with packed lanes also, on an emulated ARM of 32 bits with an operating system.
fn laws() -> Result {
    match systems::test("armv7", &["--package foxtrot-kernel --lib ring::"]) {
        Err(Failure::NotHere(why)) => {
            println!("skipped the laws of the kernels on 32-bit ARM: {why}");
            Ok(())
        }
        result => result,
    }
}

impl Machine {
    /// Builds all images; returns the flash of those of the party, and of the last the flash by owner.
    fn build(&self) -> Result<[Rows; 2]> {
        self.cargo("--bins")?;
        let (mut images, mut owners) = (Vec::new(), Vec::new());
        for (jobs, features) in IMAGES {
            self.cargo(&format!("--bin party --no-default-features --features {features}"))?;
            let party = Image::read(&self.image("party"))?;
            let size = party.flash();
            let is_one = jobs.starts_with('`');
            if is_one && size > self.most_flash {
                let most = self.most_flash;
                return tools::failed(format_args!("{jobs}: {size} bytes of flash, not {most}"));
            }
            images.push((jobs, size));
            owners = party.flash_by_owner();
        }
        Ok([images, owners])
    }

    fn cargo(&self, what: &str) -> Result {
        let build = format!("build --quiet --locked --release --target {} {what}", self.target);
        let mut build = tools::cargo(&build);
        tools::run(build.arg("--target-dir").arg(tools::target()).current_dir(folder()))
    }

    fn image(&self, name: &str) -> PathBuf {
        tools::target().join(self.target).join("release").join(name)
    }

    /// The emulator with an image and its arguments.
    fn emulator(&self, image: &str, arguments: &str) -> Command {
        let mut command = tools::command(self.emulator, self.options);
        let mut semihosting = "enable=on,target=native,arg=foxtrot".to_owned();
        for argument in arguments.split_whitespace() {
            semihosting += &format!(",arg={argument}");
        }
        command.args(["-display", "none", "-monitor", "none", "-semihosting-config", &semihosting]);
        command.arg("-kernel").arg(self.image(image));
        command
    }

    /// Prints the costs of both roles in memory, as a table.
    fn table(&self) -> Result {
        let mut measure = self.emulator("measure", "");
        // Semihosting writes to the emulator's standard error.
        let said = tools::output(measure.args(["-icount", "shift=0", "-serial", "none"]))?;
        if !said.status.success() {
            return tools::failed(format_args!("{measure:?}: {}", said.status));
        }
        println!("\n{}: instructions, bytes of RAM and of messages sent\n", self.name);
        println!("| protocol | role | n | instructions | stack | heap | sent |");
        println!("|---|---|---|---|---|---|---|");
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        let (mut rows, mut single) = (0, 0);
        for line in said.lines().filter(|line| !line.starts_with('#')) {
            let [protocol, role, n, instructions, _, stack, heap, sent] =
                line.split(',').collect::<Vec<_>>()[..]
            else {
                return tools::failed(format_args!("the image says {line:?}"));
            };
            println!(
                "| `{protocol}` | {role} | {n} | {instructions} | {stack} | {heap} | {sent} |"
            );
            rows += 1;
            if (protocol, n) == ("roted", "1") {
                let Ok(number) = instructions.parse::<u32>() else {
                    return tools::failed(format_args!("the image says {line:?}"));
                };
                single += number;
            }
        }
        let most = self.most_instructions;
        if single > most {
            return tools::failed(format_args!("`roted`: {single} instructions, not {most}"));
        }
        if rows == 8 { Ok(()) } else { tools::failed(format_args!("{rows} rows, not 8")) }
    }

    /// Sessions between the emulated device and the command, without and with faults.
    fn talk(&self) -> Result {
        let line = Line::new()?;
        line.prepare()?;
        let pair = "quote for 30 days\nquote for 90 days\n";
        line.write("messages", pair)?;
        line.write("choices", "1\n")?;

        println!("\n{}: the device and the command over a line", self.name);
        // Messages, both ways.
        let (host, device) = self.session(&line, "receive 1", "ot send", "messages")?;
        said(&host, "")?;
        // The example's choices are 0, 1, 1, 0 …
        has(&device, "quote for 30 days")?;
        let (host, _) = self.session(&line, "send 1", "ot receive", "choices")?;
        said(&host, "message 1 of pair 0\n")?;
        // Random OTs, both ways.
        let host = "rot receive -n 1 --force --output";
        let device = self.session(&line, "send-random 1", host, "r")?.1;
        let pair = device.lines().find(|it| it.len() == 65).unwrap_or_default();
        let choice = line.read("r.choices")?;
        agrees(pair, &format!("{} {}", choice[0] & 1, hex(&line.read("r.keys")?)))?;
        let host = "rot send -n 1 --force --output";
        let device = self.session(&line, "receive-random 1", host, "s")?.1;
        let chosen = device.lines().find(|it| it.len() == 34).unwrap_or_default();
        let keys = line.read("s.keys")?;
        let (zero, one) = keys.split_at(keys.len() / 2);
        agrees(&format!("{} {}", hex(zero), hex(one)), chosen)?;
        for &fault in &FAULTS {
            self.survives(&line, fault)?;
        }
        println!("{}: every session and every fault ended as it should", self.name);
        Ok(())
    }

    /// Runs the image's job against the command; returns what the host wrote, and the device's console.
    fn session(&self, line: &Line, job: &str, host: &str, file: &str) -> Result<(Output, String)> {
        let mut device = self.start(line, &format!("{job} {KEY} 1 5000"))?;
        // Open until the device has ended: the emulator drops bytes at the end of its socket.
        let link = line.connect()?;
        line.relay(&link, None)?;
        let host = line.host(host, file, "10")?;
        let console = ended(&mut device, Duration::from_secs(20))?;
        if !host.status.success() {
            print!("{}", String::from_utf8_lossy(&host.stderr));
            return tools::failed(format_args!("the host failed; the device said {console:?}"));
        }
        has(&console, "done")?;
        if let Some(costs) = console.lines().find_map(|line| line.strip_prefix("# ")) {
            let [_, _, stack, heap, statics] = costs.split(',').collect::<Vec<_>>()[..] else {
                return tools::failed(format_args!("the image says {costs:?}"));
            };
            let all: u32 =
                [stack, heap, statics].iter().filter_map(|it| it.parse::<u32>().ok()).sum();
            println!("{job}: stack {stack}, heap {heap}, other static {statics}: {all} bytes");
            if all > self.most_memory {
                return tools::failed(format_args!("{job}: more than {} bytes", self.most_memory));
            }
        }
        Ok((host, console))
    }

    fn start(&self, line: &Line, arguments: &str) -> Result<Child> {
        let socket = line.path("device");
        let _ = fs::remove_file(&socket);
        let mut device = self.emulator("party", arguments);
        device.arg("-serial").arg(format!("unix:{},server=on,wait=on", socket.display()));
        let control = line.path("control");
        let _ = fs::remove_file(&control);
        device.arg("-qmp").arg(format!("unix:{},server=on,wait=off", control.display()));
        device.stdout(Stdio::piped()).stderr(Stdio::piped());
        device.spawn().or_else(|e| tools::failed(format_args!("{}: {e}", self.emulator)))
    }

    /// A fault ends both sides with an error, and the device then does the next session.
    fn survives(&self, line: &Line, fault: Fault) -> Result {
        // After a reset the board knows of no session before.
        let is_reset = matches!(fault.what, What::Reset);
        let sessions = if is_reset { 1 } else { 2 };
        let arguments = format!("receive 1 {KEY} {sessions} 1000");
        let mut device = self.start(line, &arguments)?;
        let link = line.connect()?;
        line.relay(&link, Some(fault))?;
        let host = line.host("ot send", "messages", "3")?;
        if host.status.success() || host.status.code() == Some(101) {
            return tools::failed(format_args!("{fault:?}: the host ended with {}", host.status));
        }
        let why = String::from_utf8_lossy(&host.stderr).into_owned();
        // The device waits at most its time of silence.
        thread::sleep(Duration::from_millis(1500));
        line.relay(&link, None)?;
        let host = line.host("ot send", "messages", "10")?;
        let console = ended(&mut device, Duration::from_secs(20))?;
        let first = console.lines().find(|it| it.starts_with("failed: ")).unwrap_or_default();
        let Fault { what, of_device, byte } = fault;
        let side = if of_device { "device" } else { "host" };
        let why = why.lines().last().unwrap_or_default();
        println!("{what:?}, byte {byte} of the {side}: host: {why:?}; device: {first:?}");
        has(&console, if is_reset { "ready\nready" } else { "failed: " })?;
        has(&console, "done")?;
        if host.status.success() { Ok(()) } else { tools::failed("the session after the fault") }
    }
}

/// A fault on the line: of a byte that the device sends, or one of the host's.
#[derive(Clone, Copy, Debug)]
struct Fault {
    what: What,
    of_device: bool,
    byte: usize,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Lost,
    Doubled,
    Flipped,
    /// The host is gone.
    Gone,
    /// The device is reset.
    Reset,
}

const FAULTS: [Fault; 10] = [
    Fault { what: What::Lost, of_device: false, byte: 300 },
    Fault { what: What::Doubled, of_device: false, byte: 120 },
    Fault { what: What::Flipped, of_device: false, byte: 700 },
    Fault { what: What::Lost, of_device: true, byte: 900 },
    Fault { what: What::Doubled, of_device: true, byte: 400 },
    Fault { what: What::Flipped, of_device: true, byte: 80 },
    Fault { what: What::Gone, of_device: false, byte: 150 },
    Fault { what: What::Gone, of_device: false, byte: 600 },
    Fault { what: What::Reset, of_device: true, byte: 500 },
    Fault { what: What::Reset, of_device: false, byte: 700 },
];

impl Fault {
    fn at(self, of_device: bool, byte: usize) -> Option<What> {
        (self.of_device == of_device && self.byte == byte).then_some(self.what)
    }
}

/// A folder with the line's files.
struct Line {
    folder: PathBuf,
}

impl Line {
    fn new() -> Result<Self> {
        let folder = tools::target().join("device");
        fs::create_dir_all(&folder).or_else(|e| tools::failed(format_args!("{e}")))?;
        Ok(Self { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn prepare(&self) -> Result {
        let key = self.path("key");
        let _ = fs::remove_file(&key);
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(key);
        let written = file.and_then(|mut file| writeln!(file, "{KEY}"));
        written.or_else(|e| tools::failed(format_args!("the key: {e}")))
    }

    fn write(&self, name: &str, text: &str) -> Result {
        fs::write(self.path(name), text).or_else(|e| tools::failed(format_args!("{name}: {e}")))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        fs::read(self.path(name)).or_else(|e| tools::failed(format_args!("{name}: {e}")))
    }

    /// The device's end, once QEMU listens.
    fn connect(&self) -> Result<UnixStream> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            match UnixStream::connect(self.path("device")) {
                Ok(stream) => return Ok(stream),
                Err(_) if Instant::now() < end => thread::sleep(Duration::from_millis(20)),
                Err(e) => return tools::failed(format_args!("the emulator's socket: {e}")),
            }
        }
    }

    /// Carries bytes between the device's end and the next host that comes, until the host ends.
    fn relay(&self, device: &UnixStream, fault: Option<Fault>) -> Result {
        let start = || -> io::Result<()> {
            let path = self.path("host");
            let _ = fs::remove_file(&path);
            let listener = UnixListener::bind(path)?;
            let control = self.path("control");
            let (mut to_device, from_device) = (device.try_clone()?, device.try_clone()?);
            thread::spawn(move || -> io::Result<()> {
                let (mut host, _) = listener.accept()?;
                let mut to_host = host.try_clone()?;
                let over = Arc::new(AtomicBool::new(false));
                let is_over = Arc::clone(&over);
                let of_back = control.clone();
                let back = thread::spawn(move || {
                    from_device.set_read_timeout(Some(Duration::from_millis(50)))?;
                    let from = (&mut &from_device, true);
                    copy(from, &mut to_host, (fault, &of_back), &is_over)
                });
                let ended = copy((&mut host, false), &mut to_device, (fault, &control), &over);
                over.store(true, Ordering::Relaxed);
                drop(host.shutdown(Shutdown::Both));
                let _ = back.join();
                ended
            });
            Ok(())
        };
        start().or_else(|e| tools::failed(format_args!("the relay: {e}")))
    }

    fn host(&self, job: &str, file: &str, timeout: &str) -> Result<Output> {
        let mut command = tools::command(tools::target().join("debug/foxtrot"), job);
        command.arg(self.path(file)).args(["--extension", "none"]);
        command.arg("--serial").arg(self.path("host")).arg("--psk").arg(self.path("key"));
        command.args(["--timeout", timeout, "--wait", timeout]);
        tools::output(&mut command)
    }
}

/// Copies one direction of a line, with its fault, until an end.
fn copy(
    (from, back): (&mut impl Read, bool),
    to: &mut impl Write,
    (fault, control): (Option<Fault>, &Path),
    over: &AtomicBool,
) -> io::Result<()> {
    let (mut buffer, mut at) = ([0; 64], 0);
    while !over.load(Ordering::Relaxed) {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(e) => return Err(e),
        };
        let mut out = Vec::new();
        for &byte in &buffer[..read] {
            match fault.and_then(|fault| fault.at(back, at)) {
                Some(What::Lost) => {}
                Some(What::Doubled) => out.extend([byte, byte]),
                Some(What::Flipped) => out.push(byte ^ 0x10),
                Some(What::Gone) => return Ok(()),
                Some(What::Reset) => reset(control)?,
                None => out.push(byte),
            }
            at += 1;
        }
        to.write_all(&out)?;
    }
    Ok(())
}

/// Resets the emulated machine.
fn reset(control: &Path) -> io::Result<()> {
    let mut control = UnixStream::connect(control)?;
    control.write_all(b"{\"execute\":\"qmp_capabilities\"}{\"execute\":\"system_reset\"}\n")?;
    // Until it has answered: a greeting, and a line for each command at least.
    let lines = BufReader::new(control).lines().take(3);
    lines.collect::<io::Result<Vec<_>>>().map(drop)
}

/// The package of the firmware.
fn folder() -> PathBuf {
    tools::root().join("examples/device")
}

/// Waits for the emulator, and gives what its console had.
fn ended(device: &mut Child, within: Duration) -> Result<String> {
    let end = Instant::now() + within;
    let mut console = String::new();
    loop {
        match device.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = device.kill();
                let _ = device.wait();
                break;
            }
        }
    }
    let streams = [
        device.stdout.take().map(|it| Box::new(it) as Box<dyn Read>),
        device.stderr.take().map(|it| Box::new(it) as Box<dyn Read>),
    ];
    for mut stream in streams.into_iter().flatten() {
        let _ = stream.read_to_string(&mut console);
    }
    Ok(console)
}

/// Fails unless the console has that.
fn has(console: &str, what: &str) -> Result {
    if console.contains(what) {
        Ok(())
    } else {
        tools::failed(format_args!("the device does not say {what:?}: {console:?}"))
    }
}

/// Fails unless the host wrote that.
fn said(host: &Output, expected: &str) -> Result {
    let got = String::from_utf8_lossy(&host.stdout);
    if got == expected {
        Ok(())
    } else {
        tools::failed(format_args!("the host wrote {got:?} instead of {expected:?}"))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Fails unless a receiver's line `choice key` has the key of that choice of a sender's line `key key`.
fn agrees(pair: &str, chosen: &str) -> Result {
    let keys: Vec<_> = pair.split_whitespace().collect();
    match chosen.split_once(char::is_whitespace) {
        Some((choice @ ("0" | "1"), key)) if keys.get(usize::from(choice == "1")) == Some(&key) => {
            Ok(())
        }
        _ => tools::failed("the sides have other keys"),
    }
}
