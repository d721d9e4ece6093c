import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { opinionButtonsOf } from "#channels/opinion-buttons.ts";
import type { Run } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf, withAddresses } from "#channels/text/styled-text.ts";
import { whatsappPieces } from "#channels/text/whatsapp.ts";
import type { WhatsappPiece } from "#channels/text/whatsapp.ts";
import { buttonsTextMax } from "./buttons.ts";
import type { Buttons } from "./buttons.ts";
import { captionMax, takesCaption } from "./media.ts";

/** WhatsApp's limit of a text message. */
export const textMax = 4_096;

export interface WhatsappPart {
  /** The text; of a part with a file its caption, which may be empty. */
  readonly body: string;
  readonly buttons?: Buttons;
  readonly file?: OutboundFile;
  /** The id of the message that this one answers. */
  readonly refersTo?: string;
}

export function renderParts(message: OutboundMessage, personLabel?: string): readonly Part[] {
  const refersTo = message.refersTo?.externalId ?? null;
  const parts = partsOf(message, personLabel);
  if (refersTo === null) return parts;
  return parts.map((part, at) =>
    at === 0 ? { ...part, payload: { ...(part.payload as WhatsappPart), refersTo } } : part,
  );
}

function partsOf(message: OutboundMessage, personLabel: string | undefined): readonly Part[] {
  const { role, authorName, markdown, sources, files = [], filesApart } = message;
  const name: readonly Run[] =
    role === "agent" && authorName !== null ? [{ text: `${authorName}:\n`, styles: [{ kind: "bold" }] }] : [];
  const runs = markdown === "" ? [] : withAddresses([...name, ...styledText(markdown, sources)]);
  const buttons = buttonsOf(message, personLabel);
  if (buttons !== undefined) return [...withButtons(runs, buttons), ...files.map((file) => filePart(file))];
  const [first, ...rest] = files;
  const captions = whatsappPieces(runs, captionMax);
  // A short text becomes the first file's caption; a longer one is sent before the file.
  if (first !== undefined && filesApart !== true && captions.length <= 1 && takesCaption(first)) {
    return [filePart(first, captions[0]), ...rest.map((file) => filePart(file))];
  }
  return [...whatsappPieces(runs, textMax).map((piece) => textPart(piece)), ...files.map((file) => filePart(file))];
}

function buttonsOf(message: OutboundMessage, personLabel: string | undefined): Buttons | undefined {
  const opinion = opinionButtonsOf(message);
  const isForBot = message.role === "assistant" && message.forPeople !== true && message.kind !== "survey";
  const person = isForBot ? personLabel : undefined;
  if (opinion === undefined && person === undefined) return undefined;
  return { ...(opinion === undefined ? {} : { opinion }), ...(person === undefined ? {} : { person }) };
}

/** A message with buttons holds less text: the text above its last piece is sent before it. */
function withButtons(runs: readonly Run[], buttons: Buttons): readonly Part[] {
  const tail = splitRuns(runs, buttonsTextMax / 2).at(-1);
  if (tail === undefined) return [];
  const [only, ...more] = whatsappPieces(runs, buttonsTextMax);
  if (only !== undefined && more.length === 0) return [textPart(only, buttons)];
  const above = headOf(runs, textOf(runs).trimEnd().length - textOf(tail).length);
  const last = whatsappPieces(tail, buttonsTextMax);
  return [
    ...whatsappPieces(above, textMax).map((piece) => textPart(piece)),
    ...last.map((piece, at) => textPart(piece, at === last.length - 1 ? buttons : undefined)),
  ];
}

function headOf(runs: readonly Run[], length: number): readonly Run[] {
  let left = length;
  return runs.flatMap(({ text, styles }) => {
    const kept = text.slice(0, Math.max(left, 0));
    left -= text.length;
    return kept === "" ? [] : [{ text: kept, styles }];
  });
}

function textPart({ text, body }: WhatsappPiece, buttons?: Buttons): Part {
  return { text, payload: { body, ...(buttons === undefined ? {} : { buttons }) } satisfies WhatsappPart };
}

function filePart(file: OutboundFile, caption?: WhatsappPiece): Part {
  const text = [caption?.text ?? "", `[${file.name}]`].filter((line) => line !== "").join("\n");
  return { text, payload: { body: caption?.body ?? "", file } satisfies WhatsappPart };
}
