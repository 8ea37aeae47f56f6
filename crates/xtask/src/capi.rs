//! The C library: its header, libraries and package files, and tests of them as a C programmer has them.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use crate::tools::{self, Failure, Result};

/// Options of `capi`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write the header anew, and do nothing else
    #[arg(long)]
    header: bool,
}

/// The crate's folder, and the header that programs are compiled with.
const CRATE: &str = "crates/capi";
const HEADER: &str = "crates/capi/include/foxtrot.h";
/// The name by which programs load the shared library: its number changes when they have to be linked anew.
const SONAME: &str = "libfoxtrot.so.0";
/// Libraries of the system that a program with the static library needs.
const STATIC_LIBS: &str = "-lgcc_s -lpthread -lm -ldl -lc";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Warnings of compilers, all errors.
const WARNINGS: &str = "-Wall -Wextra -Werror -pedantic";
const C: &str = "-std=c11";
const CPP: &str = "-std=c++17";
const SANITIZER: &str = "-g -fsanitize=address,undefined -fno-sanitize-recover=all";

/// Makes the header, builds the libraries without optimising, and runs the examples with both.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let header = header()?;
    let file = tools::root().join(HEADER);
    if arguments.header {
        return fs::write(&file, header).map_err(failed);
    }
    if fs::read_to_string(&file).unwrap_or_default() != header {
        return tools::failed(format_args!(
            "{HEADER} is not up to date: cargo xtask capi --header"
        ));
    }
    for program in ["cc", "c++"] {
        let there = tools::succeeds(&mut tools::command(program, "--version"));
        tools::needs(there, &format!("there is no C compiler: {program}"))?;
    }
    let folder = tools::target().join("capi");
    let installed = Installed { root: folder.join("installed"), libraries: "lib".into() };
    installed.put(&debug_library()?, true)?;
    installed.check_symbols()?;
    let programs = Programs { folder: folder.join("programs"), installed };
    programs.plain()?;
    // Valgrind takes one processor for as long as all others need.
    thread::scope(|scope| {
        let in_valgrind = scope.spawn(|| programs.in_valgrind());
        programs.by_pkg_config()?;
        programs.by_cmake()?;
        programs.with_sanitizer()?;
        programs.against_the_command()?;
        in_valgrind.join().unwrap_or_else(|_| tools::failed("valgrind was not run"))
    })
}

/// The header that the sources have.
fn header() -> Result<String> {
    let mut make = tools::cargo("run --quiet --locked --manifest-path");
    make.arg(tools::root().join(CRATE).join("header/Cargo.toml")).arg("--").arg(CRATE);
    let header = tools::stdout(make.env("CARGO_TARGET_DIR", tools::target().join("header")))?;
    String::from_utf8(header).or_else(|_| tools::failed("the header is not UTF-8"))
}

/// The static library as tests of the workspace build it, so that nothing is built twice.
fn debug_library() -> Result<PathBuf> {
    let build = "test --quiet --workspace --test cli --test border --no-run";
    built(&mut tools::cargo(build))
}

/// Runs cargo, and finds the static library among what was built.
fn built(cargo: &mut Command) -> Result<PathBuf> {
    let built = tools::built(cargo, "foxtrot_capi")?;
    let found = built.into_iter().find(|it| it.extension().is_some_and(|it| it == "a"));
    found.map_or_else(|| tools::failed("cargo built no static library"), Ok)
}

/// The library as it is installed below a folder.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The folder above `include`.
    pub(crate) root: PathBuf,
    /// The folder of libraries in it.
    pub(crate) libraries: String,
}

impl Installed {
    fn libraries(&self) -> PathBuf {
        self.root.join(&self.libraries)
    }

    /// Puts header, both libraries and package files there.
    pub(crate) fn put(&self, library: &Path, symbols: bool) -> Result {
        let (to, source) = (self.libraries(), tools::root().join(CRATE));
        let shared = format!("libfoxtrot.so.{VERSION}");
        let _ = fs::remove_dir_all(&to);
        for folder in [self.root.join("include"), to.join("pkgconfig"), to.join("cmake/Foxtrot")] {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::copy(tools::root().join(HEADER), self.root.join("include/foxtrot.h"))
            .map_err(failed)?;
        fs::copy(library, to.join("libfoxtrot.a")).map_err(failed)?;
        // The compiler driver links, not rustc: rustc has a version script of its own, and linkers take one only.
        let mut link =
            tools::command("cc", "-shared -Wl,--gc-sections -Wl,-z,defs,-z,relro,-z,now");
        link.arg(format!("-Wl,-soname,{SONAME}"));
        link.arg(format!("-Wl,--version-script={}", source.join("libfoxtrot.map").display()));
        if !symbols {
            link.arg("-s");
        }
        link.arg("-Wl,--whole-archive").arg(library).arg("-Wl,--no-whole-archive");
        link.args(STATIC_LIBS.split(' ')).arg("-o").arg(to.join(&shared));
        tools::run(&mut link)?;
        #[cfg(unix)]
        for (link, to_file) in [(SONAME, shared.as_str()), ("libfoxtrot.so", SONAME)] {
            std::os::unix::fs::symlink(to_file, to.join(link)).map_err(failed)?;
        }
        let up = |more: usize| {
            let depth = Path::new(&self.libraries).components().count() + more;
            vec![".."; depth].join("/")
        };
        let (major_minor, _) = VERSION.rsplit_once('.').unwrap_or((VERSION, ""));
        for (template, file, depth) in [
            ("foxtrot.pc.in", "pkgconfig/foxtrot.pc", 1),
            ("FoxtrotConfig.cmake.in", "cmake/Foxtrot/FoxtrotConfig.cmake", 2),
            ("FoxtrotConfigVersion.cmake.in", "cmake/Foxtrot/FoxtrotConfigVersion.cmake", 2),
        ] {
            let separator = if file.starts_with("cmake") { ";" } else { " " };
            let text = tools::read(&format!("{CRATE}/{template}"))?
                .replace("@UP@", &up(depth))
                .replace("@LIBDIR@", &self.libraries)
                .replace("@SONAME@", SONAME)
                .replace("@MAJOR_MINOR@", major_minor)
                .replace("@VERSION@", VERSION)
                .replace("@STATIC_LIBS@", &STATIC_LIBS.replace(' ', separator));
            fs::write(to.join(file), text).map_err(failed)?;
        }
        Ok(())
    }

    /// Fails unless the shared library has the functions of the header, by version, and no other.
    pub(crate) fn check_symbols(&self) -> Result {
        let header = tools::read(HEADER)?;
        let words = header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '(');
        let declared: BTreeSet<_> = words
            .filter_map(|word| word.split_once('('))
            .map(|(name, _)| format!("{name}@@FOXTROT_0"))
            .filter(|name| name.starts_with("foxtrot_"))
            .collect();
        let mut nm = tools::command("nm", "--dynamic --defined-only --with-symbol-versions");
        let said = tools::stdout(nm.arg(self.libraries().join("libfoxtrot.so")))?;
        let said = String::from_utf8_lossy(&said);
        let names = said.lines().filter_map(|line| line.split_whitespace().nth(2));
        let exported: BTreeSet<_> =
            names.filter(|it| !it.starts_with("FOXTROT_0")).map(str::to_owned).collect();
        let differ: Vec<_> = declared.symmetric_difference(&exported).collect();
        match differ.is_empty() && !declared.is_empty() {
            true => {
                println!("{} functions, all by version", declared.len());
                Ok(())
            }
            false => tools::failed(format_args!("header and shared library differ: {differ:?}")),
        }
    }
}

/// The examples, compiled in all ways.
struct Programs {
    folder: PathBuf,
    installed: Installed,
}

impl Programs {
    /// Compiles one of the examples with these options of compilers.
    fn compile(
        &self,
        source: &str,
        name: &str,
        before: &[&str],
        after: &[&str],
    ) -> Result<PathBuf> {
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let program = self.folder.join(name);
        let is_c = source.ends_with(".c");
        let (compiler, standard) = if is_c { ("cc", C) } else { ("c++", CPP) };
        let mut compile = tools::command(compiler, &format!("{standard} {WARNINGS} -pthread"));
        compile.args(before).arg(tools::root().join("examples").join(source));
        tools::run(compile.args(after).arg("-o").arg(&program))?;
        Ok(program)
    }

    /// Compiles an example with the static library.
    fn with_static(&self, source: &str, name: &str, options: &str) -> Result<PathBuf> {
        let include = format!("-I{}", self.installed.root.join("include").display());
        let library = self.installed.libraries().join("libfoxtrot.a").display().to_string();
        let before: Vec<_> = options.split_whitespace().chain([include.as_str()]).collect();
        let after: Vec<_> = [library.as_str()].into_iter().chain(STATIC_LIBS.split(' ')).collect();
        self.compile(source, name, &before, &after)
    }

    fn plain(&self) -> Result {
        tools::run(&mut Command::new(self.with_static("c/parties.c", "parties", "")?))
    }

    fn by_pkg_config(&self) -> Result {
        if !tools::succeeds(&mut tools::command("pkg-config", "--version")) {
            println!("skipped: there is no pkg-config");
            return Ok(());
        }
        let libraries = self.installed.libraries();
        let mut ask = tools::command("pkg-config", "--cflags --libs foxtrot");
        let flags = tools::stdout(ask.env("PKG_CONFIG_PATH", libraries.join("pkgconfig")))?;
        let flags = String::from_utf8_lossy(&flags).into_owned();
        let flags: Vec<_> = flags.split_whitespace().collect();
        self.compile("c/psi.c", "psi", &[], &flags)?;
        let program = self.compile("cpp/ot.cpp", "ot", &[], &flags)?;
        tools::run(Command::new(program).env("LD_LIBRARY_PATH", libraries))
    }

    fn by_cmake(&self) -> Result {
        if !tools::succeeds(&mut tools::command("cmake", "--version")) {
            println!("skipped: there is no CMake");
            return Ok(());
        }
        for (example, program) in [("c", "parties"), ("cpp", "ot")] {
            let (from, to) =
                (tools::root().join("examples").join(example), self.folder.join(example));
            let mut configure = tools::command("cmake", "-S");
            configure.arg(from).arg("-B").arg(&to);
            let prefix = self.installed.root.display();
            configure.arg(format!("-DCMAKE_PREFIX_PATH={prefix}")).stdout(Stdio::null());
            tools::run(&mut configure)?;
            tools::run(tools::command("cmake", "--build").arg(&to).stdout(Stdio::null()))?;
            tools::run(&mut Command::new(to.join(program)))?;
        }
        Ok(())
    }

    fn with_sanitizer(&self) -> Result {
        for (source, name) in [("c/parties.c", "parties-asan"), ("cpp/ot.cpp", "ot-asan")] {
            let program = self.with_static(source, name, SANITIZER)?;
            tools::run(Command::new(program).env("UBSAN_OPTIONS", "print_stacktrace=1"))?;
        }
        Ok(())
    }

    fn in_valgrind(&self) -> Result {
        if !tools::succeeds(&mut tools::command("valgrind", "--version")) {
            println!("skipped: there is no valgrind");
            return Ok(());
        }
        let mut valgrind = tools::command(
            "valgrind",
            "--quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite",
        );
        // Valgrind does not know AVX-512.
        valgrind.env("FOXTROT_BACKEND", "portable");
        tools::run(valgrind.arg(self.folder.join("parties")))
    }

    /// Intersects with the command: without keys as both roles, and over TLS.
    fn against_the_command(&self) -> Result {
        let file = |name: &str, content: &str| {
            let path = self.folder.join(name);
            fs::write(&path, content).map_err(failed)?;
            Ok::<_, Failure>(path)
        };
        let (ours, theirs) =
            (file("ours.txt", "eve\ncid\nann\n")?, file("set.txt", "ann\nbob\ncid\n")?);
        let keys = ["ours.pem", "theirs.pem"].map(|name| self.folder.join(name));
        let mut fingerprints = Vec::new();
        for key in &keys {
            let _ = fs::remove_file(key);
            let said = tools::stdout(command().args(["keygen", "--output"]).arg(key))?;
            let said = String::from_utf8_lossy(&said).into_owned();
            let found = said.split_whitespace().find(|word| word.starts_with("SHA256:"));
            fingerprints.push(found.unwrap_or_default().to_owned());
        }
        let plain = || vec!["--insecure".to_owned()];
        let secure = ["--identity", &keys[1].display().to_string(), "--peer", &fingerprints[0]]
            .map(str::to_owned);
        let ours_secure = [keys[0].display().to_string(), fingerprints[1].clone()];
        for (role, peers_role, transport, ours_transport) in [
            ("receive", "send", plain(), &[][..]),
            ("send", "receive", plain(), &[]),
            ("receive", "send", secure.to_vec(), &ours_secure),
        ] {
            let mut listen = command();
            listen.args(["psi", peers_role]).arg(&theirs).args(["--listen", "127.0.0.1:0"]);
            listen.args(&transport).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut listens = listen.spawn().map_err(failed)?;
            let mut words = BufReader::new(listens.stderr.take().expect("it is piped")).lines();
            let address = words
                .by_ref()
                .map_while(std::result::Result::ok)
                .find_map(|line| line.strip_prefix("foxtrot: listening on ").map(str::to_owned));
            let mut program = Command::new(self.folder.join("psi"));
            program.args([role, &address.unwrap_or_default()]).arg(&ours).args(ours_transport);
            let said = tools::stdout(program.env("LD_LIBRARY_PATH", self.installed.libraries()));
            if said.is_err() {
                let _ = listens.kill();
            }
            let mut rows = said?;
            words.for_each(drop);
            if let Some(stdout) = &mut listens.stdout {
                stdout.read_to_end(&mut rows).map_err(failed)?;
            }
            let (rows, status) = (String::from_utf8_lossy(&rows).into_owned(), listens.wait());
            let expected = if role == "receive" { "cid\nann\n" } else { "ann\ncid\n" };
            if rows != expected || !status.map_err(failed)?.success() {
                return tools::failed(format_args!("psi {role}: {rows:?}, not {expected:?}"));
            }
            println!("psi {role} in C and the command: right");
        }
        Ok(())
    }
}

/// The command of the tests.
fn command() -> Command {
    let mut command = Command::new(tools::target().join("debug/foxtrot"));
    command.stdin(Stdio::null());
    command
}

fn failed(error: std::io::Error) -> Failure {
    Failure::Failed(error.to_string())
}
