//! Writes what goes beside the binary into an archive and comes of its commands: completions of
//! bash, zsh and fish, manual pages, and a file of settings with what holds without it.
//!
//!     cargo run --package server --example shipped -- DIR

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap_complete::{Shell, generate_to};

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        eprintln!("error: name a directory to write to");
        return ExitCode::from(2);
    };
    match write(Path::new(&directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: can't write to {}: {error}", Path::new(&directory).display());
            ExitCode::FAILURE
        }
    }
}

fn write(directory: &Path) -> io::Result<()> {
    let (completions, pages) = (directory.join("completions"), directory.join("man/man1"));
    fs::create_dir_all(&completions)?;
    fs::create_dir_all(&pages)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut server::cli::command(), "moescape", &completions)?;
    }
    clap_mangen::generate_to(server::cli::command().disable_help_subcommand(true), &pages)?;
    fs::write(directory.join("moescape.toml"), server::cli::example_settings())
}
