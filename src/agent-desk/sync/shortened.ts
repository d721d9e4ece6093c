/** One line of at most so many characters. Shortens by code points, so that no character is cut in two. */
export function shortened(text: string, charactersMax: number): string {
  const line = text
    .slice(0, charactersMax * 8)
    .replaceAll(/\s+/g, " ")
    .trim();
  const signs = [...line];
  return signs.length <= charactersMax ? line : `${signs.slice(0, charactersMax - 1).join("")}…`;
}
