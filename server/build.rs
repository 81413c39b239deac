//! Builds again when the site to embed is another one.

fn main() {
    println!("cargo:rerun-if-env-changed=MOESCAPE_SITE_DIR");
    if std::env::var_os("CARGO_FEATURE_EMBED_SITE").is_some()
        && let Ok(directory) = std::env::var("MOESCAPE_SITE_DIR")
    {
        println!("cargo:rerun-if-changed={directory}");
    }
}
