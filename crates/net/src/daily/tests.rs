use std::{
    fs,
    path::PathBuf,
    sync::{Arc, mpsc},
    time::Duration,
};

use super::{
    file::{OLD_TITLE, TITLE},
    *,
};

const MOST: MostPerDay = MostPerDay { runs: Some(2), keys: Some(100) };

const NO_MORE: MostPerDay = MostPerDay { runs: None, keys: None };

fn on(day: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400 + 86_399)
}

fn day(number: u64) -> Day {
    Day::of(on(number))
}

fn take(daily: &Daily, peer: &str, keys: u64, now: SystemTime) -> Result<(), Denied> {
    daily.take(peer, keys, NO_MORE, now)
}

fn full(denied: Result<(), Denied>) -> Full {
    match denied {
        Err(Denied::Full(full)) => full,
        other => panic!("{other:?}"),
    }
}

/// A folder of a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("foxtrot-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn runs_and_keys_of_each_peer_end_with_the_day() {
    let daily = Daily::in_memory(MOST);
    take(&daily, "a", 60, on(7)).unwrap();
    let keys = full(take(&daily, "a", 41, on(7)));
    assert_eq!(keys, Full::KeysOfToday { asks: 41, left: 40, of: 100 });
    take(&daily, "a", 40, on(7)).unwrap();
    assert_eq!(full(take(&daily, "a", 0, on(7))), Full::RunsOfToday(2));
    take(&daily, "b", 100, on(7)).unwrap();
    take(&daily, "a", 100, on(8)).unwrap();
}

#[test]
fn a_clock_that_goes_back_gives_no_second_day_and_the_refusal_names_both_days() {
    let daily = Daily::in_memory(MOST);
    take(&daily, "a", 100, on(20_819)).unwrap();
    let refused = full(take(&daily, "a", 1, on(20_785)));
    assert_eq!(refused, Full::OfALaterDay { counts: day(20_819), clock: day(20_785) });
    assert_eq!(refused.reason(), crate::Reason::UsedUp);
    assert_eq!(
        refused.to_string(),
        "this peer has used up its limits of 2027-01-01, which apply until the end of that day (UTC); this machine's clock \
         shows 2026-11-28: check the clock"
    );
    // What the later day has left is still there.
    take(&daily, "b", 1, on(20_785)).unwrap();
}

#[test]
fn a_clock_that_shows_another_day_than_the_counts_is_told_once_each_time() {
    let folder = Folder::new("clock");
    let path = folder.0.join("state");
    let open = |now| {
        let (tell, told) = mpsc::channel();
        (Daily::open(MOST, &path).unwrap().on_turn(now, move |it| tell.send(it).unwrap()), told)
    };
    let turn = |counts, clock| Turn { counts: day(counts), clock: day(clock) };
    let (daily, told) = open(on(7));
    take(&daily, "a", 1, on(7)).unwrap();
    assert_eq!(told.try_iter().count(), 0, "nothing turned");
    take(&daily, "a", 1, on(9)).unwrap();
    take(&daily, "a", 1, on(9)).unwrap();
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [turn(7, 9)]);
    take(&daily, "b", 1, on(8)).unwrap();
    take(&daily, "b", 1, on(8)).unwrap();
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [turn(9, 8)]);
    drop(daily);
    // A file that is dated in the future is told before anybody comes.
    let (daily, told) = open(on(6));
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [turn(9, 6)]);
    assert!(full(take(&daily, "b", 1, on(6))).to_string().contains("1970-01-10"));
    assert_eq!(told.try_iter().count(), 0, "it is told twice");
    let [back, forward] = [turn(20_819, 20_785), turn(7, 20_785)].map(|it| it.to_string());
    assert!(
        back.contains("clock shows 2026-11-28") && back.contains("until the end of 2027-01-01")
    );
    assert!(forward.contains("new counts for 2026-11-28"), "{forward}");
}

#[test]
fn the_smaller_of_two_limits_holds() {
    let most = |runs, keys| MostPerDay { runs, keys };
    assert_eq!(most(Some(2), None).and(most(Some(3), Some(4))), most(Some(2), Some(4)));
    let daily = Daily::in_memory(MOST);
    daily.take("a", 9, most(Some(1), Some(9)), on(7)).unwrap();
    assert_eq!(full(daily.take("a", 0, most(Some(1), None), on(7))), Full::RunsOfToday(1));
    let refused = full(daily.take("a", 1, most(None, Some(9)), on(7)));
    assert_eq!(refused, Full::KeysOfToday { asks: 1, left: 0, of: 9 });
    daily.take("a", 91, NO_MORE, on(7)).unwrap();
}

#[test]
fn counts_survive_a_restart_and_one_process_has_the_file() {
    let folder = Folder::new("restart");
    let path = folder.0.join("state");
    let first = Daily::open(MOST, &path).unwrap();
    take(&first, "a", 99, on(7)).unwrap();
    let second = Daily::open(MOST, &path).unwrap_err();
    assert!(second.why.ends_with("another process uses this file"), "{second}");
    drop(first);
    let again = Daily::open(MOST, &path).unwrap();
    assert_eq!(full(take(&again, "a", 2, on(7))), Full::KeysOfToday { asks: 2, left: 1, of: 100 });
    take(&again, "a", 1, on(7)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{TITLE}\nday 7\na 2 100\n"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn names_of_any_form_survive_a_restart() {
    let folder = Folder::new("names");
    let path = folder.0.join("state");
    let names = [
        "token acme",
        "token acme 1 3",
        "token a@b.example",
        "token Müller & Söhne",
        "token \"quoted\" 100% + more",
        "token two\nlines",
        "token ",
        "token",
        "",
    ];
    let daily = Daily::open(MOST, &path).unwrap();
    for (name, keys) in names.iter().zip(1..) {
        take(&daily, name, keys, on(7)).unwrap();
    }
    drop(daily);
    let daily = Daily::open(MOST, &path).unwrap();
    for (name, keys) in names.iter().zip(1..) {
        let left = Full::KeysOfToday { asks: 100, left: 100 - keys, of: 100 };
        assert_eq!(full(take(&daily, name, 100, on(7))), left, "{name:?}");
    }
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("token%20acme 1 1\n") && text.is_ascii(), "{text}");
}

#[test]
fn a_file_of_the_first_version_is_read_and_written_anew() {
    let folder = Folder::new("old");
    let path = folder.0.join("state");
    let key = "SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek";
    let old = format!("{OLD_TITLE}\nday 7\n{key} 1 40\ntoken acme 1 3\ntoken b 2 2 5\n");
    fs::write(&path, old).unwrap();
    let daily = Daily::open(MOST, &path).unwrap();
    let new = format!("{TITLE}\nday 7\n{key} 1 40\ntoken%20acme 1 3\ntoken%20b%202 2 5\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), new);
    let left = Full::KeysOfToday { asks: 100, left: 97, of: 100 };
    assert_eq!(full(take(&daily, "token acme", 100, on(7))), left);
    assert_eq!(full(take(&daily, "token b 2", 0, on(7))), Full::RunsOfToday(2));
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_stays_and_its_file_is_counted_in_and_locked() {
    let folder = Folder::new("link");
    fs::create_dir(folder.0.join("disk")).unwrap();
    let (file, link) = (folder.0.join("disk/state"), folder.0.join("link"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    // What a link without a file should mean nobody knows.
    assert!(Daily::open(MOST, &link).is_err());
    fs::write(&file, format!("{TITLE}\nday 7\na 1 60\n")).unwrap();
    let daily = Daily::open(MOST, &link).unwrap();
    let second = Daily::open(MOST, &file).unwrap_err();
    assert!(second.why.ends_with("another process uses this file"), "{second}");
    take(&daily, "a", 40, on(7)).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    drop(daily);
    let daily = Daily::open(MOST, &file).unwrap();
    assert_eq!(full(take(&daily, "a", 1, on(7))), Full::RunsOfToday(2));
    assert!(Daily::open(MOST, &link).is_err());
}

#[cfg(unix)]
#[test]
fn a_file_with_several_names_is_refused() {
    let folder = Folder::new("hard");
    let [one, other] = ["one", "other"].map(|name| folder.0.join(name));
    drop(Daily::open(MOST, &one).unwrap());
    fs::hard_link(&one, &other).unwrap();
    for name in [&one, &other] {
        let refused = Daily::open(MOST, name).unwrap_err();
        assert!(refused.why.ends_with("several names (hard links)"), "{refused}");
    }
    fs::remove_file(other).unwrap();
    Daily::open(MOST, &one).unwrap();
}

#[test]
fn a_count_that_cannot_be_written_admits_nobody() {
    let folder = Folder::new("unwritable");
    let daily = Daily::open(MOST, &folder.0.join("state")).unwrap();
    let away = folder.0.with_extension("away");
    fs::rename(&folder.0, &away).unwrap();
    assert!(matches!(take(&daily, "a", 1, on(7)), Err(Denied::File(_))));
    fs::rename(&away, &folder.0).unwrap();
    take(&daily, "a", 100, on(7)).unwrap();
}

#[test]
fn files_of_others_beside_the_counts_stay_as_they_are() {
    let folder = Folder::new("beside");
    let names = ["state.new", "state.0123456789abcdef.new"];
    for name in names {
        fs::write(folder.0.join(name), "not ours").unwrap();
    }
    let daily = Daily::open(MOST, &folder.0.join("state")).unwrap();
    take(&daily, "a", 1, on(7)).unwrap();
    for name in names {
        assert_eq!(fs::read_to_string(folder.0.join(name)).unwrap(), "not ours");
    }
    // Nothing is left but the counts and their lock.
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2 + names.len());
}

#[test]
fn runs_side_by_side_are_admitted_as_often_as_the_limit_says() {
    let daily = Arc::new(Daily::in_memory(MostPerDay { runs: Some(5), keys: None }));
    let runs = (0..30).map(|_| Arc::clone(&daily));
    let runs = runs.map(|daily| std::thread::spawn(move || take(&daily, "a", 1, on(7)).is_ok()));
    let runs: Vec<_> = runs.collect();
    assert_eq!(runs.into_iter().filter_map(|run| run.join().unwrap().then_some(())).count(), 5);
}

#[test]
fn a_file_with_other_content_is_refused_by_its_line() {
    let good = format!("{TITLE}\nday 7\na 1 2\nb 3 4\n");
    assert_eq!(Used::parse(&good).unwrap().text(), good);
    for (text, line) in [
        (String::new(), 1),
        ("x\nday 7\n".into(), 1),
        (format!("{TITLE}\n"), 2),
        (format!("{TITLE}\nday 07\n"), 2),
        (format!("{TITLE}\nday 99999999999999999\n"), 2),
        (format!("{TITLE}\nday 7"), 2),
        (format!("{TITLE}\nday 7\na 1\n"), 3),
        (format!("{TITLE}\nday 7\na 1 2\na 1 2\n"), 4),
        (format!("{TITLE}\nday 7\na 1 2 3\n"), 3),
        (format!("{TITLE}\nday 7\na 1 2"), 3),
        (format!("{TITLE}\nday 7\na%2g 1 2\n"), 3),
        // One encoding of a name only.
        (format!("{TITLE}\nday 7\n%61 1 2\n"), 3),
        (format!("{TITLE}\nday 7\na%c3%bc 1 2\n"), 3),
        (format!("{TITLE}\nday 7\na@b 1 2\n"), 3),
        (format!("{OLD_TITLE}\nday 7\n 1 2\n"), 3),
        (format!("{OLD_TITLE}\nday 7\na 1\n"), 3),
        (format!("{OLD_TITLE}\nday 7\na 1 x\n"), 3),
    ] {
        let wrong = Used::parse(&text).map_err(|(line, _)| line);
        assert_eq!(wrong, Err(line), "{text:?}");
    }
    let folder = Folder::new("damaged");
    let path = folder.0.join("state");
    fs::write(&path, format!("{TITLE}\nday 7\na 1 2\ntoken b 1 2\n")).unwrap();
    let refused = Daily::open(MOST, &path).unwrap_err().to_string();
    assert!(refused.contains("line 4 is damaged") && refused.contains("repair"), "{refused}");
}
