//! The built site: the explorer's WASM, glue and style under hashed names, and the public files.
//!
//! It comes out of the binary (feature `embed-site`) or from a directory, and is held in memory
//! either way: it is small, and a request can then never reach another file.

pub(crate) mod language;
pub(crate) mod choices;
pub(crate) mod translation;
pub mod guide;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fmt, fs, io};

use app::document::{ModuleFiles, SiteFiles};
use axum::body::Bytes;
use model::design::file::json;
use present::site::Module;

/// The file that names the hashed ones.
const NAMES: &str = "site.json";

/// The files of the site by their path, without a leading slash.
#[derive(Debug, Default)]
pub struct Site {
    files: BTreeMap<String, File>,
    names: Option<SiteFiles>,
}

/// One file as it is sent.
#[derive(Debug)]
pub(crate) struct File {
    /// The bytes as they are: from the start, or once somebody asks for them.
    plain: OnceLock<Bytes>,
    /// Bytes, compressed with brotli.
    pub(crate) brotli: Option<Bytes>,
    /// Media type of the bytes.
    pub(crate) content_type: String,
}

impl File {
    /// The bytes as they are, for those who take no brotli.
    pub(crate) fn plain(&self) -> &Bytes {
        self.plain.get_or_init(|| {
            let (mut packed, mut plain) = (self.brotli.as_deref().unwrap_or_default(), vec![]);
            let unpacked = brotli_decompressor::BrotliDecompress(&mut packed, &mut plain);
            debug_assert!(unpacked.is_ok(), "the site's build compressed it");
            plain.into()
        })
    }
}

/// Reason why a site can't be used.
#[derive(Debug)]
pub enum SiteError {
    /// A file can't be read.
    Read(PathBuf, io::Error),
    /// The file of names is missing or doesn't name what is there.
    Names(String),
}

impl fmt::Display for SiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "can't read {}: {error}", path.display()),
            Self::Names(detail) => write!(f, "{NAMES} of the site: {detail}"),
        }
    }
}

impl std::error::Error for SiteError {}

impl Site {
    /// No site: pages still come with their numbers, without style and without life.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The site in this binary; empty if it was built without.
    ///
    /// # Errors
    /// A site whose names don't fit its files.
    pub fn embedded() -> Result<Self, SiteError> {
        #[cfg(feature = "embed-site")]
        {
            let files = <embedded::Files as rust_embed::RustEmbed>::iter().filter_map(|path| {
                let file = <embedded::Files as rust_embed::RustEmbed>::get(&path)?;
                Some((path.into_owned(), file.data))
            });
            Self::from_files(files.collect())
        }
        #[cfg(not(feature = "embed-site"))]
        Ok(Self::none())
    }

    /// The site in a directory, read once.
    ///
    /// # Errors
    /// A file that can't be read; names that don't fit the files.
    pub fn from_directory(directory: &Path) -> Result<Self, SiteError> {
        let mut files = BTreeMap::new();
        let mut rest = vec![directory.to_owned()];
        while let Some(next) = rest.pop() {
            let read = |error| SiteError::Read(next.clone(), error);
            for entry in fs::read_dir(&next).map_err(read)? {
                let path = entry.map_err(read)?.path();
                if path.is_dir() {
                    rest.push(path);
                    continue;
                }
                let bytes =
                    fs::read(&path).map_err(|error| SiteError::Read(path.clone(), error))?;
                if let Some(name) = relative(&path, directory) {
                    files.insert(name, Cow::Owned(bytes));
                }
            }
        }
        Self::from_files(files)
    }

    fn from_files(mut raw: BTreeMap<String, Cow<'static, [u8]>>) -> Result<Self, SiteError> {
        let names = raw.remove(NAMES);
        let names = names.ok_or_else(|| SiteError::Names("it is missing".into()))?;
        let mut compressed = BTreeMap::new();
        raw.retain(|path, bytes| {
            let Some(of) = path.strip_suffix(".br") else { return true };
            compressed.insert(of.to_owned(), std::mem::take(bytes));
            false
        });
        let mut files: BTreeMap<String, File> = BTreeMap::new();
        for (path, plain) in raw {
            let (plain, brotli) = (shared(plain).into(), compressed.remove(&path).map(shared));
            let content_type = content_type(&path);
            files.insert(path, File { plain, brotli, content_type });
        }
        // A binary has the compressed ones alone.
        for (path, packed) in compressed {
            let (plain, brotli) = (OnceLock::new(), Some(shared(packed)));
            let content_type = content_type(&path);
            files.insert(path, File { plain, brotli, content_type });
        }
        let names = read_names(&names, &files).map_err(SiteError::Names)?;
        Ok(Self { files, names: Some(names) })
    }

    /// A file by its path, without a leading slash.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Every file with its path, without a leading slash.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The addresses of the hashed files; `None` without a site.
    pub(crate) fn names(&self) -> Option<&SiteFiles> {
        self.names.as_ref()
    }
}

/// Bytes that every answer has in common.
fn shared(bytes: Cow<'static, [u8]>) -> Bytes {
    match bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    }
}

/// The path below a directory with slashes, on every system.
fn relative(path: &Path, directory: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> =
        path.strip_prefix(directory).ok()?.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

fn read_names(bytes: &[u8], files: &BTreeMap<String, File>) -> Result<SiteFiles, String> {
    let text = String::from_utf8_lossy(bytes);
    let tree = json::parse(&text).map_err(|error| error.detail)?;
    let name = |path: &[&str]| {
        let value = path.iter().try_fold(&tree, |tree, key| tree.get(key));
        let address = value.and_then(|value| value.as_text());
        let address = address.ok_or_else(|| format!("it lacks `{}`", path.join(".")))?;
        if files.contains_key(address.trim_start_matches('/')) {
            Ok(address.to_owned())
        } else {
            Err(format!("it names {address}, which isn't there"))
        }
    };
    let module = |module: &Module| {
        let file = |kind| name(&["modules", module.name(), kind]);
        Ok((*module, ModuleFiles { js: file("js")?, wasm: file("wasm")? }))
    };
    let script = |key| name(&["scripts", key]);
    Ok(SiteFiles {
        modules: Module::ALL.iter().map(module).collect::<Result<_, String>>()?,
        worker: script("worker")?,
        share: script("share")?,
        import: script("import")?,
        save: script("save")?,
        find: script("find")?,
        finder: script("finder")?,
        habits: script("habits")?,
        early: script("early")?,
        folder: script("folder")?,
        css: name(&["css"])?,
        font: name(&["font"])?,
    })
}

fn content_type(path: &str) -> String {
    let guess = mime_guess::from_path(path).first_or_octet_stream();
    let is_text = guess.type_() == mime_guess::mime::TEXT;
    if is_text { format!("{guess}; charset=utf-8") } else { guess.to_string() }
}

#[cfg(feature = "embed-site")]
mod embedded {
    //! The directory that the build named.

    /// Its files.
    #[derive(rust_embed::RustEmbed)]
    #[folder = "$MOESCAPE_SITE_DIR"]
    pub(super) struct Files;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(names: &str) -> BTreeMap<String, Cow<'static, [u8]>> {
        let files = [
            (NAMES, names),
            ("pkg/app.1.js", "js"),
            ("pkg/app.1.js.br", "compressed js"),
            ("pkg/app_bg.1.wasm", "wasm"),
            ("pkg/app.1.css", "css"),
            ("pkg/inter.1.woff2", "font"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec().into()));
        files.into_iter().collect()
    }

    fn site(names: &str) -> Result<Site, SiteError> {
        Site::from_files(raw(names))
    }

    /// Names of a site whose modules and scripts are the same files.
    fn good() -> String {
        let module = |module: &Module| {
            format!(r#""{}":{{"js":"/pkg/app.1.js","wasm":"/pkg/app_bg.1.wasm"}}"#, module.name())
        };
        let scripts =
            ["worker", "share", "import", "save", "find", "finder", "habits", "early", "folder"];
        format!(
            r#"{{"css":"/pkg/app.1.css","font":"/pkg/inter.1.woff2",
            "modules":{{{}}},"scripts":{{{}}}}}"#,
            Module::ALL.iter().map(module).collect::<Vec<_>>().join(","),
            scripts.map(|name| format!(r#""{name}":"/pkg/app.1.js""#)).join(","),
        )
    }

    #[test]
    fn compressed_siblings_belong_to_their_files() {
        let site = site(&good()).unwrap();
        let js = site.file("pkg/app.1.js").unwrap();
        assert_eq!(js.brotli.as_deref(), Some("compressed js".as_bytes()));
        assert_eq!(js.content_type, "text/javascript; charset=utf-8");
        let wasm = site.file("pkg/app_bg.1.wasm").unwrap();
        assert_eq!((wasm.brotli.is_none(), wasm.content_type.as_str()), (true, "application/wasm"));
        assert!(site.file("pkg/app.1.js.br").is_none());
        assert!(site.file(NAMES).is_none());
    }

    #[test]
    fn a_file_that_is_there_compressed_alone_is_unpacked_for_those_who_ask() {
        let mut packed = Vec::new();
        let text = "(module)".repeat(9_000);
        brotli::BrotliCompress(&mut text.as_bytes(), &mut packed, &Default::default()).unwrap();
        let mut files = raw(&good());
        files.remove("pkg/app_bg.1.wasm");
        files.insert("pkg/app_bg.1.wasm.br".to_owned(), packed.clone().into());
        let site = Site::from_files(files).unwrap();
        let wasm = site.file("pkg/app_bg.1.wasm").unwrap();
        assert_eq!(wasm.brotli.as_deref(), Some(&packed[..]));
        assert_eq!(wasm.plain(), text.as_bytes());
        assert_eq!(wasm.content_type, "application/wasm");
    }

    #[test]
    fn names_must_fit_the_files() {
        assert_eq!(site(&good()).unwrap().names().unwrap().css, "/pkg/app.1.css");
        let misnamed = good().replace("app.1.css", "app.2.css");
        let without_a_module = good().replace(r#""serving":"#, r#""served":"#);
        for bad in ["", "{}", &misnamed, &without_a_module] {
            assert!(matches!(site(bad), Err(SiteError::Names(_))), "{bad}");
        }
    }
}
