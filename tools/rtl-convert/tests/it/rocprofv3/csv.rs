use crate::rocprofv3::{Folder, HAZARDS, hostile_names, read, story_of_names};

/// The rows of a file as cells; quotes may hold anything.
fn cells(folder: &Folder, name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.path(name)).unwrap();
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            other => cell.push(other),
        }
    }
    assert!(!quoted && cell.is_empty() && row.is_empty(), "{name} ends within a row");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{name} has rows of several lengths");
    rows
}

#[test]
fn a_set_is_byte_for_byte_what_rocprofv3_writes() {
    let Some(shared) = support::shared() else { return };
    let golden = shared.join("golden/rocprofv3");
    let folder = Folder::new();
    folder.answer(&format!(
        "{} -o out --to rocprofv3-csv",
        shared.join("traces/made/rocprofv3-rank0.db").display()
    ));
    let mut compared = 0;
    for file in
        std::fs::read_dir(&golden).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap())
    {
        if !file.ends_with(".csv") {
            continue;
        }
        let sorted = |text: String| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            // Rows come as the source has them: of markers and calls the database has instants behind the others.
            lines[1..].sort();
            lines
        };
        let expected = sorted(std::fs::read_to_string(golden.join(&file)).unwrap());
        let written = sorted(std::fs::read_to_string(folder.path(&format!("out_{file}"))).unwrap());
        // The golden files keep the `.kd` of kernel names, which a real rocprofv3 does not.
        let expected: Vec<String> = expected.into_iter().map(|line| line.replace(".kd\"", "\"")).collect();
        assert_eq!(written, expected, "{file}");
        compared += 1;
    }
    assert_eq!(compared, 12);
}

#[test]
fn hazards_have_a_row_for_each_record() {
    for (what, story) in HAZARDS {
        let folder = Folder::story(story);
        let answer = folder.answer("in.db -o run --to rocprofv3-csv");
        assert!(folder.files().contains(&"run_agent_info.csv".to_owned()), "{what}: {answer}");
        let tables = read(&folder.path("in.db"));
        let valid =
            tables.dispatches.iter().filter(|row| row.duration.is_some_and(|length| length >= 0)).count();
        let lists =
            [("kernel", valid), ("marker_api", tables.ranges.len()), ("memory_copy", tables.copies.len())];
        for (list, count) in lists {
            let [trace, stats] = ["trace", "stats"].map(|end| format!("run_{list}_{end}.csv"));
            assert_eq!(folder.files().contains(&trace), count > 0, "{what} {list}");
            assert_eq!(folder.files().contains(&stats), count > 0, "{what} {list}");
            if count > 0 {
                assert_eq!(cells(&folder, &trace).len() - 1, count, "{what} {list}");
                let calls: usize =
                    cells(&folder, &stats)[1..].iter().map(|row| row[1].parse::<usize>().unwrap()).sum();
                assert_eq!(calls, count, "{what} {list}");
            }
        }
    }
}

#[test]
fn an_empty_trace_has_agents_only() {
    let folder = Folder::story("");
    assert_eq!(
        folder.answer("in.db -o run --to rocprofv3-csv"),
        "Written run_agent_info.csv: 0 rows in, 0 out\n"
    );
}

#[test]
fn what_is_unknown_is_empty() {
    let folder = Folder::story(HAZARDS[2].1);
    folder.answer("in.db -o run.csv --to rocprofv3-csv");
    assert_eq!(
        cells(&folder, "run_kernel_trace.csv")[1],
        [
            "KERNEL_DISPATCH",
            "Agent 6",
            "2",
            "",
            "",
            "1",
            "1",
            "gemm",
            "0",
            "10",
            "20",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            ""
        ]
    );
    let agents = cells(&folder, "run_agent_info.csv");
    assert_eq!(agents[0].len(), 53);
    assert_eq!((agents[2][0].as_str(), agents[2][2].as_str()), ("6", "GPU"));
}

#[test]
fn hostile_names_stay_within_their_cells() {
    let names = hostile_names();
    let folder = Folder::story(&story_of_names(&names));
    folder.answer("in.db -o run --to rocprofv3-csv");
    let kernels: Vec<String> =
        cells(&folder, "run_kernel_trace.csv")[1..].iter().map(|row| row[7].clone()).collect();
    assert_eq!(kernels, names);
    let mut ranges: Vec<String> =
        cells(&folder, "run_marker_api_stats.csv")[1..].iter().map(|row| row[0].clone()).collect();
    let mut expected = names;
    ranges.sort();
    expected.sort();
    assert_eq!(ranges, expected);
}

#[test]
fn in_a_folder_the_pid_is_the_name() {
    let folder = Folder::story(
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('pid', '4243');
         INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 10, 20, 'gemm');",
    );
    std::fs::create_dir(folder.path("set")).unwrap();
    folder.answer("in.db -o set --to rocprofv3-csv");
    for name in ["agent_info", "kernel_trace", "kernel_stats", "domain_stats"] {
        assert!(folder.path(&format!("set/4243_{name}.csv")).is_file(), "{name}");
    }
    let (code, _, messages) = folder.run("in.db -o set --to rocprofv3-csv");
    assert_eq!(code, 2);
    assert!(messages.contains("exists\nhint: --force replaces it"), "{messages}");
}

#[test]
fn one_file_in_the_way_keeps_the_whole_set_from_appearing() {
    let folder = Folder::story(HAZARDS[2].1);
    std::fs::write(folder.path("run_kernel_stats.csv"), "precious").unwrap();
    let (code, _, messages) = folder.run("in.db -o run --to rocprofv3-csv");
    assert_eq!(
        (code, messages.as_str()),
        (2, "rtl-convert: error: run_kernel_stats.csv exists\nhint: --force replaces it\n")
    );
    assert_eq!(folder.files(), ["in.db", "run_kernel_stats.csv"]);
    folder.answer("in.db -o run --to rocprofv3-csv --force");
    assert_eq!(cells(&folder, "run_kernel_stats.csv")[1][0], "gemm");
}

#[test]
fn names_are_full_mangled_or_short_in_every_format() {
    let folder = Folder::story(
        "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 10, 20, '_Z3addIfEvPT_.kd');",
    );
    for (how, name) in [("full", "void add<float>(float*)"), ("mangled", "_Z3addIfEvPT_"), ("short", "add")] {
        folder.answer(&format!("in.db -o run --to rocprofv3-csv --force --names {how}"));
        assert_eq!(cells(&folder, "run_kernel_trace.csv")[1][7], name);
        assert_eq!(cells(&folder, "run_kernel_stats.csv")[1][0], name);
        for file in ["run_results.json", "run_results.db"] {
            folder.answer(&format!("in.db -o {file} --force --names {how}"));
            let tables = read(&folder.path(file));
            assert_eq!(tables.strings.get(tables.dispatches.name[0]), name, "{file}");
        }
    }
}

#[test]
fn parts_have_files_of_their_own_in_every_format() {
    let folder = Folder::story(
        "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 10, 20, 'one'), (3, 0, 10, 20, 'two');",
    );
    folder.answer("in.db -o run_results.json --split gpu");
    folder.answer("in.db -o run_results.db --split gpu");
    folder.answer("in.db -o run --to rocprofv3-csv --split gpu");
    let expected =
        |file: &str| assert!(folder.files().contains(&file.to_owned()), "{file}: {:?}", folder.files());
    ["run.gpu0_results.json", "run.gpu3_results.json", "run.gpu3_results.db"].into_iter().for_each(expected);
    expected("run.gpu3_kernel_trace.csv");
    assert_eq!(cells(&folder, "run.gpu3_kernel_trace.csv")[1][7], "two");
}

#[test]
fn a_folder_that_is_missing_is_created_and_stays_only_with_files() {
    let folder =
        Folder::story("INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 10, 20, 'gemm');");
    folder.answer("in.db -o new/ --to rocprofv3-csv");
    let names = std::fs::read_dir(folder.path("new")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().any(|name| name.to_str().unwrap().ends_with("_kernel_trace.csv")));
    assert_ne!(folder.run("in.db -o other/ --to rocprofv3-csv --range nowhere").0, 0);
    let (code, _, messages) = folder.run("in.db -o no/such/ --to rocprofv3-csv");
    assert!(code == 2 && messages.contains("cannot create no/such/"), "{messages}");
    assert_eq!(folder.files(), ["in.db", "new"]);
}
