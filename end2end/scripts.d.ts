// What the check of the page's scripts can't see for itself: the markup that other files write, the
// modules that the build makes, and what only a service worker knows.

/** What a selector or an id finds is known by the markup. */
interface ParentNode {
  querySelector(selectors: string): any;
  querySelectorAll(selectors: string): NodeListOf<any>;
}
interface Element {
  closest(selectors: string): any;
}
interface Document {
  getElementById(id: string): any;
  readonly activeElement: any;
}

declare module "*/pkg/studies.js";
declare module "*/pkg/search.js";
declare module "*/pkg/writer.js";
declare module "*/chinese.js";

interface ExtendableEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(answer: Response | Promise<Response>): void;
}
interface WindowEventMap {
  install: ExtendableEvent;
  activate: ExtendableEvent;
  fetch: FetchEvent;
}
interface Window {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
}
