// Points of a typed text against a name: the better it fits, the higher; zero where it doesn't.

/** Points of one word against one name, both in lower case. */
function word(typed, name) {
  if (name === typed) return 1000;
  if (name.startsWith(typed)) return 800 - Math.min(name.length - typed.length, 99);
  const at = name.indexOf(typed);
  if (at > 0) {
    const begins = /[^a-z0-9]/.test(name[at - 1]);
    return (begins ? 600 : 400) - Math.min(at, 99);
  }
  return letters(typed, name);
}

/** Points of letters that stand in a name in this order, the fewer gaps the better. */
function letters(typed, name) {
  if (typed.length < 2) return 0;
  let at = -1;
  let gaps = 0;
  for (const letter of typed) {
    const next = name.indexOf(letter, at + 1);
    if (next < 0) return 0;
    if (at >= 0 && next > at + 1 && !/[^a-z0-9]/.test(name[next - 1])) gaps += 1;
    at = next;
  }
  return gaps > typed.length / 2 ? 0 : 200 - 20 * gaps;
}

/** Points of a whole line against all names of something: each word has to fit one of them. */
export function fit(line, names) {
  const lower = names.filter(Boolean).map((name) => name.toLowerCase());
  const whole = Math.max(0, ...lower.map((name) => (name === line ? 2000 : 0)));
  let sum = 0;
  for (const typed of line.split(/\s+/).filter(Boolean)) {
    const best = Math.max(0, ...lower.map((name) => word(typed, name)));
    if (best === 0) return whole;
    sum += best;
  }
  return whole + sum;
}
