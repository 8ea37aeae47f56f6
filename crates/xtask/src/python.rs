//! The Python package: built, installed into fresh environments, tested.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use crate::tools::{self, Result};

/// Options of `python`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Build the wheel for release, and check its size and the time of its import
    #[arg(long)]
    release: bool,
    /// Install the wheel for every Python from 3.10 on that is there, and not only for the newest; run all tests with Ray
    #[arg(long)]
    all: bool,
}

/// The package's manifest.
const MANIFEST: &str = "crates/python/Cargo.toml";

/// Versions of Python, the newest first.
const VERSIONS: [&str; 6] = ["3.15", "3.14", "3.13", "3.12", "3.11", "3.10"];

/// Packages of the tests.
const FOR_TESTS: &str =
    "duckdb hypothesis ipykernel mypy nbclient nbformat numpy pandas polars pyarrow pyright pytest";

/// The most bytes of the wheel.
const MOST_BYTES: u64 = 10_000_000;

/// A call of the library that needs no other package.
const FIRST_CALL: &str = "import foxtrot; assert foxtrot.psi.local(['a', 'b'], ['b']) == [1]";

/// Fails if the quickest of five imports, in processes of their own, takes 100 milliseconds.
const IMPORT: &str = "
import subprocess, sys
code = 'import time; t = time.perf_counter(); import foxtrot; print(time.perf_counter() - t)'
took = min(float(subprocess.check_output([sys.executable, '-c', code])) for _ in range(5))
print(f'import: {1000 * took:.0f} ms')
sys.exit(took >= 0.1)
";

/// Builds the wheel, installs it into a fresh environment, and runs the tests with the newest Python that is there.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let there = interpreters();
    let Some((_, newest)) = there.first() else {
        return tools::needs(false, "there is no Python from 3.10 on");
    };
    let folder = tools::target().join("python");
    let (tests, wheels) = (folder.join("tests"), folder.join("wheels"));
    environment(newest, &tests)?;
    let installs = |packages: &str| {
        let mut pip = python(&tests, "-m pip install --quiet --no-compile");
        pip.args(packages.split_whitespace()).status().is_ok_and(|it| it.success())
    };
    let why = "pip cannot install the packages of the tests";
    tools::needs(installs("maturin"), why)?;
    // An older wheel would be taken for the new one.
    let _ = fs::remove_dir_all(&wheels);
    let profile = if arguments.release { "release" } else { "dev" };
    let options = format!("-m maturin build --quiet --locked --profile {profile} --manifest-path");
    let mut maturin = python(&tests, &options);
    maturin.arg(MANIFEST).arg("--out").arg(&wheels);
    // The other packages come over the network meanwhile.
    let (built, reached) = thread::scope(|scope| {
        let built = scope.spawn(|| tools::run(&mut maturin));
        let reached = installs(FOR_TESTS);
        // Ray does not have wheels for every Python.
        if reached && !installs("ray[data]") {
            println!("pip cannot install Ray; its tests are skipped");
        }
        (built.join(), reached)
    });
    tools::needs(reached, why)?;
    built.unwrap_or_else(|_| tools::failed("maturin was not run"))?;
    let wheel = only_file(&wheels)?;
    let fresh = |version: &str| folder.join(format!("fresh-{version}"));
    let wanted = if arguments.all { there.len() } else { 1 };
    for (version, python_of_version) in &there[..wanted] {
        let fresh = fresh(version);
        let _ = fs::remove_dir_all(&fresh);
        environment(python_of_version, &fresh)?;
        install(&fresh, &wheel)?;
        tools::run(python(&fresh, "-c").arg(FIRST_CALL))?;
        println!("the wheel works with Python {version}");
    }
    // The README's lines need a library of DataFrames.
    let fresh = fresh(there[0].0);
    tools::run(&mut python(&fresh, "-m pip install --quiet --no-compile polars"))?;
    install(&tests, &wheel)?;
    if arguments.release {
        let bytes = fs::metadata(&wheel).map_or(u64::MAX, |it| it.len());
        println!("wheel: {bytes} bytes");
        if bytes >= MOST_BYTES {
            return tools::failed("the wheel is too large");
        }
        tools::run(python(&tests, "-c").arg(IMPORT))?;
    }

    // The command of the other tests, which need not be built once more.
    tools::run(&mut tools::cargo("test --quiet --workspace --test cli --no-run"))?;
    let doors = tools::test_program("doors")?;
    let mut pytest =
        python(&tests, "-m pytest -q --doctest-modules crates/python/tests --pyargs foxtrot");
    pytest.env("FOXTROT_COMMAND", tools::target().join("debug/foxtrot"));
    pytest.env("FOXTROT_DOORS", doors);
    if arguments.all {
        pytest.env("FOXTROT_ALL", "1");
    }
    pytest.env("FOXTROT_FRESH", interpreter(&fresh));
    // The tests often wait for each other's parties.
    thread::scope(|scope| {
        let types = scope.spawn(|| {
            tools::run(&mut python(&tests, "-m mypy"))?;
            tools::run(python(&tests, "-m pyright --pythonpath").arg(interpreter(&tests)))
        });
        tools::run(&mut pytest)?;
        types.join().unwrap_or_else(|_| tools::failed("mypy was not run"))
    })
}

/// The versions of Python that can make environments here, the newest first, and their interpreters.
fn interpreters() -> Vec<(&'static str, String)> {
    // A shim of pyenv runs the versions that are named so.
    let text = |mut command: Command| {
        let output = command.output().ok().filter(|it| it.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let pyenv = text(tools::command("pyenv", "versions --bare")).unwrap_or_default();
    let find = |version: &&'static str| {
        let mut python = tools::command(format!("python{version}"), "-c");
        python.arg("import ensurepip, sys, venv; print(sys.executable)");
        if !pyenv.is_empty() {
            python.env("PYENV_VERSION", pyenv.replace('\n', ":"));
        }
        Some((*version, text(python)?))
    };
    VERSIONS.iter().filter_map(find).collect()
}

/// Makes an environment, unless there is one.
fn environment(python: &str, folder: &Path) -> Result {
    if interpreter(folder).exists() {
        return Ok(());
    }
    tools::run(tools::command(python, "-m venv").arg(folder))
}

fn interpreter(environment: &Path) -> PathBuf {
    environment.join("bin/python")
}

/// An environment's interpreter in the repository's root.
fn python(environment: &Path, arguments: &str) -> Command {
    tools::command(interpreter(environment), arguments)
}

/// Installs the wheel alone, in place of one that is there.
fn install(environment: &Path, wheel: &Path) -> Result {
    let options = "-m pip install --quiet --no-index --no-deps --force-reinstall";
    tools::run(python(environment, options).arg(wheel))
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(folder).map(|it| it.flatten().map(|it| it.path()).collect::<Vec<_>>());
    match files.as_deref() {
        Ok([file]) => Ok(file.clone()),
        _ => tools::failed(format_args!("there is not one wheel in {}", folder.display())),
    }
}
