//! Gives a text to the visitor as a file.

use leptos::prelude::document;
use leptos::wasm_bindgen::{JsCast, JsValue};
use web_sys::js_sys::Array;
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

/// Saves a text under a name, as the browser saves what is downloaded.
pub(crate) fn download(name: &str, media_type: &str, text: &str) {
    // A browser that can't make a file of it does nothing; there is nothing to mend.
    let _ = try_download(name, media_type, text);
}

fn try_download(name: &str, media_type: &str, text: &str) -> Result<(), JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type(media_type);
    let parts = Array::of1(&JsValue::from_str(text));
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options)?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let link: HtmlAnchorElement = document().create_element("a")?.dyn_into()?;
    link.set_href(&url);
    link.set_download(name);
    link.click();
    Url::revoke_object_url(&url)
}
