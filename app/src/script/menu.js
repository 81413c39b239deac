// Menus of the header, and the keys of its toolbar. A menu is a `<details>` that opens without this
// script; with it arrow keys go through its items, and it closes by Escape, by a press elsewhere,
// when the focus leaves it and when an item is taken.

const ITEMS = ".menu-list :is(a, button)";

const opened = () => [...document.querySelectorAll("details.menu[open]")];

const summaryOf = (menu) => menu.querySelector("summary");

/** What can be pressed and is in view. */
function usable(elements) {
  return [...elements].filter((it) => it.checkVisibility() && !it.disabled);
}

/** Closes the menus but one. */
function closeOthers(kept) {
  for (const menu of opened()) if (menu !== kept) menu.open = false;
}

/** Goes to the item at a place of a menu, counted round. */
function focusItem(menu, place) {
  const items = usable(menu.querySelectorAll(ITEMS));
  items.at(place % items.length)?.focus();
}

/** Acts on a key in a menu; false where it means nothing there. */
function pressInMenu(menu, key) {
  if (key === "Escape" && menu.open) {
    menu.open = false;
    summaryOf(menu).focus();
    return true;
  }
  const isOnSummary = document.activeElement === summaryOf(menu);
  if (!["ArrowDown", "ArrowUp", "Home", "End"].includes(key) || (isOnSummary && !/^A/.test(key))) {
    return false;
  }
  menu.open = true;
  const at = usable(menu.querySelectorAll(ITEMS)).indexOf(document.activeElement);
  const first = key === "Home" || (key === "ArrowDown" && at < 0);
  const last = key === "End" || (key === "ArrowUp" && at <= 0);
  focusItem(menu, first ? 0 : last ? -1 : key === "ArrowDown" ? at + 1 : at - 1);
  return true;
}

/** The buttons of a toolbar, those in its menus left out. */
function buttonsOf(bar) {
  return usable(bar.querySelectorAll("button, a, summary")).filter((it) => {
    return !it.closest(".menu-list");
  });
}

/** One button of a toolbar is a stop of the Tab key; arrow keys go to the others. */
function stopAt(bar, wanted) {
  const own = [...bar.querySelectorAll("button, a, summary")];
  for (const button of own.filter((it) => !it.closest(".menu-list"))) {
    button.tabIndex = button === wanted ? 0 : -1;
  }
}

/** Acts on a key in a toolbar; false where it means nothing there. */
function pressInBar(bar, key) {
  const buttons = buttonsOf(bar);
  const focused = document.activeElement?.closest(".menu")?.querySelector("summary");
  const at = buttons.indexOf(focused ?? document.activeElement);
  const count = buttons.length;
  const places = {
    ArrowRight: (at + 1) % count,
    ArrowLeft: (at - 1 + count) % count,
    Home: 0,
    End: count - 1,
  };
  if (!(key in places)) return false;
  closeOthers();
  buttons[places[key]].focus();
  return true;
}

/** Acts on a key of a menu or a toolbar of the header; false where it isn't one. */
export function pressMenu({ key }) {
  const focused = document.activeElement;
  const menu = focused?.closest("details.menu");
  if (menu && pressInMenu(menu, key)) return true;
  const bar = focused?.closest(".header [role=toolbar]");
  return bar ? pressInBar(bar, key) : false;
}

/** A press: an item that is taken closes its menu, and one elsewhere closes all. */
function close(event) {
  if (!(event.target instanceof Element)) return;
  const menu = event.target.closest("details.menu");
  closeOthers(menu);
  if (!menu?.open || !event.target.closest(ITEMS)) return;
  // In front of what the item does: a dialog gives the focus back to the button.
  summaryOf(menu).focus();
  menu.open = false;
}

/** Follows the menus and the toolbars of the header. */
export function startMenus() {
  document.addEventListener("click", close, true);
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof Element)) return;
    closeOthers(target.closest("details.menu"));
    const bar = target.closest(".header [role=toolbar]");
    if (bar && !target.closest(".menu-list")) stopAt(bar, target);
  });
  for (const bar of document.querySelectorAll(".header [role=toolbar]")) {
    stopAt(bar, buttonsOf(bar)[0]);
    // What had the focus may be disabled when the Tab key comes again.
    bar.addEventListener("focusout", ({ relatedTarget }) => {
      if (!bar.contains(relatedTarget)) stopAt(bar, buttonsOf(bar)[0]);
    });
  }
}
