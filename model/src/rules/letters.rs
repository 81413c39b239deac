//! What is wrong with the letters of a pipeline layout.

use alloc::format;
use alloc::string::String;

use crate::design::Design;
use crate::layer::layout;

/// Error in a layout's letters.
pub(super) fn layout_problem(d: &Design) -> Option<String> {
    let layout = d.parallel.pipeline_model_parallel_layout.as_ref()?;
    let count = |letter: char| -> u64 {
        layout.chunks.iter().map(|chunk| chunk.matches(letter).count() as u64).sum()
    };
    let chunks = layout::chunks(d);
    let transformer = &d.transformer;
    if layout.chunks.len() as u64 != chunks {
        let found = layout.chunks.len();
        return Some(format!("the layout has {found} chunks, PP x VPP is {chunks}"));
    }
    let mtp = count('m') + count('n');
    if (count('t'), mtp) != (transformer.num_layers, transformer.mtp_num_layers) {
        return Some(format!(
            "the layout has {} layers and {mtp} MTP layers, the model {} and {}",
            count('t'),
            transformer.num_layers,
            transformer.mtp_num_layers
        ));
    }
    let heads = count('m') + count('h');
    if heads != mtp {
        return Some(format!("the layout has {heads} MTP heads and {mtp} MTP layers"));
    }
    let ends = layout.chunks.first().is_some_and(|chunk| chunk.starts_with('E'))
        && count('E') == 1
        && count('L') == 1;
    if !ends {
        return Some(String::from("a layout starts with its one E and has one L"));
    }
    layout_order_problem(&layout.chunks.concat(), transformer.num_layers)
}

/// Part that runs too early in a layout's letters: an output needs the last layer, an MTP head its
/// own.
fn layout_order_problem(letters: &str, layers: u64) -> Option<String> {
    let (mut passed, mut mtp, mut heads) = (0, 0, 0);
    for letter in letters.chars() {
        match letter {
            't' => passed += 1,
            'L' | 'm' | 'n' if passed < layers => {
                let what = if letter == 'L' { "the head L" } else { "an MTP layer" };
                return Some(format!(
                    "{what} is behind layer {passed}, it needs all {layers} layers before it"
                ));
            }
            'n' => mtp += 1,
            'h' => heads += 1,
            _ => {}
        }
        if heads > mtp {
            return Some(String::from("an MTP head h is before its layer n"));
        }
    }
    None
}
