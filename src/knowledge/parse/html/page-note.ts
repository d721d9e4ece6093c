/** Elements whose text no browser shows as text. */
const unseenTags = new Set(["script", "style", "template", "noscript", "head", "select", "textarea", "iframe", "svg"]);
/** The element that an application fills, by the names that the usual frameworks give it. */
const applicationRoots = new Set("root app __next __nuxt ___gatsby svelte q-app app-root".split(" "));
/** A page of an application has less text than this before its scripts run. */
const beforeScriptsMax = 200;
/** Less text than this is no loss that a person has to look at. */
const shownMin = 1_000;
/** A page of which a smaller share was taken may have lost its content. */
const keptShareMin = 1 / 3;

/** Counts the letters that a browser shows, and says why little of a page was read. */
export function createPageNote() {
  let shown = 0;
  let unseen = 0;
  let links = 0;
  let isFilledByScripts = false;

  return {
    open(name: string, { id }: Readonly<Record<string, string | undefined>>): void {
      if (unseenTags.has(name)) unseen += 1;
      if (name === "a") links += 1;
      if (name === "app-root" || (id !== undefined && applicationRoots.has(id))) isFilledByScripts = true;
    },
    close(name: string): void {
      if (unseenTags.has(name)) unseen -= 1;
      if (name === "a") links -= 1;
    },
    addLetters(letters: number): void {
      // Links lead to other pages: a page that is mostly navigation has lost nothing.
      if (unseen === 0 && links === 0) shown += letters;
    },
    /** `kept`: the letters that are read. Null for a page of which enough is. */
    text(kept: number): string | null {
      if (isFilledByScripts && kept < beforeScriptsMax) {
        return (
          "Scripts put this page together in the browser, and no scripts run here: little or nothing of it was read. " +
          "Add its text as an article or a file."
        );
      }
      if (shown < shownMin || kept >= shown * keptShareMin) return null;
      return (
        `Only ${Math.round((kept / shown) * 100)} % of the text on this page was read: the rest looks like navigation, ` +
        "forms or notices. Add what is missing as an article or a file."
      );
    },
  };
}
