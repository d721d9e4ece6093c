import type { OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Run } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf } from "#channels/text/styled-text.ts";
import { septets } from "../messaging/gsm.ts";
import { textMessage, ucs2Max, gsmMax } from "../messaging/render.ts";
import type { VoiceTexts } from "#language/locale.ts";

/** One piece of a message, as speech and as a text message for after the call. */
export interface VoicePart {
  readonly role: "assistant" | "agent";
  readonly speech: string;
  readonly sms: string;
  /** Addresses that the caller can ask for as a text message. */
  readonly links: readonly string[];
  /** Another part of the same message follows. */
  readonly more: boolean;
}

const linksMax = 5;
const urls = /\b(?:https?:\/\/|www\.)[^\s<>"]*[^\s<>".,;:!?)\]}']/giu;

export function renderParts(texts: VoiceTexts, message: OutboundMessage): readonly Part[] {
  const { role, authorName, markdown, sources } = message;
  const name = role === "agent" ? authorName : null;
  // Sources are not spoken: the caller can get their addresses as a text message.
  const runs = styledText(markdown);
  const pieces = splitRuns(runs, gsmMax - 100, septets)
    .flatMap((piece) => (textMessage(piece).isGsm ? [piece] : splitRuns(piece, ucs2Max - 50)))
    .flatMap(shortEnough);
  const links = [
    ...new Set([...linksIn(runs), ...sources.map(({ url }) => url).filter((url) => /^https?:\/\//.test(url))]),
  ].slice(0, linksMax);
  return pieces.map((piece, at): Part => {
    const first = at === 0 && name !== null;
    const speech = speechOf(piece, texts);
    const text = textMessage(piece).text;
    const payload: VoicePart = {
      role,
      speech: first ? `${texts.agent.replaceAll("{name}", () => name)} ${speech}` : speech,
      sms: first ? `${name}:\n${text}` : text,
      links: at === pieces.length - 1 ? links : [],
      more: at < pieces.length - 1,
    };
    return { text: textOf(piece), payload };
  });
}

const smsMax = 1_500;

/** Splits a piece further when its links' addresses make the text message too long. */
function shortEnough(piece: readonly Run[]): readonly (readonly Run[])[] {
  if (textMessage(piece).text.length <= smsMax) return [piece];
  const length = textOf(piece).length;
  if (length < 40) return [piece.map(({ text }): Run => ({ text, styles: [] }))];
  return splitRuns(piece, Math.ceil(length / 2)).flatMap(shortEnough);
}

function linksIn(runs: readonly Run[]): readonly string[] {
  return runs.flatMap(({ text, styles }) => {
    const link = styles.find(({ kind }) => kind === "link");
    if (link?.kind === "link") return /^https?:\/\//.test(link.href) ? [link.href] : [];
    return [...text.matchAll(urls)].map(([url]) => (url.startsWith("www.") ? `https://${url}` : url));
  });
}

/** The text without addresses, bullets and table rules, which are useless when read aloud. */
function speechOf(runs: readonly Run[], texts: Pick<VoiceTexts, "link">): string {
  return (
    runs
      .map(({ text, styles }) => {
        const isTable = styles.some(({ kind }) => kind === "pre");
        const read = text.replaceAll(urls, () => texts.link);
        return isTable ? read.replaceAll(/ +\| +/g, ", ").replaceAll(/ {2,}/g, " ") : read;
      })
      .join("")
      .replaceAll(/^[ \t]*•[ \t]*/gmu, "")
      .replaceAll("———", "")
      // Characters that XML cannot hold.
      .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, " ")
      .trim()
  );
}
