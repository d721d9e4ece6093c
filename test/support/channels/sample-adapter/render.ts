import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";

/** The platform's limit for a text, in UTF-16 units. */
export const textMax = 200;

export interface SamplePayload {
  readonly text: string;
  readonly file?: OutboundFile;
}

/** Splits the text into parts of at most {@link textMax} UTF-16 units, and adds a part for each file. */
export function renderParts({ markdown, files = [] }: OutboundMessage): readonly Part[] {
  const part = (text: string, payload: SamplePayload): Part => ({ text, payload });
  return [
    ...split(markdown).map((text) => part(text, { text })),
    ...files.map((file) => part(file.name, { text: "", file })),
  ];
}

function split(text: string): readonly string[] {
  if (text.length <= textMax) return text === "" ? [] : [text];
  // Does not split a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(textMax - 1)) ? textMax - 1 : textMax;
  return [text.slice(0, end), ...split(text.slice(end))];
}
