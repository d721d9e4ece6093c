import { documentOf } from "#database/search/words.ts";
import { newId } from "#domain/ids.ts";
import type { ConversationSeed } from "#test/support/database/conversation-rows.ts";

// Conversations of an installation that is some years old: several workspaces, one of them large; a few channels and
// states that most conversations share; words of which a few appear in every other message; and markers of a known
// frequency.

/** The largest comes first: it is the measured one. */
export const workspaces = [
  { id: "wt_bench0_0123456789", share: 0.8 },
  { id: "wt_bench1_0123456789", share: 0.12 },
  { id: "wt_bench2_0123456789", share: 0.06 },
  { id: "wt_bench3_0123456789", share: 0.02 },
] as const;
export const start = Date.UTC(2026, 0, 1);
export const spacingMs = 997;

let state = 42;
export function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

/** Picks by weights, which add up to 1. */
function pick<T>(choices: readonly (readonly [T, number])[]): T {
  let left = random();
  for (const [value, weight] of choices) {
    left -= weight;
    if (left < 0) return value;
  }
  const [first] = choices;
  if (first === undefined) throw new Error("nothing to pick from");
  return first[0];
}

const syllables = "ba co di fu ge ha ki lo mu ne po ra si to vu wa xe yo zi qua".split(" ");
const vocabulary = Array.from({ length: 8_000 }, (_, i) =>
  [i % 20, Math.floor(i / 20) % 20, Math.floor(i / 400) % 20].map((place) => syllables[place] ?? "").join(""),
);

/** The chance of each word to appear in a conversation, independent of the number of messages. */
const marks: readonly (readonly [words: string, chance: number])[] = [
  ["verycommonword", 0.22],
  ["commonword", 0.06],
  ["otherword", 0.06],
  ["middleword", 0.024],
  ["tailword", 0.002],
  ["rareword", 0.00004],
  ["exact phrase", 0.002],
  ["phrase exact", 0.002],
];

export interface BenchConversation extends ConversationSeed {
  readonly id: string;
  readonly messages: readonly string[];
}

export interface Size {
  readonly conversations: number;
  readonly messagesEach: number;
  readonly wordsEach: number;
}

export function conversationAt(place: number, { conversations, messagesEach, wordsEach }: Size): BenchConversation {
  const startedAt = start + place * spacingMs;
  const texts = Array.from({ length: messagesEach }, () => {
    let text = "";
    // Zipf: the n-th word is about 1/n as frequent as the first.
    for (let i = 0; i < wordsEach; i += 1)
      text += `${vocabulary[Math.floor(vocabulary.length ** random()) - 1] ?? ""} `;
    return text;
  });
  for (const [words, chance] of marks) {
    if (random() >= chance) continue;
    const message = Math.floor(random() * messagesEach);
    texts[message] = `${texts[message] ?? ""}${words} `;
  }
  return {
    id: newId("conv", startedAt),
    workspaceId: pick(workspaces.map(({ id, share }) => [id, share])),
    startedAt,
    channel: pick([
      ["widget", 0.3],
      ["email", 0.22],
      ["whatsapp", 0.15],
      ["telegram", 0.08],
      ["slack", 0.06],
      ["sms", 0.05],
      ["hosted", 0.04],
      ["api", 0.04],
      ["discord", 0.03],
      ["voice", 0.02],
      ["intercom", 0.01],
    ]),
    status: pick([
      ["archived", 0.7],
      ["resolved", 0.17],
      ["open", 0.08],
      ["claimed", 0.02],
      ["escalated", 0.02],
      ["snoozed", 0.01],
    ]),
    slaState: pick([
      ["in_compliance", 0.96],
      ["at_risk", 0.03],
      ["breached", 0.01],
    ]),
    tags: [
      place % 2 === 0 ? "even" : "odd",
      ...(random() < 0.18 ? ["billing"] : []),
      ...(random() < 0.18 ? ["shipping"] : []),
      ...(random() < 0.0002 ? ["rare-tag"] : []),
    ],
    email: `customer${Math.floor(random() * (conversations / 4))}@example.com`,
    messages: texts,
  };
}

const tokens = new Map<string, string>();

/** The same as `documentOf`, with each word normalised once: ten million messages share a few words. */
export function bodyOf({ workspaceId, messages }: BenchConversation): string {
  const parts = messages.map((message) => {
    let text = "";
    for (const word of message.split(" ")) {
      if (word === "") continue;
      const key = `${workspaceId}${word}`;
      let token = tokens.get(key);
      if (token === undefined) tokens.set(key, (token = documentOf(workspaceId, [word]).trim()));
      text += text === "" ? token : ` ${token}`;
    }
    return text;
  });
  return ` ${parts.filter((part) => part !== "").join(" _ ")} `;
}

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** Ids in the order of the messages, made faster than by `newId`: ten million are needed. */
export function messageId(conversationId: string, seq: number): string {
  return `msg_${conversationId.slice(5, 29)}${digits[Math.floor(seq / 32) % 32] ?? ""}${digits[seq % 32] ?? ""}`;
}
