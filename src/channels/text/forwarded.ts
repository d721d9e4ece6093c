/** Begins a line before somebody else's words in a message's text. */
const mark = "[forwarded";

/** Words of somebody else that are part of a customer's message. `from`: their author. */
export const forwardedText = (text: string, from?: string): string =>
  `${mark}${from === undefined ? "" : ` from ${from}`}] ${text}`.trim();

/** The customer's own words above the first {@link forwardedText}. */
export function aboveForwarded(text: string): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.startsWith(mark));
  return (at === -1 ? lines : lines.slice(0, at)).join("\n").trim();
}
