// Points of a typed text against a name: the better it fits, the higher; zero where it doesn't.
//
// What is typed stands in one piece in a name: letters that only come in the same order mean
// nothing. Hyphens, underscores and spaces are one: `all-to-all` is `all to all` is `alltoall`.

/** Letters within a word, from which on they are looked for. */
const MIN_INSIDE = 3;

/** A text in lower case, its words apart. */
const plain = (text) => text.toLowerCase().replace(/[-_/\s]+/g, " ").trim();

/** A text without what stands between words. */
const squashed = (text) => plain(text).replaceAll(" ", "");

/** Points of one word against one name, both plain. */
function word(typed, name) {
  if (name === typed) return 1000;
  let best = 0;
  for (let at = name.indexOf(typed); at >= 0; at = name.indexOf(typed, at + 1)) {
    const isStart = at === 0 || !/[\p{L}\p{N}]/u.test(name[at - 1]);
    const end = at + typed.length;
    const isEnd = end === name.length || !/[\p{L}\p{N}]/u.test(name[end]);
    const isInside = typed.length >= MIN_INSIDE || /\P{ASCII}/u.test(typed);
    const points = isStart ? (isEnd ? 750 : 600) : isInside ? 300 : 0;
    if (points) best = Math.max(best, points + (at === 0 ? 100 : 0) - Math.min(name.length, 99));
  }
  return best;
}

/** Points of a whole line against all names of something: each word has to fit one of them. */
export function fit(line, names) {
  const known = names.filter(Boolean).map(plain);
  const joined = squashed(line);
  const whole = Math.max(0, ...known.map((name) => {
    const bare = name.replaceAll(" ", "");
    return bare === joined ? 2000 : joined.length > 3 && bare.startsWith(joined) ? 500 : 0;
  }));
  let sum = 0;
  const words = plain(line).split(" ").filter(Boolean);
  for (const typed of words) {
    const best = Math.max(0, ...known.map((name) => word(typed, name)));
    if (best === 0) return whole;
    sum += best;
  }
  return whole + sum / Math.max(1, words.length);
}
