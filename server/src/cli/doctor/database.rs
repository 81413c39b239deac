//! Checks of `moescape doctor` on a store in PostgreSQL. It makes no tables there.

use std::time::{Duration, SystemTime};

use super::Check;
use super::State::{Broken, Warning};
use crate::store::{self, Address, Cause, Session, Tables};

/// The oldest PostgreSQL that is tested.
const OLDEST: u32 = 15;

/// Largest difference between the clocks of server and database.
const MAX_DIFFERENCE: Duration = Duration::from_secs(5);

/// All checks of a database; if it can't be reached, that alone.
pub(super) fn all(address: &Address) -> Vec<Check> {
    let name = "store";
    let looked = Session::open(address).and_then(|session| Ok((session.look()?, session)));
    let (look, session) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            let todo = if error.cause() == Cause::Denied {
                "it answers, and refuses: see user, password and database of --store, whether \
                 they are there (`createuser`, `createdb`), and pg_hba.conf"
            } else if error.cause() == Cause::Away {
                "start PostgreSQL where --store says; see host, port and firewalls"
            } else {
                "see PostgreSQL's log"
            };
            return vec![Check::new(name, Broken, error.to_string(), todo)];
        }
    };
    let version = look.server.split('.').next().and_then(|first| first.parse::<u32>().ok());
    let found = format!("{address}, PostgreSQL {}", look.server);
    let mut checks = vec![if look.encoding != "UTF8" {
        let todo = "make the database with `ENCODING 'UTF8'`";
        Check::new(name, Broken, format!("{found}, encoding {}", look.encoding), todo)
    } else if !look.is_durable {
        let todo =
            "set `fsync = on`: without it a crash of its machine loses what was acknowledged";
        Check::new(name, Broken, format!("{found}, with fsync off"), todo)
    } else if version.is_none_or(|version| version < OLDEST) {
        let todo = format!("use PostgreSQL {OLDEST} or newer: older ones aren't tested");
        Check::new(name, Warning, found, todo)
    } else {
        Check::fine(name, found)
    }];
    checks.push(tables(&look.tables, look.may_create, session));
    checks.push(clock(look.now_millis));
    checks
}

fn tables(tables: &Tables, may_create: bool, mut session: Session) -> Check {
    let name = "tables";
    if let Some(complaint) = tables.complaint() {
        let todo = match tables {
            Tables::Newer(_) => {
                "start the newer program again; to stay with this one, restore a dump from before \
                 the upgrade, without what was kept since, or name another database by --store"
            }
            Tables::Without(_) => "restore a dump of it, or name another database by --store",
            Tables::Foreign | Tables::None | Tables::Ours(_) => "name another database by --store",
        };
        return Check::new(name, Broken, format!("the database {complaint}"), todo);
    }
    let &Tables::Ours(version) = tables else {
        if may_create {
            return Check::fine(name, "none yet: the server makes them");
        }
        let todo = "make the server's user the database's owner: `ALTER DATABASE ... OWNER TO ...`";
        return Check::new(name, Broken, "none, and this user may not make them", todo);
    };
    match session.probe() {
        Ok(()) => Check::fine(name, format!("version {version} of {}, written", store::NEWEST)),
        Err(error) => {
            let todo = "let the server's user write its tables; see room, and whether this is a \
                        standby";
            Check::new(name, Broken, error.to_string(), todo)
        }
    }
}

/// Links end, and events have their times, by the servers' clocks.
fn clock(database_millis: i64) -> Check {
    let name = "clock of the store";
    let here = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let there = Duration::from_millis(database_millis.unsigned_abs());
    let differs = here.abs_diff(there);
    let found = format!("{:.1} s from this machine's", differs.as_secs_f64());
    if differs <= MAX_DIFFERENCE {
        return Check::fine(name, found);
    }
    let todo = "set both clocks, as by NTP: links end by them";
    Check::new(name, Warning, found, todo)
}
