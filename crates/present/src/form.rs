//! Forms as HTML text: controls, and the labels and hints that are tied to them.
//!
//! A control is a text that grows by attributes, so that what writes one is compiled once; behind
//! a pointer, so that each attribute is a small call.

pub mod knob;
pub mod lists;
pub mod files;
pub mod find_bar;

use maud::{Markup, PreEscaped, Render, html};

use crate::html::{escape_into, escaped};

/// A control of a form: a box to type in or to tick, or a list to choose from.
#[derive(Clone, Debug)]
#[must_use]
pub struct Control(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    id: String,
    /// The tag with its attributes, but for its end.
    tag: String,
    /// Content and end tag.
    rest: String,
}

/// A box of one of HTML's types, such as `number`.
pub fn input(kind: &str) -> Control {
    Control::new("<input", String::new()).set("type", kind).set("autocomplete", "off")
}

/// A box that chooses files of these endings.
pub fn file(accept: &str) -> Control {
    Control::new("<input", String::new()).set("type", "file").set("accept", accept)
}

/// A box to tick.
pub fn tick_box(is_ticked: bool) -> Control {
    input("checkbox").flag("checked", is_ticked)
}

/// A value that goes along with a form unseen.
pub fn hidden(name: &str, value: &str) -> Control {
    input("hidden").name(name).value(value)
}

/// A list to choose from.
pub fn select(options: Markup) -> Control {
    Control::new("<select", options.0 + "</select>").set("autocomplete", "off")
}

/// A box of several lines.
pub fn textarea(rows: usize, text: &str) -> Control {
    // The first line break belongs to the tag, not to the text.
    let rest = ["\n", &escaped(text), "</textarea>"].concat();
    Control::new("<textarea", rest).set("rows", &rows.to_string()).set("autocomplete", "off")
}

/// An entry of a list to choose from.
#[must_use]
pub fn option(value: &str, text: &str, chosen: bool) -> Markup {
    html! { option value=(value) selected[chosen] { (text) } }
}

/// Entries of a list, each a value and its text.
#[must_use]
pub fn options<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>, chosen: &str) -> Markup {
    each(&mut entries.into_iter(), chosen)
}

/// Compiled once for all lists.
fn each<'a>(entries: &mut dyn Iterator<Item = (&'a str, &'a str)>, chosen: &str) -> Markup {
    html! { @for (value, text) in entries { (option(value, text, value == chosen)) } }
}

/// Entries of a list under a heading; nothing where there are none.
#[must_use]
pub fn option_group(heading: &str, options: &Markup) -> Markup {
    html! { @if !options.0.is_empty() { optgroup label=(heading) { (options) } } }
}

/// Controls that belong together, under what they are about.
#[must_use]
pub fn group(class: &str, legend: &str, content: &Markup) -> Markup {
    html! { fieldset class=[some(class)] { legend { (legend) } (content) } }
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// A text to be copied, selected as a whole where no script copies it, and the button that does.
#[must_use]
pub fn copied(text: &Control, label: &str) -> Markup {
    html! {
        div.share-row {
            (text)
            button type="button" class="button" data-copy=(text.0.id) aria-live="polite" {
                "Copy" span.visually-hidden { " " (label) }
            }
        }
    }
}

impl Control {
    fn new(tag: &str, rest: String) -> Self {
        Self(Box::new(Parts { id: String::new(), tag: tag.to_owned(), rest }))
    }

    /// An attribute of the control.
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.0.tag.push(' ');
        self.0.tag.push_str(name);
        self.0.tag.push_str("=\"");
        escape_into(&mut self.0.tag, value);
        self.0.tag.push('"');
        self
    }

    /// An attribute that is there where a text is.
    pub fn set_some(self, name: &str, value: &str) -> Self {
        if value.is_empty() { self } else { self.set(name, value) }
    }

    /// An attribute without a value, where it holds.
    pub fn flag(mut self, name: &str, holds: bool) -> Self {
        if holds {
            self.0.tag.push(' ');
            self.0.tag.push_str(name);
        }
        self
    }

    /// The id, which its label refers to.
    pub fn id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.0.id);
        self.set("id", id)
    }

    /// Name under which a form sends it.
    pub fn name(self, name: &str) -> Self {
        self.set("name", name)
    }

    /// Text or value in it.
    pub fn value(self, value: &str) -> Self {
        self.set("value", value)
    }

    /// Name of a control that has no label in view.
    pub fn named(self, name: &str) -> Self {
        self.set("aria-label", name)
    }

    /// Action that the page's script takes when it changes, and of which part; the id is both.
    pub fn act(self, act: &str, with: &str) -> Self {
        let id = if with.is_empty() { act.to_owned() } else { [act, "-", with].concat() };
        self.id(&id).set("data-do", act).set("data-with", with)
    }

    /// Its label, which is tied to it by its id.
    #[must_use]
    pub fn label(&self, label: impl Render) -> Markup {
        html! { label for=(self.0.id) { (label) } }
    }

    /// The control behind its label.
    #[must_use]
    pub fn labelled(&self, label: impl Render) -> Markup {
        html! { (self.label(label)) (self) }
    }

    /// The control inside its label, behind the text.
    #[must_use]
    pub fn within(&self, label: impl Render) -> Markup {
        html! { label { (label) " " (self) } }
    }

    /// The control inside its label, in front of the text.
    #[must_use]
    pub fn before(&self, class: &str, label: &str) -> Markup {
        html! { label class=[some(class)] { (self) " " span { (label) } } }
    }

    /// A part of a form: label, control, and a hint below that describes it.
    #[must_use]
    pub fn field(self, class: &str, label: impl Render, hint: impl Render) -> Markup {
        let hint = hint.render();
        if hint.0.is_empty() {
            return html! { div class=(class) { (self.labelled(label)) } };
        }
        let about = [&self.0.id, "-about"].concat();
        let control = self.set("aria-describedby", &about);
        html! { div class=(class) { (control.labelled(label)) p.muted id=(about) { (hint) } } }
    }
}

impl Render for Control {
    fn render(&self) -> Markup {
        PreEscaped([&self.0.tag, ">", &self.0.rest].concat())
    }
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    #[test]
    fn a_field_ties_label_and_hint_to_its_control() {
        let field = input("text").id("a").name("b").value("<1 & \"2\">").field("c", "D", "e");
        let html = Html::new(&field.0);
        assert_eq!(html.text("div.c > label[for=a]"), "D");
        assert_eq!(html.attribute("input[type=text][name=b]", "value"), "<1 & \"2\">");
        assert_eq!(html.attribute("#a", "aria-describedby"), "a-about");
        assert_eq!(html.text("#a-about"), "e");
    }

    #[test]
    fn a_text_keeps_its_first_line_break() {
        let html = textarea(2, "\na</textarea><b>").id("t").render();
        assert_eq!(html.0.matches("\n\n").count(), 1, "{}", html.0);
        assert_eq!(Html::new(&html.0).text("#t"), "a</textarea><b>");
    }

    #[test]
    fn a_list_has_its_choice_and_no_empty_group() {
        let all = [("x", "X"), ("y", "Y")];
        let none = option_group("N", &options([], ""));
        let groups = html! { (option_group("G", &options(all, "y"))) (none) };
        let html = Html::new(&select(groups).act("pick", "z").within("Z").0);
        assert_eq!(html.attribute("label > select[data-do=pick]", "id"), "pick-z");
        assert_eq!(html.attribute("option[selected]", "value"), "y");
        assert_eq!(html.count("optgroup"), 1);
    }
}
