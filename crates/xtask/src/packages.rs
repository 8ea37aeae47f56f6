//! Packages that people install: a Debian package, a static binary and a container of it, each tested in a clean root; and
//! the wheel.

use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    capi::Installed,
    tools::{self, Failure, Result},
};

/// Options of `deb` and `musl`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Build it, and do not run it
    #[arg(long)]
    no_test: bool,
}

/// The package's name.
const NAME: &str = "foxtrot-mpc";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const MUSL: &str = "x86_64-unknown-linux-musl";

/// The files of the README's intersection, and its rows.
const SHOPS: [&str; 2] = ["examples/shop-a.csv", "examples/shop-b.csv"];

/// Builds the Debian package, and tests it in a clean root without Rust.
pub(crate) fn deb(options: &Options) -> Result {
    for program in ["dpkg-deb", "dpkg-shlibdeps", "cc"] {
        let there = tools::succeeds(&mut tools::command(program, "--version"));
        tools::needs(there, &format!("there is no {program}"))?;
    }
    let package = debian_package(&tools::target().join("deb"))?;
    println!("{}: {} bytes", package.display(), fs::metadata(&package).map_err(failed)?.len());
    if options.no_test {
        return Ok(());
    }
    let root = tools::target().join("deb/clean");
    clean_root(&root)?;
    put_in(&root, &package, "foxtrot.deb")?;
    tools::run(in_root(&root)?.args(["dpkg", "-i", "/foxtrot.deb"]))?;
    intersects_in(&root, "/usr/bin/foxtrot")?;
    library_in(&root)?;
    for file in [
        "usr/share/man/man1/foxtrot-psi-send.1.gz",
        "usr/share/bash-completion/completions/foxtrot",
        "usr/include/foxtrot.h",
    ] {
        if !root.join(file).exists() {
            return tools::failed(format_args!("the package has no {file}"));
        }
    }
    tools::run(in_root(&root)?.args(["dpkg", "--purge", NAME]))?;
    match root.join("usr/bin/foxtrot").exists() {
        true => tools::failed("the package left its command behind"),
        false => Ok(()),
    }
}

/// Builds command and library for release, and packs them. `folder` gets the package.
fn debian_package(folder: &Path) -> Result<PathBuf> {
    // At once, so that both have the same dependencies.
    let built = release(
        "--package foxtrot-cli --package foxtrot-capi --features foxtrot-cli/spreadsheets",
        "",
    )?;
    let command = built.join("foxtrot");
    let library = built.join("libfoxtrot_capi.a");
    let (tree, work) = (folder.join("tree"), folder.join("work"));
    let _ = fs::remove_dir_all(&tree);
    for folder in [&tree, &work] {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let architecture = word(&mut tools::command("dpkg", "--print-architecture"))?;
    let triplet = word(&mut tools::command("cc", "-print-multiarch"))?;
    let usr = tree.join("usr");
    let installed = Installed { root: usr.clone(), libraries: format!("lib/{triplet}") };
    installed.put(&library, false)?;
    installed.check_symbols()?;
    copy(&command, &usr.join("bin/foxtrot"))?;
    tools::run(Command::new("strip").arg(usr.join("bin/foxtrot")))?;
    // No linker of C reads the bitcode.
    let options = "--strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd";
    let mut strip = tools::command("strip", options);
    strip.arg("--enable-deterministic-archives");
    tools::run(strip.arg(usr.join("lib").join(&triplet).join("libfoxtrot.a")))?;
    let man = usr.join("share/man/man1");
    tools::run(Command::new(&command).args(["generate", "man", "--all"]).arg(&man))?;
    for (shell, file) in [
        ("bash", "bash-completion/completions/foxtrot"),
        ("zsh", "zsh/vendor-completions/_foxtrot"),
        ("fish", "fish/vendor_completions.d/foxtrot.fish"),
    ] {
        let text = tools::stdout(Command::new(&command).args(["generate", "completions", shell]))?;
        write(&usr.join("share").join(file), &text)?;
    }
    let documents = usr.join("share/doc").join(NAME);
    copy(&tools::root().join("CHANGELOG.md"), &documents.join("changelog"))?;
    let copyright = format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nCopyright: The Foxtrot \
         authors\nLicense: MIT or Apache-2.0\n Apache-2.0 is in /usr/share/common-licenses/Apache-2.0. MIT is:\n .\n{}",
        tools::read("LICENSE-MIT")?
            .lines()
            .map(|line| if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
            .collect::<String>()
    );
    write(&documents.join("copyright"), copyright.as_bytes())?;
    let mut gzip = tools::command("sh", "-c");
    gzip.arg(r#"gzip -9n "$1"/share/man/man1/*.1 "$2"/changelog"#).arg("sh").arg(&usr);
    tools::run(gzip.arg(&documents))?;
    control(&tree, &work, &triplet, &architecture)?;
    let package = folder.join(format!("{NAME}_{VERSION}_{architecture}.deb"));
    let mut pack = tools::command("dpkg-deb", "--root-owner-group -Zxz --build");
    pack.env("SOURCE_DATE_EPOCH", epoch()?).stdout(Stdio::null());
    tools::run(pack.arg(&tree).arg(&package))?;
    Ok(package)
}

/// Writes what dpkg reads of a package.
fn control(tree: &Path, work: &Path, triplet: &str, architecture: &str) -> Result {
    // It wants to see the sources' control file.
    let source = format!("Source: {NAME}\n\nPackage: {NAME}\nArchitecture: any\n");
    write(&work.join("debian/control"), source.as_bytes())?;
    let library = format!("usr/lib/{triplet}/libfoxtrot.so.{VERSION}");
    let mut ask = tools::command("dpkg-shlibdeps", "-O --warnings=0");
    ask.arg(tree.join("usr/bin/foxtrot")).arg(tree.join(&library)).current_dir(work);
    let depends = tools::stdout(&mut ask)?;
    let depends = String::from_utf8_lossy(&depends).trim().replace("shlibs:Depends=", "");
    let bytes = word(tools::command("du", "-sk --apparent-size").arg(tree))?;
    let text = format!(
        "Package: {NAME}\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: The Foxtrot authors\n\
         Installed-Size: {bytes}\nDepends: {depends}\nSection: net\nPriority: optional\nDescription: private set \
         intersection and oblivious transfer, post-quantum\n Two parties find out which rows their tables share, and nothing \
         else. This package\n has the command foxtrot, and a library for C and C++.\n"
    );
    let debian = tree.join("DEBIAN");
    write(&debian.join("control"), text.as_bytes())?;
    write(&debian.join("triggers"), b"activate-noawait ldconfig\n")?;
    write(&debian.join("shlibs"), format!("libfoxtrot 0 {NAME} (>= {VERSION})\n").as_bytes())?;
    let mut sums = tools::command("sh", "-c");
    sums.arg("find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum").current_dir(tree);
    let sums = tools::stdout(&mut sums)?;
    write(&debian.join("md5sums"), &sums)?;
    let mut modes = tools::command("sh", "-c");
    modes.arg(r#"chmod -R u=rwX,go=rX "$1" && find "$1" -type f -exec chmod 644 {} + && chmod 755 "$1"/usr/bin/*"#);
    tools::run(modes.arg("sh").arg(tree))
}

/// Makes a root of this machine's release of Debian, or of a system like it, that has what every system has, and no Rust.
fn clean_root(root: &Path) -> Result {
    let there = tools::succeeds(&mut tools::command("mmdebstrap", "--version"));
    tools::needs(there, "there is no mmdebstrap (Debian: mmdebstrap)")?;
    tools::run(as_root("rm -rf")?.arg(root))?;
    let sources = "cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null";
    let script =
        format!("{{ {sources}; true; }} | mmdebstrap --quiet --variant=essential '' \"$1\" -");
    let mut make = as_root("sh -c")?;
    let made = make.arg(script).arg("sh").arg(root).status().is_ok_and(|it| it.success());
    tools::needs(made, "mmdebstrap cannot make a root of Debian here")?;
    let has_rust = ["cargo", "rustc"].iter().any(|it| root.join("usr/bin").join(it).exists());
    if has_rust { tools::failed("the clean root has Rust") } else { Ok(()) }
}

/// The README's intersection, by a command in a root, as two processes over TCP.
fn intersects_in(root: &Path, command: &str) -> Result {
    for shop in SHOPS {
        let name = shop.rsplit('/').next().unwrap_or(shop);
        put_in(root, &tools::root().join(shop), name)?;
    }
    let foxtrot = |arguments: &str| {
        let mut foxtrot = in_root(root)?;
        foxtrot.arg(command).args(arguments.split_whitespace());
        Ok::<_, Failure>(foxtrot)
    };
    // The sender waits for the receiver on a port of the system's choice; the receiver tries until somebody listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let address = port.map_err(failed)?.to_string();
    let options = format!("--normalize email --insecure --listen {address}");
    let mut send = foxtrot(&format!("psi send /shop-b.csv --key E-Mail {options}"))?;
    let mut sender = send.stderr(Stdio::piped()).spawn().map_err(failed)?;
    let options = format!("--normalize email --insecure --connect {address}");
    let rows =
        tools::stdout(&mut foxtrot(&format!("psi receive /shop-a.csv --key email {options}"))?);
    if rows.is_err() {
        let _ = sender.kill();
    }
    let mut said = String::new();
    if let Some(stderr) = &mut sender.stderr {
        stderr.read_to_string(&mut said).map_err(failed)?;
    }
    let ended = sender.wait().map_err(failed)?;
    let (rows, readme) = (String::from_utf8_lossy(&rows?).into_owned(), tools::read("README.md")?);
    if !ended.success() || rows.lines().count() != 6 || !readme.contains(&rows) {
        return tools::failed(format_args!("not the README's rows:\n{rows}{said}"));
    }
    println!("in a clean root, as two processes: the README's rows");
    Ok(())
}

/// A program that was compiled with the root's header and library runs there.
fn library_in(root: &Path) -> Result {
    let triplet = word(&mut tools::command("cc", "-print-multiarch"))?;
    let usr = root.join("usr");
    let mut compile = tools::command("cc", "-std=c11 -pthread examples/c/parties.c");
    compile.arg(format!("-I{}", usr.join("include").display()));
    compile.arg(format!("-L{}", usr.join("lib").join(triplet).display())).arg("-lfoxtrot");
    let program = tools::target().join("deb/parties");
    tools::run(compile.arg("-o").arg(&program))?;
    put_in(root, &program, "parties")?;
    tools::run(in_root(root)?.arg("/parties"))
}

/// Copies a file into a root.
fn put_in(root: &Path, file: &Path, name: &str) -> Result {
    tools::run(as_root("cp")?.arg(file).arg(root.join(name)))
}

/// A command in a root, whose name is still to come.
fn in_root(root: &Path) -> Result<Command> {
    let mut chroot = as_root("chroot")?;
    chroot.arg(root);
    Ok(chroot)
}

/// A command that needs the system's administrator: as it is, or by sudo where that asks nothing.
fn as_root(words: &str) -> Result<Command> {
    if word(&mut tools::command("id", "-u"))? == "0" {
        let (program, arguments) = words.split_once(' ').unwrap_or((words, ""));
        return Ok(tools::command(program, arguments));
    }
    let there = tools::succeeds(&mut tools::command("sudo", "-n true"));
    tools::needs(there, "a clean root needs root")?;
    Ok(tools::command("sudo", &format!("-n {words}")))
}

/// Builds the static binary, and runs it in a root that has nothing else; then in a container, where one can be built.
pub(crate) fn musl(options: &Options) -> Result {
    let there = tools::succeeds(&mut tools::command("rustup", &format!("target add {MUSL}")));
    tools::needs(there, &format!("the target {MUSL} cannot be had here"))?;
    let compiler = tools::command("musl-gcc", "-dumpversion").output().is_ok();
    tools::needs(compiler, "there is no C compiler for musl (Debian: musl-tools)")?;
    let built =
        release("--package foxtrot-cli --features spreadsheets", &format!("--target {MUSL}"))?
            .join("foxtrot");
    let packages = tools::target().join("musl");
    let (root, name) = (packages.join("empty"), format!("foxtrot-{VERSION}-{MUSL}"));
    let (folder, archive) = (packages.join(&name), packages.join(format!("{name}.tar.gz")));
    let binary = folder.join("foxtrot");
    copy(&built, &binary)?;
    tools::run(Command::new("strip").arg(&binary))?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
        copy(&tools::root().join(file), &folder.join(file))?;
    }
    let man = folder.join("man1");
    tools::run(Command::new(&binary).args(["generate", "man", "--all"]).arg(man))?;
    let mut pack = tools::command("tar", "--sort=name --owner=0 --group=0 --numeric-owner");
    pack.arg(format!("--mtime=@{}", epoch()?)).arg("--use-compress-program=gzip -9n");
    tools::run(pack.arg("-cf").arg(&archive).arg("-C").arg(&packages).arg(&name))?;
    let segments =
        tools::stdout(tools::command("readelf", "--program-headers --wide").arg(&binary))?;
    if String::from_utf8_lossy(&segments).contains("INTERP") {
        return tools::failed("the binary asks for a loader");
    }
    println!("{}: {} bytes", archive.display(), fs::metadata(&archive).map_err(failed)?.len());
    if options.no_test {
        return Ok(());
    }
    tools::run(as_root("rm -rf")?.arg(&root))?;
    copy(&binary, &root.join("foxtrot"))?;
    intersects_in(&root, "/foxtrot")?;
    container(&binary)
}

/// Builds the container of `Containerfile`, and runs it as its user.
fn container(binary: &Path) -> Result {
    let context = tools::target().join("musl/container");
    for (from, to) in [
        (binary.to_owned(), "foxtrot"),
        (tools::root().join("LICENSE-MIT"), "LICENSE-MIT"),
        (tools::root().join("LICENSE-APACHE"), "LICENSE-APACHE"),
        (tools::root().join("Containerfile"), "Containerfile"),
    ] {
        copy(&from, &context.join(to))?;
    }
    if !tools::succeeds(&mut tools::command("buildah", "--version")) {
        println!("skipped the container: there is no buildah");
        return Ok(());
    }
    let buildah = || tools::command("buildah", "--storage-driver vfs");
    let build = "build --quiet --isolation chroot --tag foxtrot --file Containerfile .";
    tools::run(buildah().args(build.split(' ')).current_dir(&context))?;
    let container = word(buildah().args(["from", "--pull-never", "localhost/foxtrot"]))?;
    for shop in SHOPS {
        tools::run(buildah().args(["copy", "--quiet", &container, shop, "/data/"]))?;
    }
    let run =
        "/foxtrot psi local shop-a.csv shop-b.csv --key email --key-b E-Mail --normalize email";
    let mut run_it = buildah();
    run_it.args(["run", "--isolation", "chroot", &container, "--"]).args(run.split(' '));
    let rows = tools::stdout(&mut run_it);
    let _ = tools::output(buildah().args(["rm", &container]));
    match tools::read("README.md")?.contains(String::from_utf8_lossy(&rows?).trim()) {
        true => {
            println!("in the container: the README's rows");
            Ok(())
        }
        false => tools::failed("the container has not the README's rows"),
    }
}

/// Builds the wheel that is given away into `target/wheel`.
pub(crate) fn wheel() -> Result {
    let there = tools::succeeds(&mut tools::command("maturin", "--version"));
    tools::needs(there, "there is no maturin (`pipx install maturin`)")?;
    let folder = tools::target().join("wheel");
    let _ = fs::remove_dir_all(&folder);
    let options = "build --quiet --locked --profile dist --manifest-path crates/python/Cargo.toml";
    let mut maturin = tools::command("maturin", options);
    maturin.arg("--out").arg(&folder);
    tools::run(&mut without_paths(maturin, "")?)
}

/// Builds for release without paths of this machine, and gives cargo's folder of what was built.
fn release(packages: &str, options: &str) -> Result<PathBuf> {
    let build = format!("build --quiet --locked --profile dist {packages} {options}");
    tools::run(&mut without_paths(tools::cargo(&build), "")?)?;
    let target = if options.is_empty() { tools::target() } else { tools::target().join(MUSL) };
    Ok(target.join("dist"))
}

/// Cargo that builds no path of this machine in, and the day of the last commit in place of today; with these flags for the
/// compiler.
pub(crate) fn without_paths(mut cargo: Command, flags: &str) -> Result<Command> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|it| it.join(".cargo"))).unwrap_or_default();
    let sysroot = word(&mut tools::command("rustc", "--print sysroot"))?;
    let paths = [
        (tools::root().display().to_string(), "/foxtrot"),
        (home.display().to_string(), "/cargo"),
        (sysroot, "/rust"),
    ];
    let rust = paths.iter().map(|(path, to)| format!("--remap-path-prefix={path}={to}"));
    let c = paths.iter().map(|(path, to)| format!("-ffile-prefix-map={path}={to}"));
    let flags = flags.split_whitespace().map(str::to_owned).chain(rust);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.collect::<Vec<_>>().join("\x1f"));
    cargo.env("CFLAGS", c.collect::<Vec<_>>().join(" ")).env("SOURCE_DATE_EPOCH", epoch()?);
    Ok(cargo)
}

/// The time of the last commit, in seconds since 1970.
fn epoch() -> Result<String> {
    word(&mut tools::command("git", "log -1 --format=%ct"))
}

/// The first word of a program's output.
fn word(command: &mut Command) -> Result<String> {
    let said = tools::stdout(command)?;
    let said = String::from_utf8_lossy(&said);
    Ok(said.split_whitespace().next().unwrap_or_default().to_owned())
}

fn write(file: &Path, content: &[u8]) -> Result {
    fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).map_err(failed)?;
    fs::write(file, content).map_err(failed)
}

fn copy(from: &Path, to: &Path) -> Result {
    fs::create_dir_all(to.parent().unwrap_or(Path::new("/"))).map_err(failed)?;
    fs::copy(from, to).map(drop).map_err(failed)
}

fn failed(error: std::io::Error) -> Failure {
    Failure::Failed(error.to_string())
}
