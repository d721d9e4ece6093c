/** The known name most similar to a misspelt one; undefined when none is similar. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Infinity;
  for (const each of known) {
    const changes = distance(name, each);
    // More than a third of the letters changed: another name.
    if (changes >= least || changes > Math.max(name.length, each.length) / 3) continue;
    nearest = each;
    least = changes;
  }
  return nearest;
}

/**
 * How many letters have to be changed, removed or swapped with the next one to get from the first to the second. A letter
 * to be added counts half, since names are often shortened (`author` for `author_email`). Case does not count.
 */
function distance(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j / 2);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 0.5, (above[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    before = above;
    above = row;
  }
  return above[b.length] ?? 0;
}
