// In front of all other scripts of a page in a folder of files: where the folder begins, and what
// else the server would have written for this visitor.
{
  const root = document.documentElement;
  root.dataset.base = new URL(root.dataset.base ?? "", location.href).href;
  // The addresses of a page are those of its directory, also where a host asks for no slash.
  const { pathname, search, hash } = location;
  if (!/\/$|\.html$/.test(pathname)) location.replace(`${pathname}/${search}${hash}`);
  const pairs = document.cookie.split("; ").map((pair) => pair.split("="));
  const kept = (name) => pairs.find(([known]) => known === name)?.[1];
  const theme = kept("theme");
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  const language = kept("language") ?? navigator.language.slice(0, 2).toLowerCase();
  if (language === "zh") root.lang = "zh-CN";
  // The page shows its first state until it has followed its address.
  if (search) root.dataset.following = "true";
}
