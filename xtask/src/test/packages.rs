//! Packages that a cold build compiles, by what is built: how many, and how many of them in two
//! versions. Seconds of a build differ between machines; these repeat, and only fall.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};

use crate::command;
use crate::workspace::Workspace;

/// What is built, and the limits of its packages.
struct Build {
    /// Arguments that name it to cargo.
    package: &'static str,
    max_packages: usize,
    /// Packages of which there are two versions or more.
    max_twice: usize,
}

/// Builds of `cargo xtask serve`. Whoever brings a number down lowers its limit.
const BUILDS: [Build; 3] = [
    Build { package: "xtask", max_packages: 69, max_twice: 2 },
    Build {
        package: "module-explorer --target wasm32-unknown-unknown",
        max_packages: 197,
        max_twice: 5,
    },
    Build { package: "server", max_packages: 394, max_twice: 16 },
];

/// Fails with every build that has more packages than it may.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut complaints = Vec::new();
    for Build { package, max_packages, max_twice } in BUILDS {
        let line = format!("tree --prefix none --edges normal,build --package {package}");
        let tree = command::output(&mut workspace.cargo(line.split(' ')))?;
        let versions = versions(&tree);
        let packages: usize = versions.values().map(BTreeSet::len).sum();
        let twice = versions.iter().filter(|(_, versions)| versions.len() > 1);
        let twice: Vec<&str> = twice.map(|(name, _)| *name).collect();
        if packages > max_packages {
            complaints.push(format!("{package} is built of {packages}, not {max_packages}"));
        }
        if twice.len() > max_twice {
            let names = twice.join(", ");
            complaints.push(format!(
                "{package} has {} packages in two versions, not {max_twice}: {names}",
                twice.len()
            ));
        }
    }
    ensure!(complaints.is_empty(), "packages: {}", complaints.join("\n"));
    Ok(())
}

/// The versions of each package in what `cargo tree` prints: a line is `name v1.2.3 (…)`.
fn versions(tree: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in tree.lines() {
        let mut words = line.split(' ');
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            versions.entry(name).or_default().insert(version);
        }
    }
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_is_named_twice_counts_once_and_its_versions_apart() {
        let tree = "app v0.1.0 (/src/app)\nsyn v2.0.1\nsyn v2.0.1 (*)\nsyn v1.0.9 (proc-macro)\n";
        let found = versions(tree);
        assert_eq!(found["syn"].len(), 2);
        assert_eq!(found["app"].len(), 1);
    }
}
