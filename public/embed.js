// Tells the page around an embedded panel how high the panel is, so that it can make room:
// `{ source: "moescape", height: 480 }`, in pixels, again whenever it changes. It says nothing
// else, so that any page may hear it.
if (window.parent !== window) {
  let told = 0;
  const tell = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === told) return;
    told = height;
    window.parent.postMessage({ source: "moescape", height }, "*");
  };
  new ResizeObserver(tell).observe(document.body);
}
