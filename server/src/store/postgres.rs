//! The store in PostgreSQL: an address, and a session there that comes back by itself.

use std::cell::Cell;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, config};

use super::fault::{Cause, StoreError};
use super::names::BUSY_TIMEOUT;
use super::sql::{self, Param, Row, Value};
use super::tables::{MIGRATIONS, NEWEST, Tables};

/// Longest time to make a connection, and longest silence of one that is used.
const MAX_CONNECT: Duration = Duration::from_secs(5);
const MAX_SILENCE: Duration = Duration::from_secs(10);

/// The lock that all writers of a database take, one after the other: "Moescape" in ASCII.
const LOCK: i64 = i64::from_be_bytes(*b"Moescape");

/// Address of PostgreSQL: `postgres://USER@HOST/DATABASE`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    config: Box<Config>,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let takes = "takes the address of a PostgreSQL database, such as \
                     postgres://moescape@127.0.0.1/moescape";
        if !["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err(takes.to_owned());
        }
        let mut config: Config = text.parse().map_err(|_| takes.to_owned())?;
        if config.get_user().is_none() || config.get_dbname().is_none() {
            return Err(format!("{takes}: with a user and a database"));
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(format!("{takes}: with a host"));
        }
        if config.get_ssl_mode() == config::SslMode::Require {
            return Err("speaks no TLS itself: leave out `sslmode`, and reach the database by a \
                        socket of this machine, a private network or a tunnel"
                .to_owned());
        }
        config
            .application_name("moescape")
            .ssl_mode(config::SslMode::Disable)
            .connect_timeout(MAX_CONNECT)
            .tcp_user_timeout(MAX_SILENCE)
            .keepalives_idle(MAX_SILENCE)
            .keepalives_interval(Duration::from_secs(3))
            .keepalives_retries(3);
        Ok(Self { config: Box::new(config) })
    }
}

/// Without the password that it may have.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [user, database] = [self.config.get_user(), self.config.get_dbname()];
        write!(f, "postgres://{}@", user.unwrap_or_default())?;
        for (place, host) in self.config.get_hosts().iter().enumerate() {
            let before = if place == 0 { "" } else { "," };
            match host {
                config::Host::Tcp(name) => write!(f, "{before}{name}")?,
                #[cfg(unix)]
                config::Host::Unix(path) => {
                    write!(f, "{before}{}", path.display().to_string().replace('/', "%2F"))?;
                }
            }
            let ports = self.config.get_ports();
            if let Some(port) = ports.get(place).or_else(|| ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", database.unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A connection to PostgreSQL, used by one thread, and made anew where it was lost.
#[derive(Debug)]
pub(crate) struct Session {
    address: Address,
    runtime: Runtime,
    client: Option<Client>,
    /// Whether a statement of the transaction failed: what came before is gone then.
    has_failed: Cell<bool>,
}

/// Result of a look at a database.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) server: String,
    pub(crate) encoding: String,
    pub(crate) tables: Tables,
    /// Whether it keeps what it acknowledges through a crash of its machine.
    pub(crate) is_durable: bool,
    /// Whether tables may be made.
    pub(crate) may_create: bool,
    /// Milliseconds since 1970, by the database's clock.
    pub(crate) now_millis: i64,
}

impl Session {
    /// A session at an address, connected.
    pub(crate) fn open(address: &Address) -> Result<Self, StoreError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StoreError::thread)?;
        let (client, has_failed) = (None, Cell::new(false));
        let mut session = Self { address: address.clone(), runtime, client, has_failed };
        session.connect()?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<(), StoreError> {
        let connected = self.runtime.block_on(self.address.config.connect(NoTls));
        let (client, connection) = connected.map_err(|error| self.explain(&error))?;
        self.runtime.spawn(connection);
        let setup = format!(
            "SET synchronous_commit = on; SET lock_timeout = {busy}; \
             SET statement_timeout = {slow}; SET idle_in_transaction_session_timeout = {slow}; \
             SET client_min_messages = warning",
            busy = BUSY_TIMEOUT.as_millis(),
            slow = (BUSY_TIMEOUT * 6).as_millis(),
        );
        let set = self.runtime.block_on(client.batch_execute(&setup));
        set.map_err(|error| self.explain(&error))?;
        self.client = Some(client);
        Ok(())
    }

    fn explain(&self, error: &tokio_postgres::Error) -> StoreError {
        let (cause, detail) = parts(error);
        StoreError::new(cause, format!("{}: {detail}", self.address))
    }

    /// Runs work in one transaction. Writers of all servers take turns, from its begin on, as those
    /// of a file of SQLite do: so that what is read in it is what is there when it ends.
    pub(super) fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Self) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        self.begin()?;
        let done = work(self).map_err(StoreError::from).and_then(|value| {
            if self.has_failed.get() {
                return Err(StoreError::new(Cause::Other, "a statement failed unnoticed"));
            }
            self.batch("COMMIT").map_err(StoreError::from).map(|()| value)
        });
        if done.is_err() && self.batch("ROLLBACK").is_err() {
            // Whatever it was at is taken back when the database sees it gone.
            self.client = None;
        }
        done
    }

    /// Begins, on a new connection where the old one is lost: nothing has been done on it yet.
    fn begin(&mut self) -> Result<(), StoreError> {
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_advisory_xact_lock({LOCK})"
        );
        let is_new = self.client.is_none();
        if is_new {
            self.connect()?;
        }
        self.has_failed.set(false);
        let Err(error) = self.batch(&begin) else { return Ok(()) };
        let error = StoreError::from(error);
        if error.cause() != Cause::Away {
            if self.batch("ROLLBACK").is_err() {
                self.client = None;
            }
            return Err(error);
        }
        self.client = None;
        if is_new {
            return Err(error);
        }
        tracing::warn!(%error, "the connection to PostgreSQL was lost; it is made anew");
        self.connect()?;
        self.batch(&begin).map_err(StoreError::from)
    }

    fn client(&self) -> sql::Result<&Client> {
        self.client.as_ref().ok_or_else(|| sql::Error::value("there is no connection"))
    }

    fn noted<T>(&self, done: Result<T, tokio_postgres::Error>) -> sql::Result<T> {
        self.has_failed.set(self.has_failed.get() || done.is_err());
        Ok(done?)
    }

    /// Executes statements without parameters.
    pub(super) fn batch(&self, sql: &str) -> sql::Result<()> {
        let client = self.client()?;
        self.noted(self.runtime.block_on(client.batch_execute(sql)))
    }

    /// Executes a statement; returns the number of rows that it made, changed or removed.
    pub(super) fn execute(&self, sql: &str, params: &[Param<'_>]) -> sql::Result<usize> {
        let (client, sql) = (self.client()?, numbered(sql));
        let done = self.runtime.block_on(client.execute_typed(&sql, &typed(params)));
        Ok(self.noted(done)? as usize)
    }

    /// All rows that a statement gives.
    pub(super) fn rows(&self, sql: &str, params: &[Param<'_>]) -> sql::Result<Vec<Row>> {
        let (client, sql) = (self.client()?, numbered(sql));
        let found = self.runtime.block_on(client.query_typed(&sql, &typed(params)));
        self.noted(found)?.iter().map(values).collect()
    }

    fn one<T: sql::FromValue>(&self, sql: &str) -> sql::Result<T> {
        self.rows(sql, &[])?.first().ok_or(sql::Error::NoRow)?.get(0)
    }

    /// Owner and version of the tables in the schema that new ones come into.
    pub(super) fn tables(&self) -> sql::Result<Tables> {
        let there = "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace(\
                     quote_ident(current_schema())) AND relkind IN ('r', 'p', 'v', 'm', 'f')";
        if self.one::<i64>("SELECT to_regclass('moescape') IS NOT NULL")? == 0 {
            let is_empty = self.one::<i64>(there)? == 0;
            return Ok(if is_empty { Tables::None } else { Tables::Foreign });
        }
        let version: i64 = self.one("SELECT version FROM moescape")?;
        Ok(match usize::try_from(version) {
            Ok(known) if (1..=NEWEST).contains(&known) => Tables::Ours(known),
            Ok(newer) if newer > NEWEST => Tables::Newer(version as i32),
            Ok(_) | Err(_) => Tables::Foreign,
        })
    }

    /// Brings the tables to [`NEWEST`], where they can be; returns what they were.
    pub(super) fn migrate(&self) -> sql::Result<Tables> {
        let tables = self.tables()?;
        let version = match tables {
            Tables::None => 0,
            Tables::Ours(version) => version,
            Tables::Newer(_) | Tables::Without(_) | Tables::Foreign => return Ok(tables),
        };
        for migration in &MIGRATIONS[version..] {
            self.batch(&translated(migration))?;
        }
        if version == 0 {
            self.batch(&format!(
                "CREATE TABLE moescape (version BIGINT NOT NULL); \
                 INSERT INTO moescape VALUES ({NEWEST})"
            ))?;
        } else if version != NEWEST {
            self.batch(&format!("UPDATE moescape SET version = {NEWEST}"))?;
        }
        Ok(tables)
    }

    /// Writes as everything does that is kept: what is there already.
    pub(crate) fn probe(&mut self) -> Result<(), StoreError> {
        let written = self.in_transaction(|session| {
            session.execute("UPDATE moescape SET version = version", &[])
        })?;
        if written == 1 {
            return Ok(());
        }
        Err(StoreError::new(Cause::Gone, "the table `moescape` has lost its row"))
    }

    /// Bytes that the database takes.
    pub(super) fn bytes(&self) -> sql::Result<u64> {
        let bytes: i64 = self.one("SELECT pg_database_size(current_database())")?;
        Ok(bytes.unsigned_abs())
    }

    /// Looks at the database, and changes nothing.
    pub(crate) fn look(&self) -> Result<Look, StoreError> {
        let may_create = "SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)";
        Ok(Look {
            server: self.one("SELECT current_setting('server_version')")?,
            encoding: self.one("SELECT current_setting('server_encoding')")?,
            tables: self.tables()?,
            is_durable: self.one("SELECT current_setting('fsync') = 'on'")?,
            may_create: self.one(may_create)?,
            now_millis: self
                .one("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)")?,
        })
    }
}

/// A statement with parameters as PostgreSQL numbers them. No text in one has a question mark.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

/// Tables of SQLite as PostgreSQL has them: with a `rowid` where SQLite has one.
fn translated(tables: &str) -> String {
    tables
        .replace(") STRICT, WITHOUT ROWID;", ");")
        .replace(") STRICT;", ", rowid BIGINT GENERATED ALWAYS AS IDENTITY);")
        .replace("INTEGER", "BIGINT")
        .replace("BLOB", "BYTEA")
}

fn typed<'a>(params: &'a [Param<'_>]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    let typed = |param: &'a Param<'_>| -> (&'a (dyn ToSql + Sync), Type) {
        match param {
            Param::Integer(number) => (number, Type::INT8),
            Param::Text(text) => (text, Type::TEXT),
            Param::Blob(bytes) => (bytes, Type::BYTEA),
            Param::Any => (&None::<&str>, Type::UNKNOWN),
        }
    };
    params.iter().map(typed).collect()
}

fn values(row: &tokio_postgres::Row) -> sql::Result<Row> {
    let value = |(place, column): (usize, &tokio_postgres::Column)| {
        let kind = column.type_();
        Ok(if *kind == Type::INT8 {
            row.try_get::<_, Option<i64>>(place)?.map(Value::Integer)
        } else if *kind == Type::INT4 {
            row.try_get::<_, Option<i32>>(place)?.map(|number| Value::Integer(number.into()))
        } else if *kind == Type::BOOL {
            row.try_get::<_, Option<bool>>(place)?.map(|is| Value::Integer(is.into()))
        } else if *kind == Type::BYTEA {
            row.try_get::<_, Option<Vec<u8>>>(place)?.map(Value::Blob)
        } else {
            row.try_get::<_, Option<String>>(place)?.map(Value::Text)
        }
        .unwrap_or(Value::Null))
    };
    row.columns().iter().enumerate().map(value).collect::<sql::Result<_>>().map(Row)
}

/// Cause and text of an error of PostgreSQL.
fn parts(error: &tokio_postgres::Error) -> (Cause, String) {
    let Some(said) = error.as_db_error() else {
        let source = std::error::Error::source(error).map(ToString::to_string);
        let detail = source.map_or_else(|| error.to_string(), |why| format!("{error}: {why}"));
        let text = error.to_string();
        let begins = |starts: [&str; 2]| starts.iter().any(|start| text.starts_with(start));
        let cause = if begins(["error deserializing", "error serializing"]) {
            Cause::Other
        } else if begins(["invalid configuration", "authentication error"]) {
            // The address lacks what it asks for, such as a password: waiting brings none.
            Cause::Denied
        } else {
            // All else that isn't the database's own answer is the way there.
            Cause::Away
        };
        return (cause, detail);
    };
    let code = said.code();
    let is = |codes: &[SqlState]| codes.contains(code);
    let cause = if is(&[SqlState::DISK_FULL]) {
        Cause::Full
    } else if is(&[SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::INSUFFICIENT_PRIVILEGE]) {
        Cause::ReadOnly
    } else if is(&[SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED]) {
        Cause::Damaged
    } else if is(&[SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN]) {
        Cause::Gone
    } else if is(&[SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED]) {
        Cause::Busy
    } else if is(&[SqlState::QUERY_CANCELED]) {
        Cause::Slow
    } else if code.code().starts_with("57P") || code.code().starts_with("08") {
        Cause::Away
    } else if code.code().starts_with("28") || is(&[SqlState::INVALID_CATALOG_NAME]) {
        Cause::Denied
    } else {
        Cause::Other
    };
    (cause, format!("{} ({})", said.message(), code.code()))
}

impl From<&tokio_postgres::Error> for StoreError {
    fn from(error: &tokio_postgres::Error) -> Self {
        let (cause, detail) = parts(error);
        Self::new(cause, format!("PostgreSQL: {detail}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_no_password_and_can_be_given_back() {
        for (text, shown) in [
            ("postgres://me:secret@db:5433/moescape", "postgres://me@db:5433/moescape"),
            ("postgresql://me@a,b/moescape", "postgres://me@a:5432,b:5432/moescape"),
            ("postgres://me:secret@%2Frun/moescape", "postgres://me@%2Frun:5432/moescape"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), shown);
            assert!(shown.parse::<Address>().is_ok());
        }
    }

    #[test]
    fn what_is_no_address_is_refused_and_why() {
        for (text, why) in [
            ("db", "takes the address"),
            ("mysql://me@db/moescape", "takes the address"),
            ("postgres://db/moescape", "with a user"),
            ("postgres://me@db", "with a user and a database"),
            ("postgres://me@/moescape", "with a host"),
            ("postgres://me@db/moescape?sslmode=require", "no TLS"),
        ] {
            let refused = text.parse::<Address>().unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }

    #[test]
    fn tables_of_both_databases_are_the_same() {
        let all: String = MIGRATIONS.iter().map(|tables| translated(tables)).collect();
        assert!(!all.contains("STRICT") && !all.contains("INTEGER") && !all.contains("BLOB"));
        // All but the events, which SQLite has without one, too.
        assert_eq!(all.matches("rowid BIGINT").count(), all.matches("CREATE TABLE").count() - 1);
        assert_eq!(numbered("a = ?1 AND b = ?12"), "a = $1 AND b = $12");
    }
}
