//! The reference itself reads what is written here; only where it is installed.

use std::fs;
use std::process::Command;

use super::super::save;
use super::{Format, data};

/// `SCL_REFERENCE` is the path of the reference's command `texts`; `tests/io/record.py` and this agree on how it is called.
#[test]
fn the_reference_reads_what_is_written_here() {
    let Some(texts) = std::env::var_os("SCL_REFERENCE") else {
        eprintln!("skipped: SCL_REFERENCE does not say where the reference is");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let printed = fs::read_to_string(data("printed.txt")).unwrap();
    let (mut program, mut expected) = (String::new(), Vec::new());
    for (i, line) in printed.lines().enumerate() {
        let [file, kind, print] = line.splitn(3, '\t').collect::<Vec<_>>().try_into().unwrap();
        let path = data("recorded").join(file);
        let value = Format::of(&path).unwrap().document(&fs::read(&path).unwrap()).unwrap();
        save(&value, &directory.path().join(file)).unwrap();
        program += &format!("x{i} = {kind} from file '{file}'; print(x{i})\n");
        expected.push(print);
    }
    fs::write(directory.path().join("program.scl"), program).unwrap();
    let arguments = ["script", "-f", "program.scl", "-m", "deferred"];
    let output = Command::new(texts).args(arguments).current_dir(directory.path()).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = stdout.lines().filter(|line| !line.ends_with(">>>") && *line != "<<<").collect();
    assert_eq!(lines, expected);
}
