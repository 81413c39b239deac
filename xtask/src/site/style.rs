//! One style sheet out of several: `@import "./x.css";` lines are replaced by the file's text.
//!
//! A browser would fetch imports one after the other; that is all that a bundler would mend here.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The sheet with its imports inlined, in order.
pub(crate) fn bundle(main: &Path) -> Result<String> {
    let mut bundle = String::new();
    inline(main, &mut Vec::new(), &mut bundle)?;
    Ok(bundle)
}

fn inline<'a>(sheet: &'a Path, above: &mut Vec<&'a Path>, bundle: &mut String) -> Result<()> {
    let text = fs::read_to_string(sheet).with_context(|| format!("no {}", sheet.display()))?;
    for (index, line) in text.lines().enumerate() {
        let Some(import) = line.trim_start().strip_prefix("@import") else {
            bundle.push_str(line);
            bundle.push('\n');
            continue;
        };
        let place = format!("{}:{}", sheet.display(), index + 1);
        let Some(name) = import.trim().strip_prefix("\"./").and_then(|s| s.strip_suffix("\";"))
        else {
            bail!("{place}: only lines such as `@import \"./tokens.css\";` can be inlined");
        };
        let imported = sheet.with_file_name(name);
        if imported == sheet || above.contains(&imported.as_path()) {
            bail!("{place}: {name} imports itself");
        }
        let mut above: Vec<&Path> = above.clone();
        above.push(sheet);
        inline(&imported, &mut above, bundle)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheets(name: &str, sheets: &[(&str, &str)]) -> std::path::PathBuf {
        let directory = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        for (sheet, text) in sheets {
            fs::write(directory.join(sheet), text).unwrap();
        }
        directory.join("main.css")
    }

    #[test]
    fn imports_are_replaced_by_their_text_in_order() {
        let main = sheets(
            "style-order",
            &[
                ("main.css", "@import \"./a.css\";\n@import \"./b.css\";\nmain {}\n"),
                ("a.css", "a {}\n"),
                ("b.css", "b {}\n"),
            ],
        );
        assert_eq!(bundle(&main).unwrap(), "a {}\nb {}\nmain {}\n");
    }

    #[test]
    fn a_circle_of_imports_is_an_error_and_not_an_endless_loop() {
        let main = sheets(
            "style-circle",
            &[("main.css", "@import \"./a.css\";\n"), ("a.css", "@import \"./main.css\";\n")],
        );
        let error = bundle(&main).unwrap_err().to_string();
        assert!(error.contains("a.css:1: main.css imports itself"), "{error}");
    }

    #[test]
    fn an_import_that_cannot_be_inlined_names_its_line() {
        let main = sheets("style-url", &[("main.css", "a {}\n@import url(x.css);\n")]);
        let error = bundle(&main).unwrap_err().to_string();
        assert!(error.contains("main.css:2"), "{error}");
    }

    #[test]
    fn text_has_only_the_sizes_of_the_scale() {
        let style = Path::new(env!("CARGO_MANIFEST_DIR")).join("../style");
        let sheet = bundle(&style.join("main.css")).unwrap();
        let sizes = sheet.lines().filter_map(|line| line.trim().strip_prefix("font-size: "));
        let own = |size: &&str| !size.starts_with("var(--") && *size != "100%;";
        let other: Vec<&str> = sizes.filter(own).collect();
        assert_eq!(other, Vec::<&str>::new(), "sizes are tokens of style/tokens.css");
    }
}
