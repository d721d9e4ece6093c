import type { Score } from "#domain/conversation/message.ts";
import type { AgentReactionSign } from "#domain/conversation/reaction.ts";
import type { ChatMessage } from "../../session/chat-message.ts";
import { blockText } from "#web/shared/block-text.ts";
import type { AnsweredMessage } from "../../storage/stored-values.ts";
import { avatar, button, el, iconButton } from "../dom.ts";
import { quoted } from "../quoted.ts";
import { fileList } from "../files/file-list.ts";
import type { Strings } from "../strings.ts";
import { fill } from "../strings.ts";
import { offerChoices } from "./choices.ts";
import type { Reactions } from "./reactions.ts";
import { createReactionChoice, createShownReaction } from "./reactions.ts";
import type { Thumbs } from "./thumbs.ts";
import type { Stars } from "./stars.ts";
import { createStars } from "./stars.ts";
import { createThumbs } from "./thumbs.ts";
import { blocks, sources } from "./content.ts";

/** The rows of the messages. A row stays the same node as long as its text does. */
export interface MessageRows {
  /** Draws or updates the row of a message. `name`: of its author. */
  row(message: ChatMessage, name: string): HTMLElement;
  nodeOf(message: ChatMessage): HTMLElement | undefined;
  /** Drops the rows of all other messages. */
  keepOnly(messages: readonly ChatMessage[]): void;
}

const quotedMax = 300;

interface Row {
  readonly node: HTMLElement;
  /** The line below the text: time, state, problem. */
  readonly meta: HTMLElement;
  /** The button that answers it. */
  readonly answer: HTMLElement;
  readonly thumbs: Thumbs | undefined;
  readonly stars: Stars | undefined;
  readonly reactions: Reactions | undefined;
  drawn: ChatMessage;
}

/** The customer's actions on a message, which is named by its key. */
export interface MessageActions {
  retry(key: string): void;
  judge(key: string, value: "up" | "down" | null): void;
  rate(key: string, score: Score, comment?: string): void;
  /** Sends the customer's reaction; null takes it back. */
  react(key: string, emoji: AgentReactionSign | null): void;
  /** Sends the text of a choice. */
  choose(text: string): void;
  /** Begins a message that answers this one. */
  answer(message: AnsweredMessage): void;
}

export function createMessageRows(
  strings: Strings,
  language: string | undefined,
  actions: MessageActions,
): MessageRows {
  const rows = new Map<string, Row>();
  const time = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" });

  const draw = (message: ChatMessage, name: string): Row => {
    const row = drawRow(message, name, strings, actions, () => {
      const answered = answeredOf(rows.get(message.key)?.drawn ?? message);
      if (answered !== undefined) actions.answer(answered);
    });
    rows.set(message.key, row);
    drawMeta(row, message, name);
    return row;
  };

  const drawMeta = ({ node, meta, answer }: Row, message: ChatMessage, name: string): void => {
    const { state } = message;
    answer.hidden = message.role === "user" || message.deleted === true;
    node.classList.toggle("pending", state === "pending");
    node.classList.toggle("failed", state === "failed");
    if (state === "failed") meta.replaceChildren(...problem(message));
    else if (state === "pending") meta.replaceChildren(strings.sending);
    else {
      const at = el("time", { datetime: new Date(message.createdAt).toISOString() }, time.format(message.createdAt));
      meta.replaceChildren(...(message.role === "user" ? [at] : [el("bdi", {}, name), " · ", at]));
    }
  };

  const problem = ({ key, refusal }: ChatMessage): readonly (Node | string)[] => {
    const text = el("span", { role: "alert" }, refusalText(refusal, strings));
    if (refusal === "too_long") return [text];
    return [text, " ", button({ class: "again" }, () => actions.retry(key), strings.retry)];
  };

  return {
    row(message, name) {
      const row = rows.get(message.key);
      if (row === undefined || isOutdated(row.drawn, message)) return draw(message, name).node;
      if (row.drawn.state !== message.state || row.drawn.seq !== message.seq) drawMeta(row, message, name);
      row.thumbs?.render(message.feedback);
      row.stars?.render(message.rating);
      row.reactions?.render(message.reaction);
      row.drawn = message;
      return row.node;
    },
    nodeOf: ({ key }) => rows.get(key)?.node,
    keepOnly(messages) {
      const keys = new Set(messages.map(({ key }) => key));
      for (const key of rows.keys()) if (!keys.has(key)) rows.delete(key);
    },
  };
}

/** The text was changed, or its files can be opened now. */
const isOutdated = (drawn: ChatMessage, message: ChatMessage): boolean =>
  message.revision !== drawn.revision || message.files.some(({ url }, at) => url !== drawn.files[at]?.url);

function answeredOf({ id, role, author, content, files }: ChatMessage): AnsweredMessage | undefined {
  if (id === null) return undefined;
  const text = blockText(content) || files.map(({ name }) => name).join(", ");
  return { id, role, author, text: text.slice(0, quotedMax).toWellFormed() };
}

function drawRow(
  message: ChatMessage,
  name: string,
  strings: Strings,
  { judge, rate, react, choose }: MessageActions,
  beginAnswer: () => void,
): Row {
  const { role, content, files, refersTo } = message;
  const bubble =
    content.length > 0 || files.length === 0
      ? el("div", { class: "bubble", dir: "auto" }, ...blocks(content, strings))
      : undefined;
  if (bubble !== undefined && message.choices === true) offerChoices(bubble, choose);
  const meta = el("div", { class: "meta" });
  const answer = iconButton("reply", "answer", `${strings.reply}: ${name}`, beginAnswer);
  const thumbs =
    message.feedback === undefined ? undefined : createThumbs(strings, (value) => judge(message.key, value));
  thumbs?.render(message.feedback);
  const stars =
    message.rating === undefined
      ? undefined
      : createStars(strings, (score, comment) => rate(message.key, score, comment));
  stars?.render(message.rating);
  const isOwn = role === "user";
  // An opinion is given by the thumbs and the stars alone.
  const isRated = thumbs !== undefined || stars !== undefined;
  const reactions = isOwn
    ? createShownReaction(strings)
    : isRated
      ? undefined
      : createReactionChoice(strings, (emoji) => react(message.key, emoji));
  reactions?.render(message.reaction);
  const body = el(
    "div",
    { class: "body" },
    el("span", { class: "hidden" }, `${name}: `),
    refersTo === undefined ? undefined : quoted(refersTo, strings),
    bubble === undefined ? undefined : el("div", { class: "line" }, bubble, answer),
    fileList(files, strings),
    isOwn ? undefined : sources(message.sources, message.uncertain ? strings.related : strings.sources, strings),
    stars?.element,
    el("div", { class: "foot" }, meta, thumbs?.element, reactions?.element, bubble === undefined ? answer : undefined),
  );
  const kind = role === "assistant" ? "bot" : role;
  return {
    node: el("div", { class: `row ${kind}` }, isOwn ? undefined : avatar(role, name, message.avatar), body),
    meta,
    answer,
    thumbs,
    stars,
    reactions,
    drawn: message,
  };
}

function refusalText(refusal: ChatMessage["refusal"], strings: Strings): string {
  if (refusal === "too_long") return fill(strings.tooLong, 4000);
  if (refusal === "limited") return strings.limited;
  return refusal === "files_gone" ? strings.filesGone : strings.notSent;
}
