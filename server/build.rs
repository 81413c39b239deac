//! Builds again when the site to embed is another one, and packs what the loader relocates.

fn main() {
    println!("cargo:rerun-if-env-changed=MOESCAPE_SITE_DIR");
    if std::env::var_os("CARGO_FEATURE_EMBED_SITE").is_some()
        && let Ok(directory) = std::env::var("MOESCAPE_SITE_DIR")
    {
        println!("cargo:rerun-if-changed={directory}");
    }
    // A bit for each address in place of 24 bytes: 2.4 MB of the binary. Needs glibc 2.36.
    if std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|it| it == "gnu") {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
