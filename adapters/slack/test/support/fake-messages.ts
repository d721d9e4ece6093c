/** A stored message of the fake. */
export interface FakeMessage {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | undefined;
  /** The author; undefined for the app's messages. */
  readonly user: string | undefined;
  text: string;
  blocks: readonly unknown[];
  metadata: unknown;
  readonly files: readonly FakeFile[];
  deleted: boolean;
}

export interface FakeFile {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly mimetype: string;
  readonly bytes: Buffer;
  /** The last part of the file's address. */
  readonly secret: string;
}

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** A message as a reader sees it: its blocks, or its text without blocks. */
export function shownText({ text, blocks }: Pick<FakeMessage, "text" | "blocks">): string {
  if (blocks.length === 0) return unescaped(text.replaceAll(/<[^|>]*\|([^>]*)>/g, "$1"));
  return blocks
    .filter((block) => !/^(?:context_)?actions$/.test(String(fields(block)["type"])))
    .map(blockText)
    .join("\n");
}

function blockText(block: unknown): string {
  const { type, elements, text } = fields(block);
  if (type === "rich_text") return list(elements).map(pieces).join("");
  if (type === "context") return list(elements).map(textObject).join(" ");
  return textObject(text);
}

function textObject(given: unknown): string {
  const { type, text } = fields(given);
  if (typeof text !== "string") return "";
  return type === "plain_text" ? text : unescaped(text.replaceAll(/<[^|>]*\|([^>]*)>/g, "$1"));
}

const pieces = (element: unknown): string =>
  list(fields(element)["elements"])
    .map((piece) => {
      const { text, url } = fields(piece);
      return typeof text === "string" ? text : typeof url === "string" ? url : "";
    })
    .join("");

const unescaped = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Feedback buttons are the only such element that the app sends. */
function isContextActions(elements: readonly unknown[]): boolean {
  return (
    elements.length > 0 &&
    elements.length <= 5 &&
    elements.every((element) => {
      const { type, positive_button: positive, negative_button: negative } = fields(element);
      return type === "feedback_buttons" && [positive, negative].every(isFeedbackButton);
    })
  );
}

function isFeedbackButton(button: unknown): boolean {
  const { text, value, accessibility_label: name = "" } = fields(button);
  const { type, text: label } = fields(text);
  const isText = type === "plain_text" && typeof label === "string" && label !== "" && label.length <= 75;
  return isText && typeof value === "string" && value.length <= 2_000 && typeof name === "string" && name.length <= 75;
}

/** The reason why Slack would refuse these blocks; undefined for valid ones. */
export function blocksMistake(blocks: readonly unknown[]): string | undefined {
  if (blocks.length > 50) return "invalid_blocks";
  for (const block of blocks) {
    const { type, elements, text } = fields(block);
    if (typeof type !== "string") return "invalid_blocks_format";
    if (type === "section" && textObject(text).length > 3_000) return "invalid_blocks";
    if (type === "actions" && list(elements).length > 25) return "invalid_blocks";
    if (type === "context_actions" && !isContextActions(list(elements))) return "invalid_blocks";
    if (type !== "rich_text") continue;
    if (list(elements).length === 0) return "invalid_blocks";
    for (const element of list(elements)) {
      for (const piece of list(fields(element)["elements"])) {
        const { type: kind, text: said, url } = fields(piece);
        if (kind === "text" && (typeof said !== "string" || said === "")) return "invalid_blocks";
        if (kind === "link" && (typeof url !== "string" || url === "")) return "invalid_blocks";
      }
    }
  }
  return JSON.stringify(blocks).length > 60_000 ? "msg_blocks_too_long" : undefined;
}
