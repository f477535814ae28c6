//! What was recorded from the reference (`tests/io`, see `record.py` there), faults, and hostile input.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::value::{Column, Quantity, Series, Table};

mod reference;
mod round_trip;
mod saving;
mod separated;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/io").join(name)
}

/// Files recorded from the reference, by name.
fn recorded() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(data("recorded")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path)).collect();
    files.sort();
    assert!(files.len() > 60, "the recorded files are missing");
    files
}

fn kind(name: &str) -> LoadKind {
    KINDS.into_iter().find(|kind| format!("{kind:?}") == name).unwrap()
}

const KINDS: [LoadKind; 11] = [
    LoadKind::Quantity,
    LoadKind::Bool,
    LoadKind::String,
    LoadKind::Series,
    LoadKind::Table,
    LoadKind::BoolArray,
    LoadKind::StrArray,
    LoadKind::IntArray,
    LoadKind::FloatArray,
    LoadKind::ComplexArray,
    LoadKind::Structure,
];

#[test]
fn recorded_files_print_as_in_the_reference() {
    let printed = fs::read_to_string(data("printed.txt")).unwrap();
    let mut wrong = Vec::new();
    for line in printed.lines() {
        let [file, name, expected] = line.splitn(3, '\t').collect::<Vec<_>>().try_into().unwrap();
        match load(kind(name), &data("recorded").join(file)) {
            Ok(value) if value.to_string() == expected => {}
            Ok(value) => wrong.push(format!("{file}: {value} instead of {expected}")),
            Err(fault) => wrong.push(format!("{file}: {}", fault.message)),
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The tree is the same for every file; the bytes are too, in YAML, unless a line is broken there.
#[test]
fn recorded_files_are_written_again_as_they_were() {
    for (name, path) in recorded() {
        let format = Format::of(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        let value = format.document(&bytes).unwrap();
        let again = format.save(&value).unwrap();
        assert_eq!(format.node(&again).unwrap(), format.node(&bytes).unwrap(), "{name}");
        let same_layout = name.ends_with(".yaml") && name != "long.yaml";
        if same_layout {
            assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(bytes).unwrap(), "{name}");
        }
    }
}

#[test]
fn cut_and_changed_files_never_panic() {
    for (_, path) in recorded() {
        let bytes = fs::read(&path).unwrap();
        let format = Format::of(&path).unwrap();
        for cut in (0..bytes.len()).step_by(1 + bytes.len() / 40) {
            let _ = format.document(&bytes[..cut]);
            let mut changed = bytes.clone();
            changed[cut] = b"{}[]\":,-0a\n\x00\xff"[cut % 13];
            if let Ok(value) = format.document(&changed) {
                // What is still a value can be written, or is refused.
                let _ = format.save(&value);
            }
        }
    }
}

/// A file of this name and text is refused with this message, `FILE` standing for its path.
fn refused(kind: LoadKind, name: &str, text: impl AsRef<[u8]>, message: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    let fault = load(kind, &path).unwrap_err();
    assert_eq!(fault.message, message.replace("FILE", path.to_str().unwrap()));
}

fn quantity(data: &str) -> String {
    format!("{{\"data\": {data}, \"_fw_name\": \"{{{{virtmat.language.utilities.serializable.FWQuantity}}}}\"}}")
}

#[test]
fn another_type_is_refused() {
    refused(LoadKind::Quantity, "a.yaml", "3.5\n...\n", "'FILE': type must be Quantity but is Float");
    refused(LoadKind::Quantity, "a.json", "{\"x\": 1}", "'FILE': type must be Quantity but is Dict");
    refused(LoadKind::Bool, "a.yaml", "text\n", "'FILE': type must be Boolean but is String");
    refused(LoadKind::String, "a.yaml", "12\n", "'FILE': type must be String but is Integer");
    refused(LoadKind::Table, "a.json", "[]", "'FILE': type must be Table but is Tuple");
    refused(LoadKind::Series, "a.json", quantity("[1, []]"), "'FILE': type must be Series but is Quantity");
    refused(LoadKind::Structure, "a.json", quantity("[1, []]"), "'FILE': type must be AMMLStructure but is Quantity");
}

#[test]
fn narrower_numbers_are_read_as_they_are() {
    for kind in [LoadKind::FloatArray, LoadKind::ComplexArray] {
        assert_eq!(load(kind, &data("recorded").join("grid.json")).unwrap().to_string(), "[[1, 2, 3], [4, 5, 6]]");
    }
    assert!(load(LoadKind::ComplexArray, &data("recorded").join("speeds.json")).is_ok());
}

#[test]
fn another_element_type_is_refused() {
    for (kind, file, message) in [
        (LoadKind::IntArray, "speeds.json", "datatype must be Integer but is Float"),
        (LoadKind::FloatArray, "phases.yaml", "datatype must be Float but is Complex"),
        (LoadKind::BoolArray, "labels.yaml", "datatype must be Boolean but is String"),
    ] {
        let fault = load(kind, &data("recorded").join(file)).unwrap_err();
        assert!(fault.message.ends_with(message), "{}", fault.message);
    }
    let array = "{\"data\": [[1, 2.5], []], \"dtype\": \"int64\", \"_fw_name\": \"{{x.FWNumArray}}\"}";
    refused(LoadKind::IntArray, "a.json", array, "'FILE': datatype must be Integer but is Float");
}

#[test]
fn what_the_schema_does_not_allow_is_refused() {
    let refused = |text: &str, message: &str| refused(LoadKind::Quantity, "a.json", text, &format!("'FILE': {message}"));
    refused(&quantity("[1, [[\"mter\", 1]]]"), "unit 'mter' is not defined");
    refused(&quantity("[1, [[\"meter\"]]]"), "units must be a list of names with exponents but is Tuple");
    refused(&quantity("[1]"), "data of FWQuantity must be a pair but is a list of 1");
    refused(&quantity("3"), "data of FWQuantity must be a list but is Integer");
    refused(&quantity("[\"1\", []]"), "a magnitude must be a number but is String");
    refused("{\"_fw_name\": \"{{x.FWQuantity}}\"}", "data of FWQuantity must be there but is missing");
    refused("{\"_fw_name\": \"{{x.FWQuantity}}\", \"_version\": 18}", "version 18 of the schema is unknown; versions up to 17 can be read");
    refused("{\"_fw_name\": \"{{x.FWFoo}}\"}", "the schema has no class 'FWFoo'");
    refused("{\"_fw_name\": 1}", "the schema has no class ''");
    refused("[{\"_fw_name\": \"{{x.FWTrajectory}}\"}]", "type must be Quantity but is Tuple");
}

#[test]
fn series_tables_and_arrays_are_checked_inside() {
    let series = |data: &str, datatype: &str, name: &str| {
        format!("{{\"_fw_name\": \"{{{{x.FWSeries}}}}\", \"data\": {data}, \"datatype\": \"{datatype}\", \"name\": {name}}}")
    };
    let refused_series = |text: String, message: &str| refused(LoadKind::Series, "a.json", text, &format!("'FILE': {message}"));
    refused_series(series("[1, \"x\"]", "int", "\"v\""), "series 'v': element 1: a magnitude must be a number but is String");
    refused_series(
        series("[1, \"x\"]", "object", "\"v\""),
        "series 'v': Series elements must have one type but 2 types were found: Quantity, String",
    );
    refused_series(series("[1]", "int", "null"), "name of FWSeries must be a String but is missing");
    let table = |columns: [String; 2]| format!("{{\"_fw_name\": \"{{{{x.FWDataFrame}}}}\", \"data\": [{}]}}", columns.join(", "));
    let unequal = table([series("[1]", "int", "\"a\""), series("[1, 2]", "int", "\"b\"")]);
    refused(LoadKind::Table, "a.json", unequal, "'FILE': Table columns must have one size but 2 sizes were found: (1, 2)");
    let array =
        |data: &str, dtype: &str| format!("{{\"_fw_name\": \"{{{{x.FWNumArray}}}}\", \"data\": [{data}, []], \"dtype\": \"{dtype}\"}}");
    let refused_array = |text: String, message: &str| refused(LoadKind::IntArray, "a.json", text, &format!("'FILE': {message}"));
    refused_array(array("[[1], [1, 2]]", "int64"), "a row of an array must be of 1 elements but is 2");
    refused_array(array("[1, [2]]", "int64"), "an element of an array must be no list but is Tuple");
    refused_array(array("1", "int64"), "data of an array must be a list but is Integer");
    refused_array(array("[null]", "int64"), "an array cannot hold null");
    refused_array(array("[1]", "datetime64"), "dtype of FWNumArray must be one of numbers but is 'datetime64'");
}

#[test]
fn what_is_not_of_its_format_is_refused() {
    refused(LoadKind::Bool, "a.json", "tru", "'FILE': not well-formed JSON: line 1, column 1: a value is missing");
    refused(LoadKind::Bool, "a.yaml", "\n# empty\n", "'FILE': not well-formed YAML: line 1, column 1: the file is empty");
    refused(LoadKind::Bool, "a.json", b"\n\"\xff\"", "'FILE': not text in UTF-8: line 2 has a byte that cannot be");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.json.zz");
    fs::write(&path, "true").unwrap();
    assert_eq!(load(LoadKind::Bool, &path).unwrap_err().code, "E0614");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let files = Files { base: directory.path().to_owned() };
    fs::write(directory.path().join("energies.yaml"), "true\n").unwrap();
    fs::create_dir(directory.path().join("sub.yaml")).unwrap();
    assert!(matches!(files.load(LoadKind::Bool, "energies.yaml"), Ok(Value::Bool(true))));
    let fault = files.load(LoadKind::Bool, "energys.yaml").unwrap_err();
    assert_eq!(fault.message, "there is no file 'energys.yaml'");
    assert_eq!(fault.help.unwrap(), "did you mean 'energies.yaml', in the same directory?");
    let fault = files.load(LoadKind::Bool, "x/y.yaml").unwrap_err();
    assert_eq!(fault.help.unwrap(), "the directory does not exist either");
    assert_eq!(files.load(LoadKind::Bool, "").unwrap_err().code, "E0601");
    assert_eq!(files.load(LoadKind::Bool, "sub.yaml").unwrap_err().message, "'sub.yaml' is not a regular file");
}

#[test]
fn other_formats_are_named() {
    let message = |name: &str| load(LoadKind::Table, std::path::Path::new(name)).unwrap_err().message;
    assert_eq!(message("a.h5"), "HDF5 is not supported yet ('a.h5')");
    assert_eq!(message("a.parquet"), "Parquet is not supported yet ('a.parquet')");
    assert_eq!(message("a.txt"), "the suffix of 'a.txt' is not that of a supported format");
    assert_eq!(message("json"), "the suffix of 'json' is not that of a supported format");
    assert_eq!(message(".json"), "the suffix of '.json' is not that of a supported format");
}

#[test]
fn older_forms_are_read() {
    let value = |text: &str| Format::of("a.json".as_ref()).unwrap().document(text.as_bytes()).unwrap().to_string();
    assert_eq!(value(&quantity("[[1.0, 2.0], [[\"m\", 1], [\"s\", -0.5]]]")), "1.0+2.0 j [meter / second ** 0.5]");
    let series =
        "{\"_fw_name\": \"{{x.FWSeries}}\", \"name\": \"z\", \"data\": [[1.0, 2.0], null], \"datatype\": \"complex\", \"units\": \"ohm\"}";
    assert_eq!(value(series), "(z: 1.0+2.0 j, null) [ohm]");
    let arrays = "{\"_fw_name\": \"{{x.FWSeries}}\", \"name\": \"a\", \"datatype\": \"FWNumArray\", \"data\": [{\"_fw_name\": \"{{x.FWNumArray}}\", \
                  \"data\": [[1.0], [[\"meter\", 1]]], \"dtype\": \"float64\"}]}";
    assert_eq!(value(arrays), "(a: [1.0]) [meter]");
}

#[test]
fn null_goes_with_every_type() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("null.json");
    fs::write(&path, "null").unwrap();
    for kind in KINDS {
        assert!(load(kind, &path).unwrap().is_null());
    }
}

#[test]
fn uncertain_numbers_keep_their_uncertainty() {
    let number = crate::value::Uncertain::fresh(2.0, 0.5).unwrap();
    let series = Series::from_values("u", vec![Value::from(Quantity::from(number))]).unwrap();
    let node = encode::document(&series.into()).unwrap();
    assert_eq!(decode::document(node).unwrap().to_string(), "(u: 2.0 ± 0.5)");
}

#[test]
fn what_cannot_be_read_again_is_not_written() {
    let code = |value: Value| encode::document(&value).unwrap_err().code;
    assert_eq!(code(Value::Function("math.sin".into())), "E0618");
    let key = indexmap::IndexMap::from([("_version".into(), Value::Null)]);
    assert_eq!(code(key.into()), "E0618");
    let deep = (0..300).fold(Value::Null, |inner, _| Value::from(vec![inner]));
    assert_eq!(code(deep), "E0619");
    let columns = (0..150).fold(Value::Null, |inner, _| Series::from_values("s", vec![inner]).unwrap().into());
    assert_eq!(code(columns), "E0619");
}

#[test]
fn a_table_without_columns_is_one() {
    let node = encode::document(&Table::new(vec![]).unwrap().into()).unwrap();
    assert_eq!(decode::typed(node, LoadKind::Table).unwrap().to_string(), "()");
    let empty = Series::new("e", Column::from(Vec::<f64>::new()), crate::units::Unit::NONE);
    assert!(decode::document(encode::document(&empty.clone().into()).unwrap()).unwrap().same(&empty.into()));
}
