//! Data directory of a server: what it finds in there, and who else may read it.

use std::path::Path;
use std::process::{Command, Output};

use crate::client::{Server, data};

const DATABASE: &str = "moescape.sqlite";

/// Starts a server that is to refuse.
fn serve(data: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_moescape"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data).output().unwrap()
}

#[tokio::test]
async fn a_server_does_not_start_on_a_file_that_is_damaged_or_not_ours() {
    let home = tempfile::tempdir().unwrap();
    let good = home.path().join("good");
    std::fs::create_dir(&good).unwrap();
    let server = Server::start(&good);
    server.begin().await;
    server.interrupt();
    server.wait();
    let good = std::fs::read(good.join(DATABASE)).unwrap();
    type Spoil = fn(&Path, &[u8]);
    let spoils: &[(&str, &str, Spoil)] = &[
        ("a directory", "isn't a file", |file, _| std::fs::create_dir(file).unwrap()),
        ("a text", "isn't a database", |file, _| std::fs::write(file, "x".repeat(9_000)).unwrap()),
        ("cut off", "is damaged", |file, good| {
            std::fs::write(file, &good[..good.len() / 2]).unwrap();
        }),
        ("overwritten behind its first page", "is damaged", |file, good| {
            let mut bytes = good.to_vec();
            bytes[4_096..].fill(0x55);
            std::fs::write(file, bytes).unwrap();
        }),
        ("overwritten at its beginning", "isn't a database", |file, good| {
            let mut bytes = good.to_vec();
            bytes[..100].fill(0x55);
            std::fs::write(file, bytes).unwrap();
        }),
        ("empty beside a log", "holds changes of it", |file, _| {
            std::fs::write(file, "").unwrap();
            std::fs::write(file.with_file_name("moescape.sqlite-wal"), "x").unwrap();
        }),
        ("gone beside a log", "holds changes of it", |file, _| {
            std::fs::write(file.with_file_name("moescape.sqlite-wal"), "x").unwrap();
        }),
        ("without its log", "holds no tables", |file, _| {
            let connection = rusqlite::Connection::open(file).unwrap();
            connection.pragma_update(None, "journal_mode", "wal").unwrap();
        }),
        ("of another program", "another program", |file, _| {
            let connection = rusqlite::Connection::open(file).unwrap();
            connection.execute_batch("CREATE TABLE notes (text)").unwrap();
        }),
        ("of a later version", "newer version", |file, good| {
            std::fs::write(file, good).unwrap();
            let connection = rusqlite::Connection::open(file).unwrap();
            connection.pragma_update(None, "user_version", 99).unwrap();
        }),
        ("robbed of a table", "review_snapshot", |file, good| {
            std::fs::write(file, good).unwrap();
            let connection = rusqlite::Connection::open(file).unwrap();
            connection.execute_batch("DROP TABLE review_snapshot").unwrap();
        }),
    ];
    for (name, why, spoil) in spoils {
        let data = home.path().join(name);
        std::fs::create_dir(&data).unwrap();
        let file = data.join(DATABASE);
        spoil(&file, &good);
        let refused = serve(&data);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0), "{name}: {said}");
        let file = file.display().to_string();
        for part in [file.as_str(), why, "moescape restore"] {
            assert!(said.contains(part), "{name}: {said}");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_server_keeps_is_its_owners_alone_and_becomes_so_where_it_was_not() {
    use std::os::unix::fs::PermissionsExt;

    let home = data();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let widen = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let (data, copy) = (home.path().join("data"), home.path().join("copy"));
    let mut serve = Command::new(env!("CARGO_BIN_EXE_moescape"));
    // It makes the directory, and then finds that it can't listen.
    serve.args(["serve", "--listen", "1.2.3.4:1", "--data"]).arg(&data).output().unwrap();
    assert_eq!(mode(&data), 0o700);
    let server = Server::start(&data);
    server.begin().await;
    let trace = "step,layer,expert,tokens\n1,0,0,3\n1,0,1,5\n";
    assert_eq!(server.send("POST", "/api/v1/traces", &[], trace).await.status, 201);
    let mut files = ["", "-wal", "-shm"].map(|end| data.join(format!("{DATABASE}{end}"))).to_vec();
    files.push(data.join("moescape.lock"));
    files.push(std::fs::read_dir(data.join("traces")).unwrap().next().unwrap().unwrap().path());
    let modes =
        |files: &[std::path::PathBuf]| files.iter().map(|file| mode(file)).collect::<Vec<_>>();
    assert_eq!(modes(&files), [0o600; 5]);
    assert_eq!(mode(&data.join("traces")), 0o700);
    let mut backup = Command::new(env!("CARGO_BIN_EXE_moescape"));
    backup.arg("backup").arg("--data").arg(&data).arg("--to").arg(&copy).output().unwrap();
    let copied = [copy.join(DATABASE), copy.join("manifest.json")];
    assert_eq!((mode(&copy), modes(&copied)), (0o700, vec![0o600; 2]));
    server.kill();
    files.iter().for_each(|file| widen(file, 0o664));
    widen(&data.join("traces"), 0o755);
    widen(&data, 0o755);
    let server = Server::start(&data);
    assert_eq!(modes(&files), [0o600; 5]);
    assert_eq!((mode(&data.join("traces")), mode(&data)), (0o700, 0o755), "that is its owner's");
    let log = std::fs::read_to_string(data.join("server.log")).unwrap();
    assert!(log.contains("could use 6 files"), "{log}");
    drop(server);
}
