//! A file is there as a whole or not at all, and never takes the place of another.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Barrier;

use super::super::{Files, Saved, save};
use crate::value::Value;

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_same_again_is_done_already() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a.json", "a.yaml", "a.json.zz", "a.yml.zz"] {
        let path = directory.path().join(name);
        assert_eq!(save(&Value::from(1.5), &path).unwrap(), Saved::Written, "{name}");
        assert_eq!(save(&Value::from(1.5), &path).unwrap(), Saved::AlreadyThere, "{name}");
    }
    assert_eq!(names(directory.path()), ["a.json", "a.json.zz", "a.yaml", "a.yml.zz"]);
}

#[test]
fn the_same_value_in_other_words_is_done_already() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.yaml");
    let text = "{_fw_name: \"{{x.FWQuantity}}\", data: [15.0e-1, []]} # by hand\n";
    fs::write(&path, text).unwrap();
    assert_eq!(save(&Value::from(1.5), &path).unwrap(), Saved::AlreadyThere);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn another_content_stays() {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in [("a.json", "2"), ("b.json", "not JSON"), ("c.json.zz", ""), ("d.yaml", "1.5\n")] {
        let path = directory.path().join(name);
        fs::write(&path, content).unwrap();
        assert_eq!(save(&Value::from(1.5), &path).unwrap_err().code, "E0615", "{name}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    assert_eq!(names(directory.path()).len(), 4);
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let files = Files { base: directory.path().to_owned() };
    let code = |path: &str| files.save(&Value::from(1), path).unwrap_err().code;
    assert_eq!(code("missing/a.json"), "E0616");
    assert_eq!(code("a.h5"), "E0607");
    assert_eq!(code("a.csv"), "E0641");
    assert_eq!(code(""), "E0601");
    assert_eq!(files.save(&Value::Function("math.sin".into()), "f.json").unwrap_err().code, "E0618");
    assert!(names(directory.path()).is_empty());
    fs::create_dir(directory.path().join("d.json")).unwrap();
    assert_eq!(code("d.json"), "E0603");
    std::os::unix::fs::symlink("nowhere", directory.path().join("l.json")).unwrap();
    assert_eq!(code("l.json"), "E0603");
    assert_eq!(names(directory.path()), ["d.json", "l.json"]);
}

#[test]
fn a_directory_that_cannot_be_written_is_a_fault() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(directory.path().join("probe"), "").is_ok() {
        eprintln!("skipped: root may write everywhere");
        return;
    }
    let fault = save(&Value::from(1), &directory.path().join("a.json")).unwrap_err();
    assert_eq!(fault.code, "E0617");
    assert!(names(directory.path()).is_empty());
}

#[test]
fn of_many_at_once_one_writes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.json");
    let barrier = Barrier::new(8);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8i64)
            .map(|i| {
                let (path, barrier) = (&path, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    save(&Value::from(i / 2), path)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |wanted: &str| outcomes.iter().filter(|outcome| format!("{outcome:?}").contains(wanted)).count();
    assert_eq!((count("Written"), count("AlreadyThere"), count("E0615")), (1, 1, 6));
    assert_eq!(names(directory.path()), ["a.json"]);
}
