use super::*;

fn write_set(set: &[(PathBuf, &[u8])]) -> Result<(), Failure> {
    let begin = |(path, content): &(PathBuf, &[u8])| {
        let mut draft = Draft::begin(Access::Secret, path, content.len() as u64)?;
        // In pieces, as they come.
        content.chunks(2).try_for_each(|piece| draft.append(piece))?;
        Ok::<_, Failure>(draft)
    };
    put_in_place(Existing::Replaced, set.iter().map(begin).collect::<Result<_, _>>()?)
}

#[test]
fn no_file_appears_when_one_of_them_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good");
    let bad = folder.path().join("missing").join("bad");
    assert!(write_set(&[(good.clone(), b"x"), (bad, b"y")]).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    write_set(&[(good.clone(), b"x")]).unwrap();
    assert_eq!(fs::read(good).unwrap(), b"x");
}

#[test]
fn a_draft_is_synced_while_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let mut draft = Draft::begin(Access::Secret, &folder.path().join("keys"), 3).unwrap();
    draft.append(b"x").unwrap();
    assert_eq!(draft.unsynced.0, 1);
    draft.unsynced = Unsynced(SYNC - 1);
    draft.append(b"y").unwrap();
    assert_eq!(draft.unsynced.0, SYNC);
    draft.append(b"z").unwrap();
    assert_eq!(draft.unsynced.0, 0);
}

#[test]
fn two_names_of_one_file_are_recognised_before_it_exists() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    let same = ["./out", "sub/../out"];
    for there in [false, true] {
        assert!(same.iter().all(|name| are_one(&at("out"), &at(name))), "{there}");
        assert!(!are_one(&at("out"), &at("sub/out")) && !are_one(&at("out"), &at("other")));
        assert!(!are_one(&at("no/out"), &at("no/other")));
        fs::write(at("out"), "x").unwrap();
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../out", at("sub/link")).unwrap();
        fs::hard_link(at("out"), at("hard")).unwrap();
        assert!(are_one(&at("hard"), &at("out")));
        fs::remove_file(at("out")).unwrap();
        assert!(are_one(&at("sub/link"), &at("out")), "a link to what is not there yet");
    }
}

#[test]
fn a_set_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    let set =
        |content: &'static [u8]| ["a", "b", "c"].map(|name| (folder.path().join(name), content));
    write_set(&set(b"old")).unwrap();
    write_set(&set(b"new")).unwrap();
    for (path, content) in set(b"new") {
        assert_eq!(fs::read(path).unwrap(), content);
    }
    let [first, ..] = set(b"other");
    assert!(write_secret(Existing::Kept, &first.0, first.1).is_err());
    assert_eq!(fs::read(first.0).unwrap(), b"new");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn secret_files_are_readable_by_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    write_set(&[(path.clone(), b"x")]).unwrap();
    assert_eq!(mode(&path), 0o600);
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    write_set(&[(path.clone(), b"y")]).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[cfg(unix)]
fn write_rows(path: &Path, rows: &[u8]) {
    let mut draft = Draft::begin(Access::Usual, path, rows.len() as u64).unwrap();
    draft.append(rows).unwrap();
    put_in_place(Existing::Replaced, vec![draft]).unwrap();
}

#[cfg(unix)]
#[test]
fn other_files_have_the_mode_that_the_umask_says_or_keep_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, theirs] = ["rows", "another"].map(|name| folder.path().join(name));
    write_rows(&ours, b"x");
    fs::write(&theirs, "x").unwrap();
    assert_eq!(mode(&ours), mode(&theirs));
    for kept in [0o600, 0o664, 0o444] {
        fs::set_permissions(&ours, PermissionsExt::from_mode(kept)).unwrap();
        write_rows(&ours, b"y");
        assert_eq!((mode(&ours), fs::read(&ours).unwrap()), (kept, b"y".to_vec()));
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_leaves_its_group() {
    use std::os::unix::fs::chown;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    write_rows(&path, b"x");
    // Root may give it to any group; others are perhaps in another than that of their files.
    let other = fs::metadata(&path).unwrap().gid() + 1;
    let gid = if chown(&path, None, Some(other)).is_ok() { other } else { other - 1 };
    fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    write_rows(&path, b"y");
    assert_eq!((fs::metadata(&path).unwrap().gid(), mode(&path)), (gid, 0o640));
    assert_eq!(fs::read(&path).unwrap(), b"y");
}

#[cfg(unix)]
#[test]
fn a_replaced_file_gives_a_new_group_no_access_and_others_no_more() {
    for (mode, in_its_group, in_another) in [
        (0o644, 0o644, 0o604),
        (0o660, 0o660, 0o600),
        (0o604, 0o604, 0o600),
        (0o647, 0o647, 0o604),
        (0o100_777, 0o777, 0o707),
    ] {
        assert_eq!((kept_mode(mode, true), kept_mode(mode, false)), (in_its_group, in_another));
    }
}

#[test]
fn a_name_that_only_a_folder_could_have_is_no_place() {
    let folder = tempfile::tempdir().unwrap();
    let name = |last: &str| PathBuf::from(format!("{}/{last}", folder.path().display()));
    let mut names = vec![name("new/"), name("new/."), name("new//"), name("new/..")];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("new/", name("link")).unwrap();
        names.push(name("link"));
    }
    for name in &names {
        let refused = check_place(name).unwrap_err();
        assert!(refused.message().ends_with(" is a directory"), "{}", refused.message());
    }
    assert!(check_place(&name("new")).is_ok());
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_stays_and_its_target_is_written() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let [first, second, link, loop_] =
        ["first", "inner/second", "link", "loop"].map(|name| folder.path().join(name));
    fs::create_dir(folder.path().join("inner")).unwrap();
    symlink("inner/second", &first).unwrap();
    // Nothing is behind it yet; then there is.
    symlink(&first, &link).unwrap();
    for rows in [b"x", b"y"] {
        write_rows(&link, rows);
        assert_eq!(fs::read(&second).unwrap(), rows);
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_dir(folder.path().join("inner")).unwrap().count(), 1);
    symlink("loop", &loop_).unwrap();
    assert!(Draft::begin(Access::Usual, &loop_, 0).is_err());
}

#[test]
fn an_input_is_no_place_for_a_result_by_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let [set, hard, other, link] =
        ["set", "hard", "other", "link"].map(|name| folder.path().join(name));
    fs::write(&set, "x").unwrap();
    fs::write(&other, "x").unwrap();
    let around = folder.path().join(".").join("set");
    let mut names = vec![set.clone(), around];
    #[cfg(unix)]
    {
        fs::hard_link(&set, &hard).unwrap();
        std::os::unix::fs::symlink("set", &link).unwrap();
        names.extend([hard.clone(), link]);
    }
    for name in &names {
        let apart = |path: &Path, other: &Path| check_apart("-o", path, ("the input file", other));
        let refused = apart(name, &set).unwrap_err();
        assert!(refused.message().starts_with("-o names the input file "), "{}", refused.message());
        assert!(apart(name, &other).is_ok() && apart(name, Path::new("missing")).is_ok());
        assert!(apart(&folder.path().join("new"), &set).is_ok());
    }
    assert_eq!(fs::read(&set).unwrap(), b"x");
}

#[test]
fn an_abandoned_draft_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let mut draft = Draft::begin(Access::Usual, &path, 2).unwrap();
    draft.append(b"xy").unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    drop(draft);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
