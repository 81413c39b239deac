//! The differences between two nodes, written into the one on the page.
//!
//! Most marks of a chart stay as they are from one step of a knob to the next. To lay all of it out
//! anew takes longer than everything else that follows a change.

use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, Node};

/// Brings a node on the page, which was written as `before`, to `after`. What is the same in both
/// stays as it is on the page, where a reader may have opened it or a script translated it. None
/// where the page has something else than what was written.
pub(super) fn edit(shown: &Node, before: &Node, after: &Node) -> Option<()> {
    let (Some(element), Some(old), Some(new)) =
        (shown.dyn_ref::<Element>(), before.dyn_ref::<Element>(), after.dyn_ref::<Element>())
    else {
        shown.set_node_value(after.node_value().as_deref());
        return Some(());
    };
    edit_attributes(element, old, new)?;
    let [shown_nodes, old, new] = [shown, before, after].map(child_nodes);
    if shown_nodes.len() != old.len() {
        return None;
    }
    let is_alike = |(one, other): &(&Node, &Node)| one.node_name() == other.node_name();
    let first = old.iter().zip(&new).take_while(is_alike).count();
    let most = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take(most).take_while(is_alike).count();
    let (old_end, new_end) = (old.len() - last, new.len() - last);
    for gone in &shown_nodes[first..old_end] {
        shown.remove_child(gone).ok()?;
    }
    for come in &new[first..new_end] {
        let copy = come.clone_node_with_deep(true).ok()?;
        shown.insert_before(&copy, shown_nodes.get(old_end)).ok()?;
    }
    let stay = (0..first).zip(0..first).chain((old_end..old.len()).zip(new_end..new.len()));
    for (one, other) in stay {
        if !old[one].is_equal_node(Some(&new[other])) {
            edit(&shown_nodes[one], &old[one], &new[other])?;
        }
    }
    Some(())
}

fn edit_attributes(shown: &Element, before: &Element, after: &Element) -> Option<()> {
    for name in attribute_names(after) {
        let value = after.get_attribute(&name)?;
        if before.get_attribute(&name).as_ref() != Some(&value) {
            shown.set_attribute(&name, &value).ok()?;
        }
    }
    for name in attribute_names(before).filter(|name| !after.has_attribute(name)) {
        shown.remove_attribute(&name).ok()?;
    }
    Some(())
}

fn attribute_names(element: &Element) -> impl Iterator<Item = String> + use<> {
    element.get_attribute_names().to_vec().into_iter().filter_map(|name| name.as_string())
}

fn child_nodes(node: &Node) -> Vec<Node> {
    let nodes = node.child_nodes();
    (0..nodes.length()).filter_map(|index| nodes.get(index)).collect()
}
