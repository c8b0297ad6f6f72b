//! Small databases, written out in SQL so that every number of a test can be checked by hand.

use std::path::Path;

use rtl_schema::{NameId, Select, Tables, Trace};
use tempfile::NamedTempFile;

/// A SQLite file made by `sql`; it vanishes with the value.
pub(crate) fn database(sql: &str) -> NamedTempFile {
    let file = NamedTempFile::new().expect("a temporary file");
    let connection = rusqlite::Connection::open(file.path()).expect("a new database");
    connection
        .execute_batch("pragma foreign_keys = off; pragma journal_mode = off; begin")
        .expect("settings");
    connection.execute_batch(sql).expect("the statements of the fixture");
    connection.execute_batch("commit").expect("the end of the fixture");
    file
}

/// A trace that another tool recorded, unpacked; it vanishes with the value. Its name keeps its ending.
pub(crate) fn foreign(name: &str) -> NamedTempFile {
    let packed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/foreign").join(format!("{name}.gz"));
    let ending = name.rfind('.').map_or("", |at| &name[at..]);
    let mut file = tempfile::Builder::new().suffix(ending).tempfile().expect("a temporary file");
    let packed = std::fs::File::open(packed).expect("the fixture");
    std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut file).expect("its content");
    file
}

/// Everything in the database made by `sql`.
pub(crate) fn everything(sql: &str) -> Tables {
    selected(sql, &Select::everything())
}

/// The selected columns of the database made by `sql`.
pub(crate) fn selected(sql: &str, select: &Select) -> Tables {
    let file = database(sql);
    Trace::open(file.path()).expect("a trace").read(select).expect("its rows")
}

/// The texts behind `names`.
pub(crate) fn texts(tables: &Tables, names: impl IntoIterator<Item = NameId>) -> Vec<&str> {
    names.into_iter().map(|name| tables.strings.get(name)).collect()
}

/// The problems as `place count first`.
pub(crate) fn problems(tables: &Tables) -> Vec<String> {
    let text = |problem: &rtl_schema::Problem| {
        format!("{:?} {} {} {}", problem.kind, problem.place, problem.count, problem.first)
    };
    tables.problems.iter().map(text).collect()
}

/// rocm-trace-lite's tables, with `roctxId` as its later versions have it.
pub(crate) const LITE: &str = "
    create table rocpd_string (id integer primary key, string text unique);
    create table rocpd_op (id integer primary key, gpuId integer, queueId integer, sequenceId integer,
        completionSignal text, start integer, end integer, description_id integer, opType_id integer,
        roctxId integer default 0);
    create table rocpd_api (id integer primary key, pid integer, tid integer, start integer, end integer,
        apiName_id integer, args_id integer);
    create table rocpd_api_ops (id integer primary key, api_id integer, op_id integer);
    create table rocpd_kernelapi (api_id integer primary key, stream text, gridX integer, gridY integer,
        gridZ integer, workgroupX integer, workgroupY integer, workgroupZ integer, groupSegmentSize integer,
        privateSegmentSize integer, kernelName_id integer);
    create table rocpd_copyapi (api_id integer primary key, stream text, size integer, dst text, src text,
        kind integer, sync integer);
    create table rocpd_metadata (id integer primary key, tag text, value text);
    create table rocpd_monitor (id integer primary key, deviceType text, deviceId integer, monitorType text,
        start integer, end integer, value text);
";

/// RPD's tables of schema 3; foreign keys, which nothing enforces, are left out.
pub(crate) const RPD3: &str = "
    create table rocpd_metadata (id integer primary key autoincrement, tag varchar(4096), value varchar(4096));
    create table rocpd_string (id integer primary key autoincrement, string varchar(4096) not null);
    create table rocpd_ustring (id integer primary key autoincrement, string varchar(4096) not null);
    create table rocpd_api (id integer primary key autoincrement, pid integer not null, tid integer not null,
        start integer not null, end integer not null, apiName_id bigint not null, category_id bigint not null,
        domain_id bigint not null, args_id bigint not null);
    create table rocpd_copyapi (api_ptr_id bigint not null primary key, stream varchar(18) not null,
        size integer not null, width integer not null, height integer not null, kind integer not null,
        dst varchar(18) not null, src varchar(18) not null, dstDevice integer not null,
        srcDevice integer not null, sync bool not null, pinned bool not null);
    create table rocpd_kernelapi (api_ptr_id bigint not null primary key, stream varchar(18) not null,
        gridX integer not null, gridY integer not null, gridZ integer not null, workgroupX integer not null,
        workgroupY integer not null, workgroupZ integer not null, groupSegmentSize integer not null,
        privateSegmentSize integer not null, kernelName_id bigint not null);
    create table rocpd_op (id integer primary key autoincrement, gpuId integer not null,
        queueId integer not null, sequenceId integer not null, start integer not null, end integer not null,
        description_id bigint not null, opType_id bigint not null);
    create table rocpd_api_ops (id integer primary key autoincrement, api_id bigint not null,
        op_id bigint not null);
    create table rocpd_monitor (id integer primary key autoincrement, deviceType varchar(16) not null,
        deviceId integer not null, monitorType varchar(16) not null, start integer not null,
        end integer not null, value varchar(255) not null);
    create table rocpd_counter (id integer primary key autoincrement, value real not null,
        op_id bigint not null, name_id bigint not null);
    create table rocpd_stackframe (id integer primary key autoincrement, api_ptr_id bigint not null,
        depth integer not null, name_id bigint not null);
    insert into rocpd_metadata (tag, value) values
        ('gpu_stride', '1000'), ('pid_stride', '10000000'), ('schema_version', '3');
    insert into rocpd_string values (1, ''), (2, 'hip'), (3, 'UserMarker'), (4, 'KernelExecution'),
        (5, 'Task'), (6, 'CopyHostToDevice'), (7, 'CopyDeviceToHost'), (8, 'CopyDeviceToDevice'),
        (9, 'hipLaunchKernel'), (10, 'hipExtModuleLaunchKernel'), (11, 'hipMemcpyAsync'),
        (12, 'hipGraphLaunch'), (13, 'hipMemcpyPeer'), (14, 'gemm'), (15, 'softmax');
    insert into rocpd_ustring values (1, '');
";

/// RPD's tables of schema 2, as far as they differ in columns.
pub(crate) const RPD2: &str = "
    create table rocpd_metadata (id integer primary key autoincrement, tag varchar(4096), value varchar(4096));
    create table rocpd_string (id integer primary key autoincrement, string varchar(4096) not null);
    create table rocpd_api (id integer primary key autoincrement, pid integer not null, tid integer not null,
        start integer not null, end integer not null, apiName_id integer not null, args_id integer not null);
    create table rocpd_op (id integer primary key autoincrement, gpuId integer not null,
        queueId integer not null, sequenceId integer not null, completionSignal varchar(18) not null,
        start integer not null, end integer not null, description_id integer not null,
        opType_id integer not null);
    create table rocpd_api_ops (id integer primary key autoincrement, api_id integer not null,
        op_id integer not null);
    create table rocpd_kernelapi (api_ptr_id integer not null primary key, stream varchar(18) not null,
        gridX integer not null, gridY integer not null, gridZ integer not null, workgroupX integer not null,
        workgroupY integer not null, workgroupZ integer not null, groupSegmentSize integer not null,
        privateSegmentSize integer not null, kernelName_id integer not null);
    create table rocpd_copyapi (api_ptr_id integer not null primary key, stream varchar(18) not null,
        size integer not null, width integer not null, height integer not null, kind integer not null,
        dst varchar(18) not null, src varchar(18) not null, dstDevice integer not null,
        srcDevice integer not null, sync bool not null, pinned bool not null);
";
