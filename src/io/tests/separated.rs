//! Tables of text with separators.

use std::path::Path;

use super::*;

fn table(text: &str) -> Result<String, String> {
    read(text, "t.csv", LoadKind::Table)
}

fn read(text: &str, name: &str, kind: LoadKind) -> Result<String, String> {
    let format = Format::of(Path::new(name)).unwrap();
    format.load(text.as_bytes(), kind).map(|value| value.to_string()).map_err(|fault| format!("{} {}", fault.code, fault.message))
}

#[test]
fn columns_have_names_units_and_types() {
    let cases = [
        (
            "T [K],rate [1/s],label\n300.0,0.021,a\n310.0,,b\n",
            "((T: 300.0, 310.0) [kelvin], (rate: 0.021, null) [1 / second], (label: 'a', 'b'))",
        ),
        ("a,b\n1,2.5\n2,3\n", "((a: 1, 2), (b: 2.5, 3.0))"),
        ("ok,none\ntrue,\nFALSE,\n,\n", "((ok: true, false, null), (none: null, null, null))"),
        ("p [bar],id [text]\n,007\n,\n", "((p: null, null) [bar], (id: '007', null))"),
        ("x\n1e-3\nnan\n-inf\n", "((x: 0.001, nan, -inf))"),
        ("x [m],z\n1.0+/-0.1,1.0+2.0j\n2.0 ± 0.5,-1j\n", "((x: 1.0 ± 0.1, 2.0 ± 0.5) [meter], (z: 1.0+2.0 j, 0.0-1.0 j))"),
        ("# by hand\n\na;b [m^2/s]\n 1 ; 2\n# later\n3;4\n", "((a: 1, 3), (b: 2, 4) [meter ** 2 / second])"),
        ("\u{feff}name\n\"a, b\"\n\"say \"\"so\"\"\"\n", "((name: 'a, b', 'say \"so\"'))"),
        ("a,b\r\n1,2\r\n", "((a: 1), (b: 2))"),
        ("a,b\n", "((a:), (b:))"),
        ("# c\nx\n1\n\n3\n\n\n", "((x: 1, null, 3))"),
        ("a,b\n1,2\n# the end", "((a: 1), (b: 2))"),
        ("x\n\n1\n# c\n\n# d\n3\n\n# the end\n", "((x: null, 1, null, 3))"),
        ("x\n\"a\n\nb\"\nc\n", "((x: 'a\n\nb', 'c'))"),
        ("\"a, b\";c\n1;2\n", "(('a, b': 1), (c: 2))"),
        ("a,b\n5\" pipe,\"say \"\"so\"\"\"\n", "((a: '5\" pipe'), (b: 'say \"so\"'))"),
    ];
    for (text, expected) in cases {
        assert_eq!(table(text).as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(read("a\tb\n1\t2\n", "t.tsv", LoadKind::Table).as_deref(), Ok("((a: 1), (b: 2))"));
    assert_eq!(read("a [m]\n1\n2\n", "t.csv", LoadKind::Series).as_deref(), Ok("(a: 1, 2) [meter]"));
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_column() {
    let cases = [
        ("", "E0642 there is no line with the names of the columns"),
        ("# nothing\n", "E0642 there is no line with the names of the columns"),
        ("a,b\n1,2\n3\n", "E0643 line 3 has 1 cell, the first line 2"),
        ("a,a\n1,2\n", "E0404 Repeating column names were found in table: column 'a' stands there twice"),
        ("a\n\"unclosed\n1\n", "E0648 the quote in line 2 is never closed"),
        ("a,b\n1,\"x\"\n2,\"y\n", "E0648 the quote in line 3 is never closed"),
        ("a,\n1,2\n", "E0645 column 2 has no name"),
        ("1.5,2\n3,4\n", "E0645 the first line must name the columns, but has the number 1.5"),
        ("a [m,b\n1,2\n", "E0646 'a [m' is no name of a column with its unit"),
        ("a [metre per second],b\n1,2\n", "E0612 column 'a': 'metre per second' is not a product of units"),
        ("a [furlog]\n1\n", "E0612 column 'a': unit 'furlog' is not defined"),
        ("T [K]\n300\nn/a\n", "E0647 line 3, column 'T': 'n/a' is no number"),
        ("a\n1\ntrue\n", "E0647 line 3, column 'a': 'true' is no number"),
        ("a\ntrue\n1\n", "E0647 line 3, column 'a': '1' is neither true nor false"),
        ("a;b\n1,5;2\n", "E0647 line 2, column 'a': '1,5' has a decimal comma"),
        (
            "a\n99999999999999999999\n",
            "E0403 column 'a': integer 99999999999999999999 does not fit into a series, whose integers have 64 bits",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(table(text), Err(expected.to_owned()), "{text}");
    }
    let series = read("a,b\n1,2\n", "t.csv", LoadKind::Series);
    assert_eq!(series, Err("E0644 there are 2 columns, but a series has one".to_owned()));
    let number = read("a\n1\n", "t.csv", LoadKind::Quantity);
    assert!(number.unwrap_err().starts_with("E0640"));
}

#[test]
fn what_would_not_be_read_back_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.csv");
    let series = |name: &str, data: Column| Value::from(Series::new(name, data, Default::default()));
    let strings = |cells: &[&str]| Column::from_strings(cells.iter().map(|cell| Some(*cell))).unwrap();
    let refused = [
        Value::from(1.5),
        series("", Column::from(vec![1_i64])),
        series("1", Column::from(vec![1_i64])),
        series("a [b", Column::from(vec![1_i64])),
        series("a", strings(&[""])),
        series("a", strings(&[" b"])),
        Value::from(Table::new(Vec::new()).unwrap()),
    ];
    for value in refused {
        assert_eq!(save(&value, &path).map_err(|fault| fault.code), Err("E0641".to_owned()), "{value}");
    }
    assert!(!path.exists());
    assert_eq!(save(&series("a", strings(&["1", "# b", "c"])), &path), Ok(Saved::Written));
    assert_eq!(fs::read_to_string(&path).unwrap(), "a [text]\n1\n\"# b\"\nc\n");
}
